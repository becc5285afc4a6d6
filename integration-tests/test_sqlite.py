"""The same promises with SQLite as the target."""

import json
import unittest

from sluice_it import oracle, produce
from sluice_it.case import SqliteCase, scale
from sluice_it.process import FAILED

RECORDS = scale("SLUICE_IT_RECORDS", 100000)
# A NUMERIC column would store money as a double; text keeps the digits.
TABLE = "create table orders (id integer{key}, customer int, amount text, status text, note text, ts bigint)"


class Loads(SqliteCase):
    def setUp(self):
        super().setUp()
        self.create_topic()

    def test_insert(self):
        self.execute(TABLE.format(key=" primary key"))
        self.produce(RECORDS)
        self.run_bounded(self.write_job(self.sink()))
        self.assertEqual(self.audit_orders(), RECORDS)
        ledger = dict(self.execute("select partition, next_offset from sluice_ledger"))
        self.assertEqual(ledger, {partition: RECORDS // 4 for partition in range(4)})

    def test_insert_without_primary_key_goes_on(self):
        self.execute(TABLE.format(key=""))
        job_file = self.write_job(self.sink())
        self.produce(10000)
        self.run_bounded(job_file)
        self.produce(7000, first=10000)
        self.run_bounded(job_file)
        self.assertEqual(self.audit_orders(), 17000)

    def test_upsert_keeps_the_last_of_repeated_keys(self):
        self.execute(TABLE.format(key=" primary key"))
        self.produce(20000, keys=400)
        sink = self.sink(**{"insert.mode": "upsert", "pk.mode": "record_value", "pk.fields": ["id"]})
        self.run_bounded(self.write_job(sink))
        expected = oracle.last_per_key(oracle.topic_rows(self.kafka, self.topic))
        self.assertEqual(len(expected), 400)
        self.assert_clean(oracle.Audit(expected, oracle.sqlite_rows(self.database)))

    def test_created_table(self):
        self.produce(5000)
        self.run_bounded(self.write_job(self.sink(**{"auto.create": True})))
        self.assertEqual(self.audit_orders(), 5000)

    def test_forty_columns(self):
        names = [f"c{index}" for index in range(40)]
        self.execute(f"create table orders ({', '.join(name + ' int' for name in names)}, primary key (c0))")
        produce.lines(
            self.kafka,
            self.topic,
            0,
            (json.dumps({name: n * 40 + index for index, name in enumerate(names)}) for n in range(2000)),
        )
        sink = self.sink(**{"insert.mode": "upsert", "pk.mode": "record_value", "pk.fields": ["c0"]})
        self.run_bounded(self.write_job(sink))
        self.assertEqual(self.execute("select count(*), sum(c39) from orders"), [(2000, sum(range(39, 80000, 40)))])

    def test_bad_record_stops_the_job(self):
        self.execute(TABLE.format(key=" primary key"))
        bad = '{"id":1000,"customer":"eleven-secret","amount":"1.00","status":"new","note":"n","ts":1}'
        produce.lines(self.kafka, self.topic, 0, [*(produce.order(n) for n in range(1000)), bad])
        job_file = self.write_job(self.sink(), checkpoint={"interval": "60s", "max.rows": 100000})
        said = self.run_bounded(job_file, code=FAILED).output()
        self.assertIn(f"{self.topic}-0@1000", said)
        self.assertIn("customer", said)
        self.assertNotIn("eleven-secret", said)
        self.assertEqual(self.execute("select count(*) from orders"), [(0,)])


if __name__ == "__main__":
    unittest.main()
