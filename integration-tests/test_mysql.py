"""The same promises with MySQL and MariaDB as the target, on the real servers."""

import json
import unittest
from pathlib import Path

from sluice_it import job, oracle
from sluice_it.case import MysqlCase, scale, servers
from sluice_it.process import FAILED

RECORDS = scale("SLUICE_IT_RECORDS", 60000)
KILLS = scale("SLUICE_IT_KILLS", 6)
RESTARTS = scale("SLUICE_IT_RESTARTS", 2)  # of a server under a job
RECOVERY_TABLES = (
    "sluice_ledger, sluice_dead_letters, sluice_tables, sluice_epochs, sluice_checkpoints, sluice_migrations"
)
UPSERT = {"insert.mode": "upsert", "pk.mode": "record_value", "pk.fields": ["id"]}


class OnBoth:
    """Each test runs on either server."""

    def setUp(self):
        super().setUp()
        self.create_topic()

    def test_insert(self):
        self.create_orders()
        self.produce(RECORDS)
        self.run_bounded(self.write_job(self.sink()), seconds=300)
        self.assertEqual(self.audit_orders(), RECORDS)
        self.assertEqual(self.positions(), {partition: RECORDS // 4 for partition in range(4)})

    def test_insert_without_load_data(self):
        self.create_orders(key="")
        self.produce(RECORDS)
        self.run_bounded(self.write_job(self.sink(options="?local-infile=0")), seconds=300)
        self.assertEqual(self.audit_orders(), RECORDS)

    def test_insert_where_the_server_forbids_load_data(self):
        self.sql("set global local_infile = 0")
        self.addCleanup(self.sql, "set global local_infile = 1")
        self.create_orders()
        self.produce(5000)
        self.run_bounded(self.write_job(self.sink()))
        self.assertEqual(self.audit_orders(), 5000)

    def test_upsert_keeps_the_last_of_repeated_keys(self):
        self.create_orders()
        self.produce(20000, keys=400)
        self.run_bounded(self.write_job(self.sink(**UPSERT)))
        expected = oracle.last_per_key(oracle.topic_rows(self.kafka, self.topic))
        self.assertEqual(len(expected), 400)
        self.assert_clean(oracle.Audit(expected, self.server.rows("orders", oracle.COLUMNS, self.database)))

    def test_created_table(self):
        self.produce(5000)
        self.run_bounded(self.write_job(self.sink(**{"auto.create": True})))
        self.assertEqual(self.audit_orders(), 5000)

    def test_killed_at_random_moments(self):
        for key, mode in (("", {}), (" primary key", UPSERT)):
            with self.subTest(mode=mode):
                self.sql(f"drop table if exists orders, {RECOVERY_TABLES}")
                self.topic = f"{self.name}{'-upsert' if mode else '-insert'}"
                self.create_topic()
                self.create_orders(key=key)
                self.produce(RECORDS)
                job_file = self.write_job(self.sink(**mode))
                self.kill_at_random(job_file, KILLS)
                self.run_bounded(job_file, seconds=300)
                self.assertEqual(self.audit_orders(), RECORDS)

    def test_database_killed_while_it_runs(self):
        self.goes_on_by_itself("ledger", self.kill_database)

    def test_database_killed_while_it_runs_prepared(self):
        self.goes_on_by_itself("prepared", self.kill_database)

    def test_database_killed_while_it_runs_wal(self):
        self.goes_on_by_itself("wal", self.kill_database)

    def test_broker_killed_while_it_runs(self):
        self.goes_on_by_itself("ledger", self.kill_broker)

    def test_broker_killed_while_it_runs_prepared_and_wal(self):
        for protocol in ("prepared", "wal"):
            with self.subTest(protocol=protocol):
                self.sql(f"drop table if exists orders, {RECOVERY_TABLES}")
                self.topic = f"{self.name[:40]}-{protocol}"
                self.create_topic()
                self.goes_on_by_itself(protocol, self.kill_broker)

    def goes_on_by_itself(self, protocol, hurt):
        """Nobody touches the process while its server is killed and started again under its hands."""
        self.create_orders(key="")
        job_file = self.write_job(self.sink(**{"commit.protocol": protocol}), name=f"{self.topic[:58]}-{protocol[0]}")
        run = self.start("run", job_file)
        for round_ in range(RESTARTS):
            self.produce(RECORDS // RESTARTS, first=round_ * (RECORDS // RESTARTS))
            wanted = round_ * (RECORDS // RESTARTS)
            self.wait_until(lambda: self.committed() > wanted, "something of it to be in")
            hurt()
        self.wait_until(lambda: self.positions() == self.end_offsets(), "the ledger to say the ends", 180)
        self.assertEqual(run.terminate(), 0, run.output()[-3000:])
        self.audit_orders()

    def kill_database(self):
        self.server.stop_immediately()
        self.server.start()

    def kill_broker(self):
        self.kafka.kill()
        self.kafka.start()

    def test_row_of_another_key_stays_as_it_is(self):
        """ON DUPLICATE KEY UPDATE would take any unique index for the key."""
        self.sql("create table orders (id bigint primary key, customer int, status varchar(20), unique (customer))")
        self.sql("insert into orders values (1, 7, 'before')")
        self.produce_lines(
            ['{"id": 3, "customer": 8, "status": "new"}', '{"id": 2, "customer": 7, "status": "after"}'], partition=0
        )
        run = self.run_bounded(self.write_job(self.sink(**UPSERT)), code=FAILED)
        self.assertIn(f"{self.topic}-0@1", run.output())
        self.assertEqual(self.sql("select * from orders"), [("1", "7", "before")])

    def test_row_of_another_key_whatever_the_key(self):
        """An AUTO_INCREMENT column takes NULL, and stores 0."""
        keys = ["id bigint auto_increment primary key", "id bigint primary key", "id varchar(20) primary key"]
        keys += ["id decimal(40,0) primary key", "id bigint auto_increment, status varchar(20), primary key (id, status)"]
        self.produce_lines(
            [
                '{"id": 1, "customer": 7, "status": "before"}',
                '{"id": 3, "customer": 8, "status": "new"}',
                '{"id": 2, "customer": 7, "status": "before"}',
            ]
        )
        for number, key in enumerate(keys):
            with self.subTest(key):
                status = "" if "status" in key else "status varchar(20), "
                self.sql(f"drop table if exists orders; create table orders ({key}, {status}customer int, unique (customer))")
                sink = {**UPSERT, "pk.fields": ["id", "status"] if not status else ["id"]}
                job_file = self.write_job(self.sink(**sink), name=f"key-{number}", errors={"tolerance": "all"})
                said = self.run_bounded(job_file).output()
                self.assertIn(f"{self.topic}-0@2", said)
                self.assertIn("another key", said)
                rows = self.sql("select id, status, customer from orders order by id")
                self.assertEqual(rows, [("1", "before", "7"), ("3", "new", "8")])
        self.assertEqual(self.sql("select distinct error_class, record_offset from sluice_dead_letters"), [("constraint", "2")])

    def test_bad_records_are_put_aside(self):
        """LOAD DATA LOCAL would leave them out, or store something else, with a warning."""
        self.sql(
            "create table orders (id bigint primary key, customer int unsigned, amount decimal(12,2), "
            "status enum('new','paid'), note varchar(10), ts bigint, check (amount >= 0))"
        )
        good = ['{"id": %d, "customer": 1, "amount": 1.50, "status": "new", "note": "n", "ts": 1}' % n for n in range(50)]
        bad = [
            '{"id": 3, "customer": 1, "amount": 1, "status": "new", "note": "again", "ts": 1}',
            '{"id": 101, "customer": -1, "amount": 1, "status": "new", "note": "n", "ts": 1}',
            '{"id": 102, "customer": 1, "amount": 12345678901.00, "status": "new", "note": "n", "ts": 1}',
            '{"id": 103, "customer": 1, "amount": 1, "status": "2", "note": "n", "ts": 1}',
            '{"id": 104, "customer": 1, "amount": 1, "status": "new", "note": "eleven char", "ts": 1}',
            '{"id": 105, "customer": 1, "amount": -1, "status": "new", "note": "n", "ts": 1}',
        ]
        self.produce_lines([*good, *bad, *[line.replace('"id": ', '"id": 2000') for line in good]])
        self.run_bounded(self.write_job(self.sink(), errors={"tolerance": "all"}))
        self.assertEqual(self.sql("select count(*) from orders"), [("100",)])
        letters = self.sql("select record_offset, error_class from sluice_dead_letters order by record_offset")
        self.assertEqual(
            letters,
            [("50", "constraint"), ("51", "data"), ("52", "data"), ("53", "data"), ("54", "data"), ("55", "constraint")],
        )

    def test_types_of_their_own(self):
        """Each way in: what a server would take for something else is sent so that it cannot."""
        record = {"id": 0, "one": True, "flags": 5, "wide": 18446744073709551615, "tiny": -128, "kind": "it's", "some": "r,w"}
        shown = ("0", "1", "5", "18446744073709551615", "-128", "it's", "r,w")
        for number, options in enumerate(("", "?local-infile=0")):
            with self.subTest(options=options):
                self.topic = f"{self.name}-{number}"
                self.create_topic(1)
                self.sql(
                    f"create table types_{number} (id bigint auto_increment primary key, one bit(1), flags bit(8), "
                    "wide bigint unsigned, tiny tinyint, kind enum('a','it''s'), some set('r','w'))"
                )
                self.produce_lines([json.dumps(record)])
                sink = self.sink(f"types_{number}", options=options)
                self.run_bounded(self.write_job(sink, name=f"types-{number}-{self.server.scheme}"))
                found = self.sql(f"select id, one + 0, flags + 0, wide, tiny, kind, some from types_{number}")
                self.assertEqual(found, [shown])

    def test_engine_without_transactions_is_refused(self):
        self.sql("create table orders (id bigint) engine = MyISAM")
        run = self.run_bounded(self.write_job(self.sink()), code=FAILED)
        self.assertIn("ENGINE = InnoDB", run.output())

    def test_example_that_fails_on_purpose(self):
        example = Path(__file__).parent.parent / "examples" / "kafka-to-mysql"
        self.server.run_script(example / "t_test.sql", self.database)
        self.topic = f"{self.name}-numbers"
        self.create_topic(1)
        self.produce_lines((example / "numbers.txt").read_text().splitlines())
        options = {
            "name": self.name[:64],
            "source.bootstrap.servers": self.kafka.address,
            "source.topics": json.dumps([self.topic]),
            "sink.type": self.server.scheme,
            "sink.connection.url": self.server.url(self.database),
            "restart.delay": "100ms",
        }
        command = ["run", example / "job.json", "--bounded"]
        command += [word for key, value in options.items() for word in ("--set", f"{key}={value}")]
        values = "select value from t_test order by value"
        run = self.start(*command, env={"MYSQL_PWD": ""})
        self.assertEqual(run.wait(60), FAILED, run.output()[-3000:])
        self.assertEqual(run.output().count("will be replayed"), 3, run.output()[-3000:])
        self.assertEqual(self.sql(values), [(str(value),) for value in range(1, 15)])
        self.sql("drop trigger fails_on_purpose")
        run = self.start(*command, env={"MYSQL_PWD": ""})
        self.assertEqual(run.wait(60), 0, run.output()[-3000:])
        self.assertEqual(self.sql(values), [(str(value),) for value in range(1, 31)])

    def test_check(self):
        self.create_orders()
        told = self.call("check", self.write_job(self.sink()))
        self.assertIn("exactly-once", told)
        self.assertIn(self.product, told)

    def test_check_of_missing_rights(self):
        user = "clerk"
        self.create_orders()
        self.sql(f"drop user if exists {user}@'%'; create user {user}@'%'; grant select on orders to {user}@'%'")
        self.addCleanup(self.sql, f"drop user {user}@'%'")
        sink = {"connection.url": self.server.url(self.database, user=user)}
        insert = self.write_job(self.sink(**sink))
        self.finding("problem", "recovery tables", "GRANT CREATE", job_file=insert)
        self.finding("problem", "may not INSERT", "GRANT", job_file=insert)
        self.assertEqual(self.sql("show tables"), [("orders",)], "check changed the database")
        # Rights that come by a role are rights.
        self.sql(f"drop role if exists clerks; create role clerks; grant create on `{self.database}`.* to clerks")
        self.sql(f"grant insert on orders to clerks; grant clerks to {user}@'%'")
        self.addCleanup(self.sql, "drop role clerks")
        self.sql(f"set default role clerks {self.to_a_user} {user}@'%'")
        for table, rights in (("sluice_ledger", "SELECT, INSERT, UPDATE"), ("sluice_dead_letters", "DELETE")):
            self.sql(self.finding("problem", f"lacks {rights} on {table}", job_file=insert)["next_step"])
        self.call("check", insert)
        self.sql(f"revoke select, insert, update, delete on `{self.database}`.* from {user}@'%'")
        deleting = {**UPSERT, "pk.mode": "record_key", "delete.enabled": True}
        # Another file in place of the first.
        upsert = self.write_job(self.sink(**sink, **deleting), source={"key.format": "json"})
        self.finding("problem", "may not UPDATE", job_file=upsert)
        self.finding("problem", "may not DELETE", job_file=upsert)


class Mysql(OnBoth, MysqlCase):
    product = "MySQL 9"
    to_a_user = "to"
    find_server = staticmethod(lambda: servers.mysql)


class Mariadb(OnBoth, MysqlCase):
    product = "MariaDB 10"
    to_a_user = "for"
    find_server = staticmethod(lambda: servers.mariadb)


if __name__ == "__main__":
    unittest.main()
