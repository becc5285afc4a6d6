"""Positions that cannot be what they seem: each is noticed, named with its range, and stops the job unless it was told
what to do. And `sluice offsets`, which shows and moves them."""

import unittest

from sluice_it import produce
from sluice_it.case import PostgresCase, SqliteCase, orders_table
from sluice_it.process import FAILED, FENCED, PROBLEM, USAGE
from sluice_it.wait import wait_until

SKIP = {"source": {"on.lost.records": "skip"}}


class Positions(PostgresCase):
    def setUp(self):
        super().setUp()
        self.sql(orders_table(key=""))
        self.create_topic(1)
        self.job_file = self.write_job(self.sink())

    def load(self, count, first=0):
        produce.lines(self.kafka, self.topic, 0, [produce.order(n) for n in range(first, first + count)])
        self.run_bounded(self.job_file)

    def more(self, count, first):
        produce.lines(self.kafka, self.topic, 0, [produce.order(n) for n in range(first, first + count)])

    def stops(self, *parts):
        """`check` sees it coming; the job ends with code 1, says all of this, and writes nothing."""
        self.call("check", self.job_file, code=PROBLEM)
        rows = self.count() if self.table_exists() else None
        said = self.run_bounded(self.job_file, code=FAILED).output()
        for part in parts:
            self.assertIn(part, said)
        self.assertEqual(said.count(" error "), 1, f"one message, not {said}")
        if rows is not None:
            self.assertEqual(self.count(), rows)
        return said

    def goes_on(self):
        return self.run_bounded(self.write_job(self.sink(), **SKIP)).output()

    def table_exists(self):
        return self.sql("select to_regclass('orders') is not null")[0][0] == "t"

    def ids(self):
        return sorted(int(row[0]) for row in self.sql("select id from orders"))

    def recreate_topic(self):
        self.kafka.admin.delete_topic(self.topic)

        def created():
            try:
                self.create_topic(1)
                return True
            except RuntimeError:  # the old one is still on its way out
                return False

        wait_until(created, "the topic to be created again")


class OfTheLog(Positions):
    def test_recreated_topic_that_is_shorter(self):
        """F32, F62."""
        self.load(100)
        self.recreate_topic()
        self.more(10, 1000)
        self.stops(f"{self.topic}", "created again", "position 100", "sluice offsets")
        said = self.goes_on()
        self.assertIn("created again", said)
        self.assertEqual(self.ids(), [*range(100), *range(1000, 1010)])

    def test_recreated_topic_that_is_longer(self):
        """F32: its offsets look as if nothing had happened."""
        self.load(100)
        self.recreate_topic()
        self.more(150, 1000)
        self.stops("created again", "position 100")
        self.call("offsets", self.job_file, "--reset", "earliest")
        self.run_bounded(self.job_file)
        self.assertEqual(self.ids(), [*range(100), *range(1000, 1150)])

    def test_retention_that_was_faster(self):
        """F56."""
        self.load(100)
        self.more(100, 100)
        self.kafka.admin.delete_records(self.topic, 0, 150)
        self.stops("offsets 100 to 149", f"--set {self.topic}:0=150")
        self.assertIn("offsets 100 to 149", self.goes_on())
        self.assertEqual(self.ids(), [*range(100), *range(150, 200)])

    def test_log_that_lost_its_end(self):
        """As after an election of an incomplete replica: here by a ledger that is ahead in the same topic."""
        self.load(100)
        self.sql("update sluice_ledger set next_offset = 130")
        self.stops("lost its end", "offsets 100 to 129", f"--set {self.topic}:0=100")
        self.goes_on()
        self.assertEqual(self.positions(), {0: 100})
        self.load(10, 100)
        self.assertEqual(self.ids(), list(range(110)))


