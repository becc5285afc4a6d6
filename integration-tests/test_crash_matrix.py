"""Dies at every named step of the protocol, starts again, and audits.

The names come from the binary itself, so that a step that gets one is covered at once."""

import unittest

from sluice_it import children
from sluice_it.case import MysqlCase, PostgresCase, SqliteCase, orders_table, servers
from sluice_it.process import KILLED, binary

RECORDS = 4000
# Steps that a run which finds its splits once, and keeps them, passes once only.
ONCE_A_RUN = {
    "task.assigned",
    "sink.before_take_over",
    "sink.after_take_over",
    "task.before_seek",
    "task.before_release",
}


# Steps that only some jobs have.
TWO_PHASE = {
    "sink.before_prepare",
    "sink.after_prepare",
    "sink.before_commit_prepared",
    "store.after_raise",
    "store.before_publish",
    "store.after_publish",
    "group.between_commits",
}
ONCE_A_RUN |= {"store.after_raise"}
WAL = {"wal.before_seal", "wal.after_seal", "wal.before_apply", "wal.before_remove"}
AT_MOST_ONCE = {"task.after_source_commit"}  # test_guarantees.py


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
        for point in self.points():
            for passage in (1,) if point in ONCE_A_RUN else (1, 2):
                with self.subTest(fault=f"{point}:{action}@{passage}"):
                    self.new_table()
                    job = f"{action}-{passage}-{point}".replace(".", "-")
                    # A job of its own has a ledger and a group of its own; several epochs bring second passages.
                    attempt(self.write_job(self.sink(), name=job, checkpoint={"max.rows": 500}), point, passage)
                    self.assertEqual(self.audit_orders(), RECORDS)

    def points(self):
        return [point for point in fault_points() if point not in TWO_PHASE | WAL | AT_MOST_ONCE]

    def test_killed(self):
        self.each("kill", self.killed)

    def killed(self, job_file, point, passage):
        run = self.start("run", job_file, "--bounded", fault=f"{point}:kill@{passage}")
        self.assertEqual(run.wait(), KILLED, f"sluice said:\n{run.output()[-3000:]}")
        self.run_bounded(job_file)

    def test_failed(self):
        """A step that fails without a crash: the same process gets over it."""
        self.each("fail", self.failed)

    def failed(self, job_file, point, passage):
        self.run_bounded(job_file, fault=f"{point}:fail@{passage}", seconds=60)


class WithPostgres(Matrix, PostgresCase):
    def new_table(self):
        self.sql("drop table if exists orders; " + orders_table(key=""))


class TwoPhase(Matrix):
    """Every step, now that a checkpoint decides; nothing may be left prepared."""

    def points(self):
        return [point for point in fault_points() if point not in WAL | AT_MOST_ONCE]

    def sink(self, *arguments, **changes):
        return super().sink(*arguments, **{**changes, "commit.protocol": "prepared"})

    def audit_orders(self, table="orders"):
        self.assertEqual(self.prepared(), [])
        return super().audit_orders(table)


class Wal(Matrix):
    """Every step of an epoch that waits in a file, and those of the transaction that applies it."""

    def points(self):
        return [point for point in fault_points() if point in WAL or point.startswith("sink.") and point not in TWO_PHASE]

    def sink(self, *arguments, **changes):
        return super().sink(*arguments, **{**changes, "commit.protocol": "wal"})


class PreparedWithPostgres(TwoPhase, WithPostgres):
    def prepared(self):
        return self.sql("select gid from pg_prepared_xacts where database = current_database()")


class InTable:
    """The steps of the store, with its checkpoints in a table."""

    def points(self):
        return [point for point in super().points() if point.startswith("store.") or point == "task.before_seek"]

    def write_job(self, *arguments, checkpoint, **changes):
        return super().write_job(*arguments, checkpoint={**checkpoint, "store": "table"}, **changes)


class PreparedInTableWithPostgres(InTable, PreparedWithPostgres):
    pass


class WithMysql(Matrix, MysqlCase):
    find_server = staticmethod(lambda: servers.mysql)

    def new_table(self):
        self.sql("drop table if exists orders")
        self.create_orders(key="")

    def prepared(self):
        return self.sql("xa recover")


class WithMariadb(WithMysql):
    find_server = staticmethod(lambda: servers.mariadb)


class PreparedWithMysql(TwoPhase, WithMysql):
    pass


class PreparedWithMariadb(TwoPhase, WithMariadb):
    pass


class PreparedInTableWithMysql(InTable, PreparedWithMysql):
    pass


class WithSqlite(Matrix, SqliteCase):
    def new_table(self):
        self.execute("drop table if exists orders")
        self.execute("create table orders (id integer, customer int, amount text, status text, note text, ts bigint)")


class WalWithPostgres(Wal, WithPostgres):
    pass


class WalWithMysql(Wal, WithMysql):
    pass


class WalWithMariadb(Wal, WithMariadb):
    pass


class WalWithSqlite(Wal, WithSqlite):
    pass


if __name__ == "__main__":
    unittest.main()
