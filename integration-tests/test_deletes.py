"""Keys that come from the record's key, and records without a value that delete the row of their key."""

import json
import unittest

from sluice_it import job, oracle, produce
from sluice_it.case import Case, MysqlCase, PostgresCase, SqliteCase, orders_table, scale, servers
from sluice_it.process import DONE

RECORDS = scale("SLUICE_IT_RECORDS", 20000)
KILLS = scale("SLUICE_IT_KILLS", 6)
KEYS = 397  # no multiple of 5, so that each key is written and deleted by turns
DELETES = {
    "insert.mode": "upsert",
    "pk.mode": "record_key",
    "pk.fields": ["id"],
    "delete.enabled": True,
}


class Deletes:
    """Mixed into a case of a database."""

    def setUp(self):
        super().setUp()
        self.create_topic()
        self.new_table()

    def job(self, name=None, key_format="json", **sink):
        changes = {"source": {"key.format": key_format}, "checkpoint": {"max.rows": RECORDS // 8, "directory": "state"}}
        return self.write_job(self.sink(**{**DELETES, **sink}), **({"name": name} if name else {}), **changes)

    def produce_changes(self, count):
        """Keys come again and again, each in its partition; one record in five deletes. What must be left in the end."""
        left = {}
        partitions = [[] for _ in range(4)]
        for number in range(count):
            key = number * 7919 % KEYS
            deletes = number % 5 == 0
            value = "" if deletes else json.dumps({**json.loads(produce.order(number)), "id": -1})
            partitions[key % 4].append(f'{{"id":{key}}}|{value}')
            if deletes:
                left.pop(key, None)
            else:
                left[key] = oracle.row_of(produce.order(number, key))
        for partition, lines in enumerate(partitions):
            produce.lines(self.kafka, self.topic, partition, lines, key_delimiter="|", tombstones=True)
        return list(left.values())

    def test_last_state_of_each_key_is_left(self):
        expected = self.produce_changes(RECORDS)
        self.assertGreater(len(expected), KEYS // 4)
        self.run_bounded(self.job())
        self.assert_clean(oracle.Audit(expected, self.stored()))

    def test_under_kills(self):
        for protocol in self.protocols:
            with self.subTest(protocol=protocol):
                self.topic = f"{self.name[:50]}-{protocol}"
                self.create_topic()
                self.empty_table()
                expected = self.produce_changes(RECORDS)
                job_file = self.job(name=self.topic[:64], **{"commit.protocol": protocol})
                self.kill_at_random(job_file, KILLS)
                self.run_bounded(job_file)
                self.assert_clean(oracle.Audit(expected, self.stored()))


class OnPostgres(Deletes, PostgresCase):
    protocols = ("ledger", "prepared", "wal")

    def new_table(self):
        self.sql(orders_table())

    def empty_table(self):
        self.sql("truncate orders")

    def stored(self):
        return oracle.postgres_rows(self.server, self.database)

    def test_key_of_text(self):
        self.sql("create table named (name text primary key, note text)")
        lines = ['a|{"note":"first"}', 'b|{"note":"second"}', "a|"]
        produce.lines(self.kafka, self.topic, 0, lines, key_delimiter="|", tombstones=True)
        sink = {"table.name.format": "named", "pk.fields": ["name"]}
        self.run_bounded(self.job(key_format="string", **sink))
        self.assertEqual(self.sql("select name, note from named"), [("b", "second")])

    def test_key_that_is_no_object_stands_for_its_only_field(self):
        produce.lines(self.kafka, self.topic, 0, [f"5|{produce.order(1)}", f"6|{produce.order(2)}", "5|"], key_delimiter="|", tombstones=True)
        self.run_bounded(self.job())
        self.assertEqual(self.sql("select id from orders"), [("6",)])

    def test_tombstone_where_nothing_may_be_deleted(self):
        """It stops the job, or is set aside, as any record that cannot be written."""
        produce.lines(self.kafka, self.topic, 0, [f'{{"id":1}}|{produce.order(1)}', '{"id":1}|'], key_delimiter="|", tombstones=True)
        sink = {"delete.enabled": False}
        said = self.run_bounded(self.job(**sink), code=1).output()
        self.assertIn(f"{self.topic}-0@1", said)
        self.assertIn("delete.enabled", said)

    def test_key_without_its_field_deletes_nothing(self):
        lines = [f'{{"id":1}}|{produce.order(1)}', '{"other":1}|', "|"]
        produce.lines(self.kafka, self.topic, 0, lines, key_delimiter="|", tombstones=True)
        text = json.loads(self.job().read_text())
        text["errors"] = {"tolerance": "all"}
        self.run_bounded(job.write(text, self.folder / "job.json"))
        self.assertEqual(self.count(), 1)
        self.assertEqual(self.sql("select record_offset from sluice_dead_letters order by 1"), [("1",), ("2",)])

    def test_check_shows_where_the_key_comes_from(self):
        page = self.call("check", self.job(), code=DONE)
        self.assertIn("@key.id", page)
        self.assertIn("@key.id", self.call("check", self.job(columns=[{"name": "id"}, {"name": "note"}])))
        said = self.call("check", self.job(columns=[{"name": "id", "from": "@offset"}, {"name": "note"}]), code=4)
        self.assertIn("does not come from the record's key", said)


class SeveralSinks(PostgresCase):
    def test_key_that_is_no_object_is_the_field_of_each(self):
        self.create_topic()
        lines = [f"{n}|{produce.order(n)}" for n in range(10)] + ["3|", "4|"]
        produce.lines(self.kafka, self.topic, 0, lines, key_delimiter="|", tombstones=True)
        sinks = []
        for table in ("one", "two"):
            self.sql(f"create table {table} (id bigint primary key, customer int)")
            sinks.append({**self.sink(table, **DELETES), "name": table})
        text = job.kafka_job(self.name[:64], self.kafka, self.topic, None, source={"key.format": "json"})
        del text["sink"]
        self.run_bounded(job.write({**text, "sinks": sinks}, self.folder / "job.json"))
        for table in ("one", "two"):
            self.assertEqual(self.count(table), 8)
            self.assertEqual(self.sql(f"select count(*) from {table} where id in (3, 4)")[0][0], "0")


class OnMysql(Deletes, MysqlCase):
    protocols = ("ledger", "prepared")
    find_server = staticmethod(lambda: servers.mysql)

    def new_table(self):
        self.create_orders()

    def empty_table(self):
        self.sql("delete from orders")

    def stored(self):
        return self.server.rows("orders", oracle.COLUMNS, self.database)

    def test_keys_that_the_column_rounds_or_pads_are_found(self):
        """A decimal is compared digit by digit, not as a double; a time as it was rounded when it was written."""
        columns = {
            "decimal(30,2)": ["12345678901234567890123.456", "12345678901234567890124.00"],
            "datetime": ["2026-11-30T12:00:00.600Z", "2026-11-30T12:00:05Z"],
            "binary(4)": ["YWI=", "Y2Q="],
            "varchar(20)": ["it's", "other"],
        }
        for number, (column, (deleted, kept)) in enumerate(columns.items()):
            with self.subTest(column=column):
                self.topic = f"{self.name[:50]}-{number}"
                self.create_topic()
                table = f"t{number}"
                self.sql(f"create table {table} (id {column} primary key, note varchar(20))")
                lines = [f'{{"id":"{key}"}}|{{"note":"n"}}' for key in (deleted, kept)] + [f'{{"id":"{deleted}"}}|']
                produce.lines(self.kafka, self.topic, 0, lines, key_delimiter="|", tombstones=True)
                self.run_bounded(self.job(name=self.topic[:64], **{"table.name.format": table}))
                self.assertEqual(self.sql(f"select count(*) from {table}")[0][0], "1")


class OnMariadb(OnMysql):
    find_server = staticmethod(lambda: servers.mariadb)


class OnSqlite(Deletes, SqliteCase):
    protocols = ("ledger",)

    def new_table(self):
        self.execute("create table orders (id integer primary key, customer int, amount text, status text, note text, ts bigint)")

    def empty_table(self):
        self.execute("delete from orders")

    def stored(self):
        return oracle.sqlite_rows(self.database)


class Refusals(Case):
    def test_delete_without_a_key_to_find_the_row_by(self):
        sink = job.sqlite_sink(self.folder / "a.db", "orders", **{"delete.enabled": True})
        said = self.call("check", self.write_job(sink), code=2)
        self.assertIn("delete.enabled", said)
        self.assertIn("record_key", said)


if __name__ == "__main__":
    unittest.main()
