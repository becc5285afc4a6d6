"""Loads into PostgreSQL: every record once, every value exactly, and an honest refusal where that cannot be."""

import json
import unittest

from sluice_it import oracle, produce
from sluice_it.case import PostgresCase, orders_table, scale
from sluice_it.process import FAILED

RECORDS = scale("SLUICE_IT_RECORDS", 100000)


class Loads(PostgresCase):
    def setUp(self):
        super().setUp()
        self.create_topic()

    def test_insert(self):
        self.sql(orders_table())
        self.produce(RECORDS)
        self.run_bounded(self.write_job(self.sink()))
        self.assertEqual(self.audit_orders(), RECORDS)
        self.assertEqual(self.positions(), {partition: RECORDS // 4 for partition in range(4)})

    def test_insert_without_primary_key(self):
        self.sql(orders_table(key=""))
        self.produce(RECORDS)
        self.run_bounded(self.write_job(self.sink()))
        self.assertEqual(self.audit_orders(), RECORDS)

    def test_second_run_goes_on_where_the_first_ended(self):
        self.sql(orders_table(key=""))
        job_file = self.write_job(self.sink())
        self.produce(10000)
        self.run_bounded(job_file)
        self.produce(7000, first=10000)
        self.run_bounded(job_file)
        self.run_bounded(job_file)
        self.assertEqual(self.audit_orders(), 17000)

    def test_upsert_keeps_the_last_of_repeated_keys(self):
        """F1, F3: many records of one key in one batch, without any second switch."""
        self.sql(orders_table())
        self.produce(20000, keys=400)
        sink = self.sink(**{"insert.mode": "upsert", "pk.mode": "record_value", "pk.fields": ["id"]})
        self.run_bounded(self.write_job(sink))
        expected = oracle.last_per_key(oracle.topic_rows(self.kafka, self.topic))
        self.assertEqual(len(expected), 400)
        self.assert_clean(oracle.Audit(expected, oracle.postgres_rows(self.server, self.database)))

    def test_upsert_of_keys_that_are_new_at_first_and_known_later(self):
        """Statements for mostly new and for mostly known rows take turns; neither may fail or miss a row."""
        self.sql(orders_table())
        self.sql("insert into orders select n, 0, 0, 'before', '', 0 from generate_series(0, 59999, 3) n")
        self.produce(180000, keys=60000)
        sink = self.sink(**{"insert.mode": "upsert", "pk.mode": "record_value", "pk.fields": ["id"]})
        run = self.run_bounded(self.write_job(sink))
        self.assertNotIn("at fault", run.output())
        expected = oracle.last_per_key(oracle.topic_rows(self.kafka, self.topic))
        self.assertEqual(len(expected), 60000)
        self.assert_clean(oracle.Audit(expected, oracle.postgres_rows(self.server, self.database)))

    def test_tasks_that_upsert_the_same_keys_in_opposite_order(self):
        """F69: they lock each other's rows; the server ends one transaction, and its epoch is replayed."""
        self.sql(orders_table())
        for partition in range(2):
            numbers = range(40000) if partition == 0 else range(39999, -1, -1)
            produce.lines(self.kafka, self.topic, partition, [produce.order(n) for n in numbers])
        sink = self.sink(**{"insert.mode": "upsert", "pk.mode": "record_value", "pk.fields": ["id"]})
        self.run_bounded(self.write_job(sink, parallelism=2))
        expected = {row[0]: row for row in oracle.topic_rows(self.kafka, self.topic)}
        self.assert_clean(oracle.Audit(expected.values(), oracle.postgres_rows(self.server, self.database)))

    def test_topic_with_dots(self):
        """F100: a name with dots is a name, unless there is such a schema and table."""
        self.topic += ".orders.v1"
        self.create_topic()
        self.produce(1000)
        self.run_bounded(self.write_job(self.sink("${topic}")))
        self.assertEqual(self.audit_orders(self.topic), 1000)

    def test_upsert_of_distinct_keys(self):
        self.sql(orders_table())
        self.produce(RECORDS)
        sink = self.sink(**{"insert.mode": "upsert", "pk.mode": "record_value", "pk.fields": ["id"]})
        self.run_bounded(self.write_job(sink))
        self.assertEqual(self.audit_orders(), RECORDS)

    def test_primary_key_from_kafka(self):
        self.sql(
            'create table orders ("__connect_topic" text, "__connect_partition" int, "__connect_offset" bigint, '
            'id bigint, note text, primary key ("__connect_topic", "__connect_partition", "__connect_offset"))'
        )
        self.produce(RECORDS)
        self.run_bounded(self.write_job(self.sink(**{"pk.mode": "kafka", "insert.mode": "upsert"})))
        expected = [
            (self.topic, str(partition), str(offset), str(json.loads(value)["id"]))
            for partition, offset, value in oracle.topic_records(self.kafka, self.topic)
        ]
        columns = ("__connect_topic", "__connect_partition", "__connect_offset", "id")
        found = oracle.postgres_rows(self.server, self.database, columns=columns)
        self.assert_clean(oracle.Audit(expected, found, key=3))

    def test_created_table_takes_its_columns_from_the_records(self):
        """F107: plain JSON without any schema."""
        self.produce(5000)
        self.run_bounded(self.write_job(self.sink(**{"auto.create": True})))
        self.assertEqual(self.audit_orders(), 5000)

    def test_created_table_with_mapped_columns(self):
        records = [
            f'k{n}|{{"id":{n},"customer":{{"name":"name {n}","address":{{"zip":"{n:05}"}}}}}}' for n in range(1000)
        ]
        produce.lines(self.kafka, self.topic, 2, records, key_delimiter="|")
        columns = [
            {"name": "id", "type": "BIGINT", "from": "id"},
            {"name": "zip", "type": "TEXT", "from": "customer.address.zip"},
            {"name": "missing", "type": "TEXT", "from": "customer.phone.mobile"},
            {"name": "topic", "type": "TEXT", "from": "@topic"},
            {"name": "part", "type": "INT", "from": "@partition"},
            {"name": "place", "type": "BIGINT", "from": "@offset"},
            {"name": "at", "type": "TIMESTAMPTZ", "from": "@timestamp"},
            {"name": "key", "type": "TEXT", "from": "@key"},
        ]
        self.run_bounded(self.write_job(self.sink(**{"auto.create": True, "columns": columns})))
        found = self.sql(
            "select id, zip, missing, topic, part, place, key, at > now() - interval '1 hour' and at < now() "
            "from orders order by id"
        )
        expected = [(str(n), f"{n:05}", None, self.topic, "2", str(n), f"k{n}", "t") for n in range(1000)]
        self.assertEqual(found, expected)


class Values(PostgresCase):
    def load(self, records, partitions=1, **sink):
        self.create_topic(partitions)
        produce.lines(self.kafka, self.topic, 0, records)
        self.run_bounded(self.write_job(self.sink(**sink)))

    def test_upper_case_names(self):
        """F101: one quoting policy for topic, table and columns."""
        self.topic = "Orders" + self.name.title().replace("-", "")
        self.sql(f'create table "{self.topic}" ("Id" bigint primary key, "CustomerName" text, "select" text)')
        records = [json.dumps({"Id": n, "CustomerName": f"n{n}", "select": "s"}) for n in range(100)]
        self.load(
            records,
            **{
                "table.name.format": "${topic}",
                "insert.mode": "upsert",
                "pk.mode": "record_value",
                "pk.fields": ["Id"],
            },
        )
        self.assertEqual(
            self.sql(f'select count(*), min("CustomerName"), max("select") from "{self.topic}"'), [("100", "n0", "s")]
        )

    def test_forty_columns_upsert(self):
        """F77: 80,000 parameters in one batch, more than one statement can bind."""
        names = [f"c{index}" for index in range(40)]
        self.sql(f"create table orders ({', '.join(name + ' int' for name in names)}, primary key (c0))")
        records = [json.dumps({name: n * 40 + index for index, name in enumerate(names)}) for n in range(2000)]
        self.load(records, **{"insert.mode": "upsert", "pk.mode": "record_value", "pk.fields": ["c0"]})
        self.assertEqual(
            self.sql("select count(*), sum(c0::bigint), sum(c39::bigint) from orders"),
            [("2000", str(sum(range(0, 80000, 40))), str(sum(range(39, 80000, 40))))],
        )

    def test_empty_texts_in_a_table_of_one_column(self):
        """Such a row is a line of no bytes, which is a line all the same."""
        texts = ["", "a", "", "", "b", ""]
        for mode, key in (("insert", ""), ("upsert", " unique")):
            with self.subTest(mode=mode):
                self.topic = f"{self.name}-{mode}"
                self.sql(f"drop table if exists orders; create table orders (payload text{key})")
                self.load(
                    (json.dumps({"payload": text}) for text in texts),
                    **{"insert.mode": mode, "pk.mode": "record_value" if key else "none"},
                    **({"pk.fields": ["payload"]} if key else {}),
                )
                found = sorted(row[0] for row in self.sql("select payload from orders"))
                self.assertEqual(found, sorted(set(texts) if key else texts))

    def test_upsert_into_columns_of_any_name(self):
        """No name of a statement's own may hide a column's."""
        self.sql("create table orders (id bigint primary key, k1 bigint, place int, known boolean, c1 text, given int)")
        self.sql("insert into orders (id, k1) select n, n from generate_series(0, 999) n")
        records = [json.dumps({"id": n, "k1": -n, "place": n, "known": True, "c1": "x", "given": 1}) for n in range(3000)]
        self.load(records, **{"insert.mode": "upsert", "pk.mode": "record_value", "pk.fields": ["id"]})
        self.assertEqual(
            self.sql("select count(*), count(*) filter (where k1 = -id and place = id and c1 = 'x') from orders"),
            [("3000", "3000")],
        )

    def test_upsert_of_keys_that_a_trigger_changes(self):
        """What looks new may be in the table all the same, under the key that the trigger makes of it."""
        self.sql(
            "create table orders (id text primary key, note text);"
            "create function lowered() returns trigger language plpgsql as "
            "'begin new.id = lower(new.id); return new; end';"
            "create trigger lowered before insert on orders for each row execute function lowered();"
            "insert into orders select 'k' || n, 'before' from generate_series(0, 2999, 7) n"
        )
        records = [json.dumps({"id": f"K{n % 3000}", "note": f"n{n}"}) for n in range(9000)]
        self.load(records, **{"insert.mode": "upsert", "pk.mode": "record_value", "pk.fields": ["id"]})
        self.assertEqual(
            sorted(self.sql("select id, note from orders")), sorted((f"k{n}", f"n{n + 6000}") for n in range(3000))
        )

    def test_upsert_of_keys_with_nulls(self):
        """NULL equals nothing, also not within a batch: each such row is one of its own."""
        self.sql("create table orders (email text unique, n int)")
        records = [json.dumps({"email": None if n % 2 else f"e{n % 10}", "n": n}) for n in range(1000)]
        self.load(records, **{"insert.mode": "upsert", "pk.mode": "record_value", "pk.fields": ["email"]})
        self.assertEqual(self.sql("select count(*), count(email), max(n) from orders"), [("505", "5", "999")])

    def test_large_texts(self):
        """F78: values of a megabyte."""
        self.sql("create table orders (id bigint, note text)")
        self.load((json.dumps({"id": n, "note": chr(97 + n % 26) * 1000000}) for n in range(40)), partitions=1)
        found = self.sql(
            "select id, length(note), md5(note) = md5(repeat(chr(97 + id::int % 26), 1000000)) from orders order by id"
        )
        self.assertEqual(found, [(str(n), "1000000", "t") for n in range(40)])

    def test_exact_decimals(self):
        """F86: no digit is lost, whether the number comes as a number or as text."""
        digits = [
            "0.000043129",
            "123456789012345678901234567890.123456",
            "-0.000000000000000000000000000000000001",
            "99999999999999999999999999999999999999",
            "9007199254740993",
        ]
        self.sql("create table orders (id bigint, number numeric, string numeric)")
        self.load(f'{{"id":{n},"number":{value},"string":"{value}"}}' for n, value in enumerate(digits))
        self.assertEqual(
            self.sql("select number, string from orders order by id"), [(value, value) for value in digits]
        )

    def test_nested_json(self):
        """F108: structures go into a JSON column as they are."""
        nested = [{"a": {"b": [1, 2, {"c": None}]}}, {"a": []}, {"a": {"text": 'quote " back \\ slash \t tab é 😀'}}]
        self.sql("create table orders (id bigint, a jsonb)")
        self.load(json.dumps({"id": n, **value}, ensure_ascii=n == 0) for n, value in enumerate(nested))
        found = [json.loads(a) for a, in self.sql("select a from orders order by id")]
        self.assertEqual(found, [value["a"] for value in nested])

    def test_awkward_texts(self):
        """What COPY, array literals and JSON each escape in their own way."""
        texts = [
            "",
            "\\N",
            "\\.",
            "NULL",
            "null",
            "a\tb",
            "a\nb",
            "a\r\nb",
            'x"y',
            "x'y",
            "{1,2}",
            "back\\slash",
            "end\\",
            "é😀",
            " pad ",
        ]
        lines = [json.dumps({"id": n, "note": text}) for n, text in enumerate(texts)]
        self.create_topic(1)
        produce.lines(self.kafka, self.topic, 0, lines)
        upsert = {"insert.mode": "upsert", "pk.mode": "record_value", "pk.fields": ["id"]}
        for name, mode in (("appended", {}), ("upserted", upsert)):
            with self.subTest(name):
                self.sql(f"create table {name} (id bigint primary key, note text)")
                self.run_bounded(self.write_job(self.sink(name, **mode), name=name))
                found = self.sql(f"select id, encode(convert_to(note, 'UTF8'), 'hex') from {name} order by id")
                self.assertEqual(found, [(str(n), text.encode().hex()) for n, text in enumerate(texts)])


class Refusals(PostgresCase):
    def load_with(self, bad, table=orders_table()):
        """2,000 good records with a bad one among them at offset 1000; one epoch holds them all."""
        self.sql(table)
        self.create_topic(1)
        produce.lines(
            self.kafka,
            self.topic,
            0,
            [*(produce.order(n) for n in range(1000)), bad, *(produce.order(n) for n in range(1001, 2000))],
        )
        return self.run_bounded(
            self.write_job(self.sink(), checkpoint={"interval": "60s", "max.rows": 100000}), code=FAILED
        ).output()

    def assert_named(self, said, *parts):
        for part in (f"{self.topic}-0@1000", *parts):
            self.assertIn(part, said)
        self.assertEqual(self.count(), 0, "rows of an epoch that failed")
        self.assertEqual(self.committed(), 0, "the ledger moved over a bad record")

    def test_value_that_does_not_fit(self):
        said = self.load_with('{"id":1000,"customer":"eleven-secret","amount":"1.00","status":"new","note":"n","ts":1}')
        self.assert_named(said, "customer")
        self.assertNotIn("eleven-secret", said, "F80: values do not belong in logs")

    def test_value_that_only_the_server_refuses(self):
        table = orders_table(key="").replace("status text", "status text check (status <> 'forbidden-secret')")
        said = self.load_with(produce.order(1000).replace('"new"', '"forbidden-secret"'), table)
        self.assert_named(said, "23514")
        self.assertNotIn("forbidden-secret", said, "F80: values do not belong in logs")

    def test_duplicate_key_is_an_error_of_insert(self):
        said = self.load_with(produce.order(7, amount="4711.13"))
        self.assert_named(said, "23505")
        self.assertNotIn("4711.13", said, "F80: values do not belong in logs")

    def test_record_that_is_no_json(self):
        said = self.load_with('{"id":1000,"note":"half-secret')
        self.assert_named(said)
        self.assertNotIn("half-secret", said, "F80: values do not belong in logs")

    def test_secrets_stay_out_of_logs(self):
        said = self.load_with("[]")
        self.assert_named(said)
        self.assertNotIn("not-a-real-secret", said, "the password of connection.url")

    def test_upsert_without_unique_index(self):
        """F14: refused before anything is read, naming table and columns."""
        self.sql(orders_table(key=""))
        self.create_topic()
        self.produce(100)
        sink = self.sink(**{"insert.mode": "upsert", "pk.mode": "record_value", "pk.fields": ["id", "customer"]})
        said = self.run_bounded(self.write_job(sink), code=FAILED).output()
        for part in ("orders", "id", "customer", "unique"):
            self.assertIn(part, said)
        self.assertEqual(self.count(), 0)

    def test_missing_table(self):
        self.create_topic()
        self.produce(100)
        said = self.run_bounded(self.write_job(self.sink(**{"auto.create": False})), code=FAILED).output()
        self.assertIn("orders", said)
        self.assertIn("auto.create", said)

    def test_missing_topic(self):
        self.sql(orders_table())
        said = self.run_bounded(self.write_job(self.sink()), code=FAILED).output()
        self.assertIn(self.topic, said)


if __name__ == "__main__":
    unittest.main()
