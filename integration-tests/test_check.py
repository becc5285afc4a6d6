"""`sluice check` on right and wrong jobs: what a person reads before the first run, or at night when something is wrong."""

import json
import unittest

from sluice_it import process, produce
from sluice_it.case import PostgresCase, SqliteCase, orders_table
from sluice_it.process import DONE, PROBLEM, USAGE

UPSERT = {"insert.mode": "upsert", "pk.mode": "record_value", "pk.fields": ["id"]}


class Check(PostgresCase):
    def setUp(self):
        super().setUp()
        self.create_topic()

    def test_a_right_job_is_one_page(self):
        self.sql(orders_table())
        page = self.call("check", self.write_job(self.sink()))
        lines = page.splitlines()
        self.assertIn("exactly-once", lines[0])
        self.assertLessEqual(len(lines), 30)
        for part in (
            "one transaction",
            f"topic {self.topic}: 4 partitions",
            "PostgreSQL",
            "amount",
            "numeric",
            "10 digits before the point, rounded to 2",
            "whole number of 64 bits, not null",
        ):
            self.assertIn(part, page)
        self.assertNotIn("PROBLEM", page)
        self.assertNotIn("not-a-real-secret", page)
        self.assertFalse(self.ledger_exists(), "check changed the database")

    def test_as_json(self):
        self.sql(orders_table())
        told = json.loads(self.call("check", self.write_job(self.sink(**UPSERT)), "--json"))
        self.assertEqual(told["guarantee"], "exactly-once")
        table = told["tables"][0]
        self.assertEqual((table["topic"], table["table"], table["insert_mode"]), (self.topic, "orders", "upsert"))
        self.assertEqual([column["key"] for column in table["columns"]], [True] + [False] * 5)

    def test_upsert_without_unique_index(self):
        self.sql(orders_table(key=""))
        self.finding("problem", "unique", "CREATE UNIQUE INDEX", job_file=self.write_job(self.sink(**UPSERT)))

    def test_foreign_key_and_trigger(self):
        self.sql("create table customers (id int primary key)")
        self.sql(orders_table().replace("customer int", "customer int references customers"))
        self.sql("create function nothing() returns trigger language plpgsql as $$ begin return new; end $$")
        self.sql("create trigger noisy before insert on orders for each row execute function nothing()")
        self.finding("note", "foreign key orders_customer_fkey")
        self.finding("note", "trigger noisy")

    def test_unlogged_table(self):
        self.sql(orders_table().replace("create table", "create unlogged table"))
        self.finding("problem", "UNLOGGED", "SET LOGGED")

    def test_synchronous_commit_off(self):
        self.sql(orders_table())
        self.sql(f'alter database "{self.database}" set synchronous_commit = off')
        self.finding("warning", "synchronous_commit", "set synchronous_commit = on")

    def test_published_without_replica_identity(self):
        self.sql(orders_table(key=""))
        self.sql("create unique index on orders (id)")
        self.sql("create publication everything for table orders")
        self.finding("problem", "replica identity", "REPLICA IDENTITY", job_file=self.write_job(self.sink(**UPSERT)))

    def test_missing_rights(self):
        self.sql(orders_table())
        self.sql("create role clerk login")
        url = self.server.url(self.database, user="clerk")
        self.addCleanup(self.sql, "drop owned by clerk; drop role clerk")
        job_file = self.write_job(self.sink(**{"connection.url": url}))
        self.finding("problem", "recovery tables", "CREATE ON SCHEMA", job_file=job_file)
        self.finding("problem", "may not INSERT", "GRANT", job_file=job_file)
        self.sql("grant select, insert on orders to clerk")
        weaker = {"connection.url": url, "commit.protocol": "none"}
        self.call("check", self.write_job(self.sink(**weaker), **{"delivery.guarantee": "at-least-once"}))
        job_file = self.write_job(self.sink(**{"connection.url": url}))
        self.finding("problem", "recovery tables", job_file=job_file)
        self.sql("grant create on schema public to clerk")
        self.call("check", job_file)
        self.call("migrate", self.write_job(self.sink()))
        self.sql("grant select on sluice_ledger to clerk")
        job_file = self.write_job(self.sink(**{"connection.url": url}))
        self.finding("problem", "GRANT INSERT, UPDATE ON sluice_ledger TO clerk", job_file=job_file)
        upsert = self.write_job(self.sink(**{"connection.url": url, **UPSERT}))
        self.finding("problem", "may not UPDATE", job_file=upsert)

    def test_row_level_security(self):
        self.sql(orders_table())
        self.sql("alter table orders enable row level security; create role clerk2 login")
        self.addCleanup(self.sql, "drop owned by clerk2; drop role clerk2")
        self.sql("grant create on schema public to clerk2; grant select, insert on orders to clerk2")
        url = self.server.url(self.database, user="clerk2")
        self.finding("problem", "row-level security", job_file=self.write_job(self.sink(**{"connection.url": url})))

    def test_more_tasks_than_partitions(self):
        self.sql(orders_table())
        self.finding("note", "parallelism 7", "4 splits", job_file=self.write_job(self.sink(), parallelism=7))

    def test_poll_interval_shorter_than_the_session(self):
        self.sql(orders_table())
        job_file = self.write_job(
            self.sink(), source={"properties": {"session.timeout.ms": "30000", "max.poll.interval.ms": "20000"}}
        )
        self.finding("problem", "max.poll.interval.ms", job_file=job_file)

    def test_lag_that_retention_is_about_to_take(self):
        self.sql(orders_table())
        job_file = self.write_job(self.sink())
        produce.lines(self.kafka, self.topic, 0, [produce.order(n) for n in range(100)])
        self.run_bounded(job_file)
        produce.lines(self.kafka, self.topic, 0, [produce.order(n) for n in range(100, 400)])
        self.kafka.admin.delete_records(self.topic, 0, 95)
        self.finding("warning", f"{self.topic}-0 is at 100", "retention", job_file=job_file)
        self.kafka.admin.delete_records(self.topic, 0, 150)
        self.finding("problem", "records 100 to 149", "sluice offsets", job_file=job_file)

    def test_missing_topic_table_and_server(self):
        self.finding("problem", "does not exist", "auto.create", job_file=self.write_job(self.sink(**{"auto.create": False})))
        self.sql(orders_table())
        self.topic += "-missing"
        self.finding("problem", self.topic, "does not exist")
        sink = {**self.sink(), "connection.url": "postgresql://app:not-a-real-secret@127.0.0.1:9/nowhere"}
        said = self.call("check", self.write_job(sink), code=PROBLEM)
        self.assertIn("127.0.0.1", said)
        self.assertNotIn("not-a-real-secret", said)

    def test_says_what_becomes_of_bad_records(self):
        self.sql(orders_table())
        for errors, said in (
            ({}, "stops the job"),
            ({"tolerance": "all"}, "sluice_dead_letters, in the transaction of the rows"),
            ({"tolerance": "all", "deadletter": "topic:bad"}, "at least once"),
            ({"tolerance": "all", "deadletter": "none"}, "DROPPED"),
        ):
            self.assertIn(said, self.call("check", self.write_job(self.sink(), errors=errors)))

    def test_directory_in_memory(self):
        for protocol, code in (("prepared", PROBLEM), ("wal", DONE)):
            job_file = self.write_job(self.sink(**{"commit.protocol": protocol}), checkpoint={"directory": "/dev/shm/sluice"})
            page = self.call("check", job_file, code=code)
            self.assertIn("is in memory", page)
            self.assertIn("checkpoint.directory", page)

    def test_each_protocol_says_what_it_does(self):
        for protocol, text in (("wal", "commit.protocol wal"), ("prepared", "commit.protocol prepared")):
            sink = self.sink(**{"commit.protocol": protocol})
            page = self.call("check", self.write_job(sink, checkpoint={"directory": "/var/tmp"}))
            self.assertIn(text, page)
            self.assertIn("exactly-once", page)

    def test_wrong_job_file(self):
        path = self.folder / "wrong.json"
        path.write_text('{"name": "x", "sourc": {}}', encoding="utf-8")
        code, _, said = process.call("check", path, cwd=self.folder)
        self.assertEqual(code, USAGE)
        self.assertIn("source", said)


class CheckOfSqlite(SqliteCase):
    def test_a_right_job(self):
        self.create_topic()
        self.execute("create table orders (id integer primary key, note text)")
        page = self.call("check", self.write_job(self.sink()))
        self.assertIn("exactly-once", page)
        self.assertIn("note", page)

    def test_a_file_that_is_not_there_yet_is_not_made(self):
        self.create_topic()
        job_file = self.write_job(self.sink())
        self.assertIn("will be created", self.call("check", job_file))
        self.assertIn("sluice_ledger", self.call("migrate", job_file, "--print"))
        self.assertFalse(self.database.exists())


if __name__ == "__main__":
    unittest.main()