class OfTheLedger(Positions):
    def test_lost(self):
        """F51: rows are there, the recovery tables are gone."""
        self.load(100)
        self.sql("delete from sluice_ledger")
        self.stops(f"does not know {self.topic}-0", "offsets 0 to 99", "again")
        self.call("offsets", self.job_file, "--set", f"{self.topic}:0=100")
        self.load(10, 100)
        self.assertEqual(self.ids(), list(range(110)))

    def test_another_database_than_before(self):
        self.load(100)
        self.database = self.server.create_database(self.name[-50:] + "-two")
        self.sql(orders_table(key=""))
        self.job_file = self.write_job(self.sink())
        self.stops("another database")
        self.goes_on()
        self.assertEqual(self.ids(), list(range(100)))

    def test_rewound_to_a_backup(self):
        """F47: rows and ledger went back together, so that going on from there is right, but a person must know."""
        self.load(100)
        self.more(50, 100)
        self.run_bounded(self.job_file)
        self.sql("delete from orders where id >= 100; update sluice_ledger set next_offset = 100")
        self.stops("older copy", "offsets 100 to 149")
        self.assertIn("older copy", self.goes_on())
        self.assertEqual(self.ids(), list(range(150)))

    def test_older_copy_under_a_running_job(self):
        self.load(100)
        run = self.start("run", self.job_file)
        self.more(10, 100)
        self.wait_until(lambda: self.positions() == {0: 110}, "the job to be at work")
        # As a failover to a replica that lagged looks from here.
        self.sql(
            "begin; delete from orders where id >= 105; update sluice_ledger set next_offset = 105; commit; "
            "select pg_terminate_backend(pid) from pg_stat_activity "
            "where datname = current_database() and pid <> pg_backend_pid()"
        )
        self.more(10, 110)
        self.assertEqual(run.wait(), FAILED)
        self.assertIn("older copy", run.output())
        self.assertIn("offsets 105 to 109", run.output())
        self.goes_on()
        self.assertEqual(self.ids(), list(range(120)))

    def test_row_removed_while_the_job_runs(self):
        self.load(100)
        run = self.start("run", self.job_file)
        self.more(10, 100)
        self.wait_until(lambda: self.positions() == {0: 110}, "the job to be at work")
        self.sql("delete from sluice_ledger")
        self.more(10, 110)
        self.assertEqual(run.wait(), FAILED)
        self.assertIn("is gone", run.output())
        self.assertEqual(self.count(), 110)

    def test_lost_state_directory_loses_nothing(self):
        self.load(100)
        for path in (self.folder / "state").rglob("*"):
            if path.is_file():
                path.unlink()
        self.load(10, 100)
        self.assertEqual(self.ids(), list(range(110)))


class OfTheTable(Positions):
    def test_dropped_and_created_again(self):
        self.load(100)
        self.sql("drop table orders")
        self.sql(orders_table(key=""))
        self.more(10, 100)
        self.stops("orders", "created anew", f"{self.topic}-0 up to 100", "sluice offsets --reset earliest")
        self.call("offsets", self.job_file, "--reset", "earliest")
        self.run_bounded(self.job_file)
        self.assertEqual(self.ids(), list(range(110)))

    def test_dropped(self):
        """auto.create would begin in the middle without a word."""
        self.load(100)
        self.sql("drop table orders")
        self.more(10, 100)
        self.stops("orders", "is gone", f"{self.topic}-0 up to 100")
        self.assertFalse(self.table_exists())
        self.goes_on()
        self.assertEqual(self.ids(), list(range(100, 110)))

    def test_emptied_or_restored_is_no_surprise(self):
        self.load(100)
        self.sql("truncate orders")
        self.load(10, 100)
        self.assertEqual(self.ids(), list(range(100, 110)))
        self.sql("create table copy as table orders; drop table orders; alter table copy rename to orders")
        self.load(10, 110)
        self.assertEqual(self.ids(), list(range(100, 120)))


class Offsets(Positions):
    def test_show(self):
        self.load(100)
        self.more(20, 100)
        self.kafka.admin.delete_records(self.topic, 0, 30)
        row = self.call("offsets", self.job_file).splitlines()[1].split()
        self.assertEqual(row[:4], [f"{self.topic}-0", "100", "30", "120"])

    def test_move_back_and_forward(self):
        self.load(100)
        self.assertIn("100 -> 90", self.call("offsets", self.job_file, "--set", f"{self.topic}:0=90"))
        self.run_bounded(self.job_file)
        self.assertEqual(self.ids(), sorted([*range(100), *range(90, 100)]))
        self.more(20, 100)
        told = self.call("offsets", self.job_file, "--set", f"{self.topic}:0=110")
        self.assertIn("100 -> 110  records 100 to 109 will never be written", told)
        self.run_bounded(self.job_file)
        self.assertEqual(self.ids(), sorted([*range(100), *range(90, 100), *range(110, 120)]))
        self.run_bounded(self.job_file)

    def test_moving_fences_a_running_job(self):
        self.load(100)
        run = self.start("run", self.job_file)
        self.more(10, 100)
        self.wait_until(lambda: self.positions() == {0: 110}, "the job to be at work")
        self.call("offsets", self.job_file, "--set", f"{self.topic}:0=100")
        self.more(10, 110)
        self.assertEqual(run.wait(), FENCED)
        self.assertIn("sluice offsets", run.output())
        self.assertEqual(self.count(), 110)

    def test_letters_of_records_that_would_come_again_are_decided_on_first(self):
        produce.lines(self.kafka, self.topic, 0, ['{"id":1}', "{", '{"id":2}', "["])
        job_file = self.write_job(self.sink(), errors={"tolerance": "all"})
        self.run_bounded(job_file)
        letters = "select record_offset from sluice_dead_letters order by 1"
        self.assertEqual(self.sql(letters), [("1",), ("3",)])
        said = self.call("offsets", job_file, "--set", f"{self.topic}:0=2", code=FAILED)
        self.assertIn("1 dead letters", said)
        self.assertEqual(self.positions(), {0: 4})
        self.call("dead-letters", job_file, "--discard")
        self.call("offsets", job_file, "--set", f"{self.topic}:0=2")
        self.run_bounded(job_file)
        self.assertEqual(self.sql(letters), [("3",)])

    def test_refuses_what_cannot_be(self):
        self.load(100)
        for wrong in (f"{self.topic}:0=101", f"{self.topic}:7=1", "nowhere:0=1", f"{self.topic}:0=-1", f"{self.topic}=1"):
            self.call("offsets", self.job_file, "--set", wrong, code=USAGE)
        self.assertEqual(self.positions(), {0: 100})


