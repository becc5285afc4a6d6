"""Dies at every named step of the protocol, starts again, and audits.

The names come from the binary itself, so that a step that gets one is covered at once."""

import unittest

from sluice_it import children
from sluice_it.case import PostgresCase, SqliteCase, orders_table
from sluice_it.process import DONE, KILLED, binary

RECORDS = 4000
# Steps that a run which finds its splits once, and keeps them, passes once only.
ONCE_A_RUN = {
    "task.assigned",
    "sink.before_take_over",
    "sink.after_take_over",
    "task.before_seek",
    "task.before_release",
}


def fault_points():
    return children.run([binary(), "fault-points"]).decode().split()


class Matrix:
    """Mixed into a case of a database."""

    def test_there_are_fault_points(self):
        self.assertGreater(len(fault_points()), 5)
        self.assertLessEqual(ONCE_A_RUN, set(fault_points()), "names in this file that the binary does not know")

    def each(self, action, attempt):
        self.create_topic()
        self.produce(RECORDS)
        for point in fault_points():
            for passage in (1, 2):
                with self.subTest(fault=f"{point}:{action}@{passage}"):
                    self.new_table()
                    job = f"{action}-{passage}-{point}".replace(".", "-")
                    # A job of its own has a ledger and a group of its own; several epochs bring second passages.
                    attempt(self.write_job(self.sink(), name=job, checkpoint={"max.rows": 500}), point, passage)
                    self.assertEqual(self.audit_orders(), RECORDS)

    def test_killed(self):
        self.each("kill", self.killed)

    def killed(self, job_file, point, passage):
        run = self.start("run", job_file, "--bounded", fault=f"{point}:kill@{passage}")
        expected = [KILLED, DONE] if passage > 1 and point in ONCE_A_RUN else [KILLED]
        self.assertIn(run.wait(), expected, f"sluice said:\n{run.output()[-3000:]}")
        self.run_bounded(job_file)

    def test_failed(self):
        """A step that fails without a crash: the same process gets over it."""
        self.each("fail", self.failed)

    def failed(self, job_file, point, passage):
        self.run_bounded(job_file, fault=f"{point}:fail@{passage}", seconds=60)


class WithPostgres(Matrix, PostgresCase):
    def new_table(self):
        self.sql("drop table if exists orders; " + orders_table(key=""))


class WithSqlite(Matrix, SqliteCase):
    def new_table(self):
        self.execute("drop table if exists orders")
        self.execute("create table orders (id integer, customer int, amount text, status text, note text, ts bigint)")


if __name__ == "__main__":
    unittest.main()
