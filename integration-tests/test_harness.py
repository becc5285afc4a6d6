"""The oracle finds what it is there to find, and the servers do what the other tests count on."""

import unittest

from sluice_it import oracle, produce
from sluice_it.case import PostgresCase, orders_table


class Oracle(PostgresCase):
    """The table is filled by hand here; the product has no part in it."""

    def setUp(self):
        super().setUp()
        self.create_topic()
        self.produce(1000)
        self.expected = list(oracle.topic_rows(self.kafka, self.topic))
        self.sql(orders_table(key=""))
        lines = "\n".join("\t".join(row) for row in self.expected)
        self.sql(f"copy orders from stdin;\n{lines}\n\\.\n")

    def audit(self):
        return oracle.Audit(self.expected, oracle.postgres_rows(self.server, self.database))

    def test_finds_nothing_where_nothing_is_wrong(self):
        self.assertEqual(len(self.expected), 1000)
        self.assert_clean(self.audit())

    def test_finds_a_lost_row(self):
        self.sql("delete from orders where id = 5")
        self.assertEqual(self.audit().lost, ["5"])
        self.assertFalse(self.audit().clean())

    def test_finds_a_row_that_is_there_twice(self):
        self.sql("insert into orders select * from orders where id = 7")
        self.assertEqual(self.audit().duplicated, ["7"])
        self.assertFalse(self.audit().clean())

    def test_finds_a_changed_row(self):
        self.sql("update orders set amount = amount + 0.01 where id = 9")
        self.assertEqual(self.audit().changed, ["9"])
        self.assertFalse(self.audit().clean())

    def test_finds_a_row_that_no_record_made(self):
        self.sql("insert into orders (id) values (424242)")
        self.assertEqual(self.audit().foreign, ["424242"])
        self.assertFalse(self.audit().clean())

    def test_finds_a_loss_that_a_duplicate_balances(self):
        self.sql("delete from orders where id = 5; insert into orders select * from orders where id = 7")
        audit = self.audit()
        self.assertEqual((audit.lost, audit.duplicated, audit.found), (["5"], ["7"], 1000))
        self.assertFalse(audit.clean())


class Servers(PostgresCase):
    def test_keep_their_data_over_a_crash(self):
        self.create_topic()
        self.produce(100)
        self.sql("create table kept (id int); insert into kept values (1)")
        self.kafka.kill()
        self.server.stop_immediately()
        self.server.start()
        self.kafka.start()
        self.assertEqual(self.sql("select id from kept"), [("1",)])
        self.assertEqual(self.end_offsets(), {partition: 25 for partition in range(4)})

    def test_transactions_leave_markers(self):
        self.create_topic(1)
        produce.transaction(self.kafka, self.topic, 0, [produce.order(n) for n in range(10)], name=self.name)
        self.assertEqual(self.end_offsets(1), {0: 11})
        self.assertEqual(len(list(oracle.topic_records(self.kafka, self.topic))), 10)

    def test_group_offsets_can_be_moved(self):
        self.create_topic()
        self.kafka.admin.set_group_offsets("somebody", self.topic, {0: 5, 3: 7})
        self.assertEqual(self.kafka.admin.group_offsets("somebody", self.topic, 4), {0: 5, 1: -1, 2: -1, 3: 7})


if __name__ == "__main__":
    unittest.main()