class Savepoints(Positions):
    def savepoint(self, code=0):
        return self.call("savepoint", self.job_file, self.folder / "saved", code=code)

    def run_from(self, job_file, code=0):
        run = self.start("run", job_file, "--bounded", "--from", self.folder / "saved")
        self.assertEqual(run.wait(), code, run.output())
        return run.output()

    def test_another_database_goes_on_where_the_first_one_stood(self):
        self.load(300)
        self.assertIn("1 positions", self.savepoint())
        self.more(200, first=300)
        self.database = self.server.create_database(self.database[-50:] + "-copy")
        self.sql(orders_table(key=""))
        copy = self.write_job(self.sink(), name="moved", source={"group.id": self.name + "-copy"})
        self.run_from(copy)
        self.assertEqual(self.ids(), list(range(300, 500)))
        self.run_bounded(copy)
        self.assertEqual(self.count(), 200)

    def test_after_an_orderly_end_it_says_what_the_ledger_says(self):
        self.load(300)
        self.savepoint()
        self.run_from(self.job_file)
        self.assertEqual(self.ids(), list(range(300)))

    def test_ledger_that_has_gone_on_is_not_moved(self):
        self.load(300)
        self.savepoint()
        self.load(100, first=300)
        said = self.run_from(self.job_file, code=FAILED)
        self.assertIn(f"{self.topic}-0 is at 400, and the savepoint says 300", said)
        self.assertEqual(self.ids(), list(range(400)))

    def test_topic_that_was_created_again_is_noticed(self):
        self.load(10)
        self.savepoint()
        self.recreate_topic()
        self.more(500, first=0)
        self.database = self.server.create_database(self.database[-50:] + "-copy")
        self.sql(orders_table(key=""))
        copy = self.write_job(self.sink(), name="moved", source={"group.id": self.name + "-copy"})
        self.assertIn("was deleted and created again", self.run_from(copy, code=FAILED))

    def test_job_without_positions_has_nothing_to_save(self):
        self.call("migrate", self.job_file)
        self.assertIn("nothing to save", self.savepoint(code=FAILED))

    def test_none_is_written_over_another(self):
        self.load(10)
        self.savepoint()
        self.assertIn("there already", self.savepoint(code=FAILED))

    def test_changed_by_hand_it_is_refused(self):
        self.load(10)
        self.savepoint()
        file = self.folder / "saved" / "savepoint.json"
        file.write_text(file.read_text(encoding="utf-8").replace('"next_offset": 10', '"next_offset": 5'), encoding="utf-8")
        self.assertIn("checksum does not fit", self.run_from(self.job_file, code=FAILED))


class OnSqlite(SqliteCase):
    def test_dropped_table_and_moved_positions(self):
        self.create_topic(1)
        produce.lines(self.kafka, self.topic, 0, [produce.order(n) for n in range(50)])
        job_file = self.write_job(self.sink())
        self.run_bounded(job_file)
        self.assertEqual(self.audit_orders(), 50)
        self.execute("drop table orders")
        self.assertIn("is gone", self.call("check", job_file, code=PROBLEM))
        said = self.run_bounded(job_file, code=FAILED).output()
        self.assertIn("is gone", said)
        self.assertIn("ended by an error", said, "no lag is told that nobody has looked up")
        self.call("offsets", job_file, "--reset", "earliest")
        self.run_bounded(job_file)
        self.assertEqual(self.audit_orders(), 50)


if __name__ == "__main__":
    unittest.main()
