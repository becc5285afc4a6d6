"""delivery.guarantee: what a job that asks for less than exactly-once gets, and that it gets no less than that."""

import json
import unittest

from sluice_it import oracle, produce
from sluice_it.case import MysqlCase, PostgresCase, orders_table, scale, servers
from sluice_it.process import FAILED, KILLED, USAGE, call

RECORDS = scale("SLUICE_IT_RECORDS", 8000)
UPSERT = {"insert.mode": "upsert", "pk.mode": "record_value", "pk.fields": ["id"]}


class Weaker:
    def setUp(self):
        super().setUp()
        self.create_topic()
        self.produce(RECORDS)

    def job(self, guarantee, sink=None, **changes):
        checkpoint = {"max.rows": RECORDS // 8, "directory": "state"}
        return self.write_job(sink or self.sink(), **{"delivery.guarantee": guarantee, "checkpoint": checkpoint, **changes})

    def die_at(self, job_file, fault):
        run = self.start("run", job_file, "--bounded", fault=fault)
        self.assertEqual(run.wait(), KILLED, run.output()[-3000:])

    def audit(self):
        return oracle.Audit(list(oracle.topic_rows(self.kafka, self.topic)), self.rows())

    def group_positions(self, job_file):
        status = json.loads(self.call("status", job_file, "--json"))
        return {split["partition"]: split.get("next_offset") for split in status["splits"]}

    def test_at_least_once_repeats_and_never_loses(self):
        self.new_table()
        job_file = self.job("at-least-once")
        self.die_at(job_file, "task.before_source_commit:kill@2")
        self.run_bounded(job_file)
        audit = self.audit()
        self.assertEqual(audit.lost, [], audit)
        self.assertGreaterEqual(len(audit.duplicated), RECORDS // 8, "the rows behind the commit come again")
        self.assertEqual(self.group_positions(job_file), self.end_offsets())

    def test_at_most_once_loses_and_never_repeats(self):
        self.new_table()
        job_file = self.job("at-most-once")
        self.die_at(job_file, "task.after_source_commit:kill@2")
        self.run_bounded(job_file)
        audit = self.audit()
        self.assertEqual(audit.duplicated, [], audit)
        self.assertEqual(len(audit.lost), RECORDS // 8, "the rows of one epoch: their positions were committed before them")

    def test_nothing_is_lost_or_repeated_without_a_crash(self):
        for guarantee in ("at-least-once", "at-most-once"):
            with self.subTest(guarantee=guarantee):
                self.new_table()
                job_file = self.job(guarantee, name=f"{self.name[:40]}-{guarantee}")
                self.run_bounded(job_file)
                self.assert_clean(self.audit())
                self.run_bounded(job_file)
                self.assert_clean(self.audit())

    def test_a_step_that_fails_within_the_process_loses_nothing(self):
        """Before the positions are given away an epoch can be replayed, under either guarantee."""
        for guarantee in ("at-least-once", "at-most-once"):
            for fault in ("sink.after_first_write:fail@2", "sink.after_begin:fail@3"):
                with self.subTest(guarantee=guarantee, fault=fault):
                    self.new_table()
                    name = f"{self.name[:30]}-{guarantee}-{fault.split(':')[0][-5:]}".replace("_", "-")
                    self.run_bounded(self.job(guarantee, name=name), fault=fault)
                    self.assert_clean(self.audit())

    def test_several_tasks_and_partitions_without_records(self):
        """A bounded run sees its end in the group's positions, of every partition."""
        self.kafka.admin.create_topic(self.topic + "-wide", 9)
        for partition in (0, 4, 8):
            produce.lines(self.kafka, self.topic + "-wide", partition, [produce.order(n) for n in range(partition, 3000, 9)])
        self.topic += "-wide"
        for guarantee in ("at-least-once", "at-most-once"):
            with self.subTest(guarantee=guarantee):
                self.new_table()
                self.run_bounded(self.job(guarantee, name=f"{self.name[:40]}-{guarantee}", parallelism=3))
                self.assert_clean(self.audit())

    def test_effectively_once_by_upsert(self):
        self.new_table(key=" primary key")
        job_file = self.job("at-least-once", self.sink(**UPSERT))
        self.die_at(job_file, "task.before_source_commit:kill@2")
        self.run_bounded(job_file)
        self.assert_clean(self.audit())
        page = self.call("check", job_file)
        self.assertIn("at-least-once", page)
        self.assertIn("effectively once", page)

    def test_the_database_holds_nothing_but_the_rows(self):
        self.new_table()
        self.run_bounded(self.job("at-least-once"))
        self.assertEqual([name for name in self.tables() if name.startswith("sluice")], [])

    def test_bad_records_are_put_aside_with_the_rows(self):
        self.new_table()
        self.produce_lines(["no JSON"], partition=3)
        self.run_bounded(self.job("at-least-once", errors={"tolerance": "all"}))
        self.assertEqual(self.sql("select error_class from sluice_dead_letters"), [("data",)])
        self.assertEqual(len(self.rows()), RECORDS)

    def test_bad_record_stops_the_job(self):
        """And none of its epoch's positions are given away before."""
        self.new_table()
        self.produce_lines(['{"id": "no number"}'], partition=3)
        for guarantee in ("at-least-once", "at-most-once"):
            with self.subTest(guarantee=guarantee):
                job_file = self.job(guarantee, name=f"{self.name[:40]}-{guarantee}")
                run = self.run_bounded(job_file, code=FAILED)
                self.assertIn(f"{self.topic}-3@{RECORDS // 4}", run.output())
                position = self.group_positions(job_file)[3]
                self.assertTrue(position is None or position <= RECORDS // 4, position)

    def test_positions_are_moved_where_they_are_kept(self):
        self.new_table()
        job_file = self.job("at-least-once")
        self.run_bounded(job_file)
        self.assertIn(str(RECORDS // 4), self.call("offsets", job_file))
        ended, out, said = call("offsets", job_file, "--reset", "earliest", cwd=self.folder)
        self.assertEqual(ended, USAGE, out + said)
        self.assertIn("kafka-consumer-groups", out + said)


class OnPostgres(Weaker, PostgresCase):
    def test_rule_that_is_checked_at_the_commit_costs_nothing(self):
        """At most once: the record is found before any position is given away."""
        self.sql("create table customers (id int primary key); insert into customers select generate_series(0, 100000)")
        self.sql(orders_table(key=""))
        self.sql(
            "alter table orders add foreign key (customer) references customers deferrable initially deferred"
        )
        self.produce_lines(['{"id": 1, "customer": 100001}'], partition=2)
        run = self.run_bounded(self.job("at-most-once"), code=FAILED)
        self.assertIn(f"{self.topic}-2@{RECORDS // 4}", run.output())
        self.assertNotIn("lost", run.output())

    def new_table(self, key=""):
        self.sql("drop table if exists orders; " + orders_table(key=key))

    def rows(self):
        return oracle.postgres_rows(self.server, self.database)

    def tables(self):
        return [name for (name,) in self.sql("select tablename from pg_tables where schemaname = 'public'")]


class OnMysql(Weaker, MysqlCase):
    find_server = staticmethod(lambda: servers.mysql)

    def new_table(self, key=""):
        self.sql("drop table if exists orders")
        self.create_orders(key=key)

    def rows(self):
        return self.server.rows("orders", oracle.COLUMNS, self.database)

    def tables(self):
        return [name for (name,) in self.sql("show tables")]


class OnMariadb(OnMysql):
    find_server = staticmethod(lambda: servers.mariadb)


if __name__ == "__main__":
    unittest.main()
