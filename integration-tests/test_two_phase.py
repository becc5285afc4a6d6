"""commit.protocol prepared, and jobs with several sinks, on the real servers: what is decided is committed, what is not
is rolled back, and nothing that belongs to others is touched."""

import json
import shutil
import unittest

from sluice_it import job, oracle, produce
from sluice_it.case import Case, MysqlCase, PostgresCase, orders_table, scale, servers
from sluice_it.postgres import Postgres
from sluice_it.process import DONE, FAILED, FENCED, KILLED, call

RECORDS = scale("SLUICE_IT_RECORDS", 20000)
KILLS = scale("SLUICE_IT_KILLS", 6)
DECIDED = "store.after_publish:kill@2"  # the second epoch is prepared and in the checkpoint, and not committed
UNDECIDED = "sink.after_prepare:kill@2"


class OnePhaseMore:
    """On each database. A subclass knows how to prepare a transaction of somebody else and how to look."""

    store = {"directory": "state"}

    def setUp(self):
        super().setUp()
        self.create_topic()
        self.create_orders(key="")
        self.produce(RECORDS)
        sink = self.sink(**{"commit.protocol": "prepared"})
        self.job_file = self.write_job(sink, checkpoint={"max.rows": RECORDS // 8, **self.store})

    def die_at(self, fault):
        run = self.start("run", self.job_file, "--bounded", fault=fault)
        self.assertEqual(run.wait(), KILLED, run.output()[-3000:])
        return run

    def recover(self, *arguments, code=DONE):
        ended, out, said = call("recover", self.job_file, *arguments, cwd=self.folder)
        self.assertEqual(ended, code, out + said)
        self.assertNotIn("WARNING", said)
        return out if "--json" in arguments else out + said

    def left(self):
        """The job's prepared transactions: (name, decided)."""
        return [(one["transaction"], one["decided"]) for one in json.loads(self.recover("--json"))]

    def finish_and_audit(self):
        run = self.run_bounded(self.job_file)
        self.assertEqual(self.left(), [])
        self.assertEqual(self.audit_orders(), RECORDS)
        return run

    def test_decided_epoch_is_there_once(self):
        self.die_at(DECIDED)
        (transaction, decided), = self.left()
        self.assertTrue(decided)
        self.assertIn(transaction, self.recover("--list"))
        status = json.loads(self.call("status", self.job_file, "--json"))
        self.assertEqual([one["transaction"] for one in status["in_doubt"]], [transaction])
        self.assertGreater(self.settled_by_a_start(), 0, "what a checkpoint holds is shown before anything is read")
        self.finish_and_audit()

    def test_orphan_is_swept_by_the_next_start(self):
        self.die_at(UNDECIDED)
        (_, decided), = self.left()
        self.assertFalse(decided)
        self.assertEqual(self.settled_by_a_start(), 0)
        self.finish_and_audit()

    def settled_by_a_start(self):
        """How many rows a start shows that dies before it reads anything."""
        count = "select count(*) from orders"
        before = int(self.sql(count)[0][0])
        self.die_at("task.before_seek:kill@1")
        self.assertEqual(self.left(), [])
        return int(self.sql(count)[0][0]) - before

    def test_recover_does_not_break_what_a_checkpoint_says(self):
        self.die_at(DECIDED)
        (transaction, _), = self.left()
        self.assertIn("stays as it is", self.recover("--rollback", transaction, code=FAILED))
        self.recover("--commit", transaction)
        self.assertIn("before", self.recover("--commit", transaction))
        self.finish_and_audit()

    def test_recover_rolls_an_orphan_back(self):
        self.die_at(UNDECIDED)
        (transaction, _), = self.left()
        self.assertIn("stays as it is", self.recover("--commit", transaction, code=FAILED))
        self.recover("--rollback", transaction)
        self.finish_and_audit()

    def test_decided_transaction_that_was_rolled_back_by_hand(self):
        """It is noticed, and its records come back: the ledger was in it."""
        self.die_at(DECIDED)
        (transaction, _), = self.left()
        self.roll_back(transaction)
        run = self.finish_and_audit()
        self.assertIn("was rolled back by somebody", run.output())

    def test_database_killed_with_a_transaction_prepared(self):
        for fault in (DECIDED, UNDECIDED):
            with self.subTest(fault):
                self.die_at(fault)
                before = self.left()
                self.server.stop_immediately()
                self.server.start()
                self.assertEqual(self.left(), before, "what is prepared outlives its server")
                self.run_bounded(self.job_file)
                self.assertEqual(self.left(), [])
                self.assertEqual(self.audit_orders(), self.end_offset())
                self.produce(RECORDS, first=RECORDS)

    def end_offset(self):
        return sum(self.end_offsets().values())

    def test_foreign_transactions_are_not_touched(self):
        foreign = self.prepare_foreign()
        self.die_at(UNDECIDED)
        self.run_bounded(self.job_file)
        self.assertEqual(self.all_prepared(), foreign)
        self.forget_foreign(foreign)
        self.audit_orders()

    def test_killed_at_random_moments(self):
        self.kill_at_random(self.job_file, KILLS, longest=1.0)
        self.finish_and_audit()

    def test_second_process_fences_the_first(self):
        first = self.start("run", self.job_file)
        self.wait_until(lambda: self.committed() > 0, "the first to work")
        second = self.start("run", self.job_file)
        with_more = RECORDS
        self.wait_until(lambda: self.feed_until(lambda: not first.running()), "the first to be fenced", 60)
        self.assertEqual(first.wait(), FENCED, first.output()[-3000:])
        self.wait_until(lambda: self.positions() == self.end_offsets(), "the second to go on", 60)
        self.assertEqual(second.terminate(), DONE, second.output()[-3000:])
        self.assertGreater(self.audit_orders(), with_more)

    def feed_until(self, condition):
        self.fed = getattr(self, "fed", RECORDS)
        self.produce(100, first=self.fed)
        self.fed += 100
        return condition()

    def test_lost_checkpoint_directory(self):
        """Two generations on, the directory is gone, and with it the count: what is prepared seems to be newer."""
        self.run_bounded(self.write_job(self.sink(**{"commit.protocol": "prepared"}), checkpoint={"directory": "state"}))
        self.produce(1000, first=RECORDS)
        self.die_at("store.after_publish:kill@1")
        (transaction, _), = self.left()
        shutil.rmtree(self.folder / "state")
        run = self.start("run", self.job_file, "--bounded")
        self.assertEqual(run.wait(), FENCED, run.output()[-3000:])
        self.assertIn("checkpoint.directory", run.output())
        self.recover("--rollback", transaction)
        self.run_bounded(self.job_file)
        self.assertEqual(self.audit_orders(), RECORDS + 1000)


class OnPostgres(OnePhaseMore, PostgresCase):
    def roll_back(self, transaction):
        self.sql(f"rollback prepared '{transaction}'")

    def all_prepared(self):
        return self.sql("select gid from pg_prepared_xacts where database = current_database() order by 1")

    def prepare_foreign(self):
        self.sql("create table foreign_table (n int)")
        # The last one looks like ours, and is of a sink whose name begins like this one's.
        names = ["another application", f"sluice/{self.name}/postgres2/0/1/1", f"sluice/{self.name}/postgres/x"]
        for name in names:
            self.sql(f"begin; insert into foreign_table values (1); prepare transaction '{name}'")
        return sorted((name,) for name in names)

    def forget_foreign(self, names):
        for (name,) in names:
            self.roll_back(name)


class OnMysql(OnePhaseMore, MysqlCase):
    find_server = staticmethod(lambda: servers.mysql)

    def roll_back(self, transaction):
        gtrid, bqual = transaction.rsplit("/", 3)[0], "/".join(transaction.rsplit("/", 3)[1:])
        self.sql(f"xa rollback '{gtrid}','{bqual}'")

    def all_prepared(self):
        return sorted((row[3],) for row in self.sql("xa recover"))

    def prepare_foreign(self):
        self.sql("create table foreign_table (n int)")
        names = [f"another-{self.random.randrange(1 << 30)}", f"sluice/{self.random.randrange(1 << 30)}"]
        for name in names:
            self.sql(f"xa start '{name}'; insert into foreign_table values (1); xa end '{name}'; xa prepare '{name}'")
        return sorted((name,) for name in names)

    def forget_foreign(self, names):
        for (name,) in names:
            self.sql(f"xa rollback '{name}'")


class OnMariadb(OnMysql):
    find_server = staticmethod(lambda: servers.mariadb)


class InTable:
    """The checkpoints are in the database of the first sink: what is decided does not hang on the host's disk."""

    store = {"store": "table"}
    # What does not ask the store is tested above.
    test_foreign_transactions_are_not_touched = None
    test_recover_rolls_an_orphan_back = None
    test_lost_checkpoint_directory = None

    def test_goes_on_where_no_file_is_left(self):
        self.die_at(DECIDED)
        shutil.rmtree(self.folder / "state")
        self.assertGreater(self.settled_by_a_start(), 0, "what a checkpoint holds is shown before anything is read")
        shutil.rmtree(self.folder / "state")
        self.finish_and_audit()

    def test_check_names_the_table(self):
        page = self.call("check", self.job_file)
        self.assertIn("sluice_checkpoints", page)
        self.assertIn("exactly-once", page)
        self.assertNotIn("checkpoint directory", page)
        self.run_bounded(self.job_file)
        self.assertIn("checkpoints of 1 tasks", self.call("check", self.job_file))


class InTableOfPostgres(InTable, OnPostgres):
    pass


class InTableOfMysql(InTable, OnMysql):
    pass


class InTableOfMariadb(InTable, OnMariadb):
    pass


class Refusals(PostgresCase):
    def setUp(self):
        super().setUp()
        self.create_topic()

    def test_server_without_prepared_transactions(self):
        self.server = Postgres().start(max_prepared_transactions=0)  # its default
        self.addCleanup(self.server.stop)
        self.server.create_database(self.database)
        self.sql(orders_table())
        job_file = self.write_job(self.sink(**{"commit.protocol": "prepared"}))
        self.assertIn("max_prepared_transactions", self.call("check", job_file, code=4))
        run = self.run_bounded(job_file, code=FAILED)
        self.assertIn("max_prepared_transactions", run.output())


class RefusalsOfMysql(MysqlCase):
    find_server = staticmethod(lambda: servers.mysql)

    def test_user_who_may_not_list_what_is_prepared(self):
        self.create_topic()
        self.create_orders()
        self.sql(f"create user if not exists weak@'%' identified by ''; grant all on `{self.database}`.* to weak@'%'")
        sink = self.sink(**{"commit.protocol": "prepared"})
        sink["connection.url"] = sink["connection.url"].replace("root@", "weak@")
        self.assertIn("XA_RECOVER_ADMIN", self.call("check", self.write_job(sink), code=4))
        self.assertIn("XA_RECOVER_ADMIN", self.run_bounded(self.write_job(sink), code=FAILED).output())


class Several(Case):
    """One job into PostgreSQL, MySQL and MariaDB."""

    def setUp(self):
        super().setUp()
        self.create_topic()
        self.targets = [servers.postgres, servers.mysql, servers.mariadb]
        self.database = self.name[-60:]
        for server in self.targets:
            server.create_database(self.database)
        self.targets[0].sql(orders_table(key=""), self.database)
        for server in self.targets[1:]:
            server.sql(orders_table(key="").replace('"', "`").replace("status text", "status varchar(20)"), self.database)

    def write(self, protocol, checkpoint=None, errors=None, **changes):
        postgres = job.postgres_sink(self.targets[0], self.database)
        others = [job.mysql_sink(server, self.database) for server in self.targets[1:]]
        sinks = [
            {**sink, "name": name, "commit.protocol": protocol, **changes.get(name, {})}
            for sink, name in zip([postgres, *others], ("one", "two", "three"))
        ]
        checkpoint = {"max.rows": RECORDS // 8, **(checkpoint or {})}
        text = job.kafka_job(self.name[:64], self.kafka, self.topic, None, checkpoint=checkpoint)
        del text["sink"]
        if errors:
            text["errors"] = errors
        return job.write({**text, "sinks": sinks}, self.folder / "job.json")

    def rows(self):
        yield oracle.postgres_rows(self.targets[0], self.database)
        for server in self.targets[1:]:
            yield server.rows("orders", oracle.COLUMNS, self.database)

    def audit(self):
        expected = list(oracle.topic_rows(self.kafka, self.topic))
        for rows in self.rows():
            self.assert_clean(oracle.Audit(expected, rows))

    def ends_equal_under_kills(self, job_file):
        self.produce(RECORDS)
        self.kill_at_random(job_file, KILLS)
        self.run_bounded(job_file)
        self.audit()

    def test_ledger_under_kills(self):
        self.ends_equal_under_kills(self.write("ledger"))

    def test_wal_under_kills(self):
        self.ends_equal_under_kills(self.write("wal"))

    def test_prepared_under_kills(self):
        self.ends_equal_under_kills(self.write("prepared"))

    def test_prepared_with_checkpoints_in_a_table_under_kills(self):
        self.ends_equal_under_kills(self.write("prepared", checkpoint={"store": "table"}))

    def test_bad_records_under_kills(self):
        """A record that one sink cannot take is its letter and a row of the others; garbage is a letter of each."""
        self.targets[0].sql("alter table orders add check (id % 1000 <> 7)", self.database)
        self.targets[1].sql("alter table orders modify status varchar(3)", self.database)  # refused by length
        for protocol in ("ledger", "prepared", "wal"):
            with self.subTest(protocol=protocol):
                self.new_topic_and_tables(protocol)
                job_file = self.write(protocol, errors={"tolerance": "all"})
                text = json.loads(job_file.read_text())
                text["name"] = f"letters-{protocol}"
                job.write(text, job_file)
                expected = self.produce_some_bad()
                self.kill_at_random(job_file, KILLS)
                self.run_bounded(job_file)
                self.audit_with_letters(text["name"], expected)

    def new_topic_and_tables(self, protocol):
        self.topic = f"{self.name}-{protocol}"
        self.create_topic()
        for server in self.targets:
            server.sql("delete from orders", self.database)

    def produce_some_bad(self):
        """{sink: the partitions and offsets of its letters}"""
        letters = {"one": set(), "two": set(), "three": set()}
        partitions = 4
        for partition in range(partitions):
            lines = []
            for offset, number in enumerate(range(partition, RECORDS, partitions)):
                record = json.loads(produce.order(number))
                record["status"] = "odd" if number % 500 else "longer"
                lines.append("garbage" if number % 1000 == 3 else json.dumps(record))
                refused = {"one": number % 1000 == 7, "two": number % 500 == 0, "three": False}
                for sink, bad in refused.items():
                    if bad or number % 1000 == 3:
                        letters[sink].add((partition, offset))
            produce.lines(self.kafka, self.topic, partition, lines)
        return letters

    def audit_with_letters(self, name, expected):
        for (sink, letters), server, rows in zip(expected.items(), self.targets, self.rows()):
            partition = '"partition"' if server is self.targets[0] else "`partition`"
            found = server.sql(
                f"select {partition}, record_offset from sluice_dead_letters where job = '{name}' and sink = '{sink}'",
                self.database,
            )
            self.assertEqual(sorted((int(one), int(other)) for one, other in found), sorted(letters), f"letters of {sink}")
            good = [
                oracle.row_of(value)
                for partition, offset, value in oracle.topic_records(self.kafka, self.topic)
                if (partition, offset) not in letters
            ]
            self.assert_clean(oracle.Audit(good, rows))

    def test_killed_between_the_sinks(self):
        """One is ahead of the others by an epoch; it is not given those records again."""
        for protocol in ("ledger", "prepared"):
            with self.subTest(protocol=protocol):
                job_file = self.write(protocol)
                self.produce(2000, first=0 if protocol == "ledger" else 2000)
                run = self.start("run", job_file, "--bounded", fault="group.between_commits:kill@1")
                self.assertEqual(run.wait(), KILLED, run.output()[-3000:])
                counts = self.counts()
                self.assertGreater(counts[0], counts[1])
                if protocol == "prepared":
                    again = self.start("run", job_file, "--bounded", fault="task.before_seek:kill@1")
                    self.assertEqual(again.wait(), KILLED, again.output()[-3000:])
                    self.assertEqual(self.counts(), [counts[0]] * 3, "all show the epoch before anything is read")
                # The next epoch begins where the last sink is and ends behind the first one.
                self.produce(2000, first=4000 if protocol == "ledger" else 6000)
                text = json.loads(job_file.read_text())
                text["checkpoint"] = {"interval": "5s", "max.rows": 100000, "min.pause": "1s"}
                self.run_bounded(job.write(text, job_file))
                self.audit()

    def counts(self):
        return [len(list(rows)) for rows in self.rows()]

    def test_decided_transaction_of_one_sink_that_was_rolled_back_by_hand(self):
        """F20. The others have the epoch; the one that lost it is given its records again, and only that one."""
        job_file = self.write("prepared")
        self.produce(RECORDS)
        run = self.start("run", job_file, "--bounded", fault=DECIDED)
        self.assertEqual(run.wait(), KILLED, run.output()[-3000:])
        (name,) = self.targets[0].sql("select gid from pg_prepared_xacts where database = current_database()", self.database)
        self.targets[0].sql(f"rollback prepared '{name[0]}'", self.database)
        said = self.run_bounded(job_file).output()
        self.assertIn("was rolled back by somebody", said)
        self.audit()

    def test_one_sink_is_down(self):
        """The others wait for it: none runs away by more than an epoch."""
        job_file = self.write("ledger")
        self.produce(RECORDS)
        self.targets[2].stop()
        run = self.start("run", job_file)
        self.wait_until(lambda: "cannot start yet" in run.output() or "replayed" in run.output(), "a word of it")
        self.targets[2].start()
        self.wait_until(lambda: [len(list(rows)) for rows in self.rows()] == [RECORDS] * 3, "all to have all", 90)
        self.assertEqual(run.terminate(), DONE, run.output()[-3000:])
        self.audit()

    def test_topics_are_routed(self):
        other = f"{self.name}-other"
        self.kafka.admin.create_topic(other, 1)
        job_file = self.write("ledger", one={"topics": [self.topic]}, two={"topics": [other]}, three={})
        text = json.loads(job_file.read_text())
        text["source"]["topics"] = [self.topic, other]
        job.write(text, job_file)
        self.produce(300)
        self.topic, first = other, self.topic
        self.produce_lines([json.dumps({"id": 1000 + n, "customer": 1, "amount": 1.00}) for n in range(200)])
        self.topic = first
        self.run_bounded(job_file)
        self.assertEqual([len(list(rows)) for rows in self.rows()], [300, 200, 500])

    def test_check_and_status_name_every_sink(self):
        job_file = self.write("prepared")
        told = self.call("check", job_file)
        for word in ("exactly-once", "PostgreSQL", "MySQL 9", "MariaDB", "show every epoch or will"):
            self.assertIn(word, told)
        self.produce(100)
        self.run_bounded(job_file)
        self.assertEqual([one["sink"] for one in json.loads(self.call("status", job_file, "--json"))], ["one", "two", "three"])


if __name__ == "__main__":
    unittest.main()
