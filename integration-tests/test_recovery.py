"""What a crash, a restart or a lost connection must not change: every record once.

The table has no key that would hide a second copy."""

import os
import time
import unittest

from sluice_it import oracle, produce
from sluice_it.case import PostgresCase, orders_table, scale
from sluice_it.process import DONE, FAILED, KILLED

KILLS = scale("SLUICE_IT_KILLS", 15)
# Two seconds on a quiet machine; a shared one gets some air.
RESTART_SECONDS = float(os.environ.get("SLUICE_IT_RESTART_SECONDS", "5"))


class Recovery(PostgresCase):
    def setUp(self):
        super().setUp()
        self.sql(orders_table(key=""))
        self.create_topic()
        self.job_file = self.write_job(self.sink())

    def finish_and_audit(self, count=None):
        """Loads what is left and audits; returns how many records there were."""
        self.run_bounded(self.job_file)
        audited = self.audit_orders()
        if count is not None:
            self.assertEqual(audited, count)
        return audited


class OfTheProcess(Recovery):
    def test_killed_at_random_moments(self):
        self.produce(50000)
        working = 0
        with produce.Feeder(self.kafka, self.topic, first=50000) as feeder:
            for attempt in range(KILLS):
                before = self.committed()
                run = self.start("run", self.job_file)
                if attempt % 3 == 0:
                    self.wait_for_progress(run, 1)
                self.wait_for_a_random_moment()
                self.assertEqual(run.kill(), KILLED, f"ended before it was killed: {run.output()[-3000:]}")
                working += self.committed() > before
        self.assertGreaterEqual(working, KILLS // 3, "too few kills met a process at work")
        self.finish_and_audit(feeder.count)

    def wait_for_a_random_moment(self):
        """Chance is the point here: anywhere between the start of the process and its full work."""
        moment = time.monotonic() + self.random.uniform(0.02, 1.0)
        self.wait_until(lambda: time.monotonic() >= moment, "the moment to kill")

    def test_first_commit_after_a_kill_comes_soon(self):
        self.produce(1000)
        run = self.start("run", self.job_file)
        self.wait_until_caught_up(run)
        run.kill()
        self.produce(100, first=1000)
        started = time.monotonic()
        run = self.start("run", self.job_file)
        self.wait_for_commits(run, 1001)
        took = time.monotonic() - started
        self.assertLess(took, RESTART_SECONDS, f"seconds to the first commit; sluice said:\n{run.output()}")
        self.wait_until_caught_up(run)
        self.assertEqual(run.terminate(), DONE)
        self.assertEqual(self.audit_orders(), 1100)

    def test_second_process_of_the_same_job(self):
        with produce.Feeder(self.kafka, self.topic) as feeder:
            first = self.start("run", self.job_file)
            self.wait_for_progress(first, 1000)
            second = self.start("run", self.job_file)
            self.wait_until(
                lambda: not first.running() or not second.running() or self.committed() > 20000, "progress of both"
            )
            first.kill()
        if not second.running():
            second = self.start("run", self.job_file)
        self.wait_until_caught_up(second)
        self.assertEqual(second.terminate(), DONE)
        self.assertEqual(self.audit_orders(), feeder.count)

    def test_start_at_the_latest_offset_is_decided_once(self):
        """What comes between the first start and the first commit belongs to the job, crash or no crash."""
        self.produce(1000)
        self.job_file = self.write_job(self.sink(), source={"scan.startup.mode": "latest-offset"})
        run = self.start("run", self.job_file, fault="sink.before_ledger:kill@1")
        self.wait_until(lambda: self.committed() == 1000, "the start positions to be in the ledger")
        self.produce(500, first=1000)
        self.assertEqual(run.wait(), KILLED)
        self.assertEqual(self.count(), 0)
        self.produce(300, first=1500)
        self.run_bounded(self.job_file)
        expected = [row for row in oracle.topic_rows(self.kafka, self.topic) if int(row[0]) >= 1000]
        self.assertEqual(len(expected), 800)
        self.assert_clean(oracle.Audit(expected, oracle.postgres_rows(self.server, self.database)))


class OfTheDatabase(Recovery):
    def test_restarted_while_the_job_runs(self):
        with produce.Feeder(self.kafka, self.topic) as feeder:
            run = self.start("run", self.job_file)
            for _ in range(5):
                self.wait_for_progress(run, 3000)
                self.server.stop_immediately()
                self.server.start()
        self.wait_until_caught_up(run)
        self.assertEqual(run.terminate(), DONE)
        self.assertEqual(self.audit_orders(), feeder.count)

    def test_idle_connections_cut(self):
        """F67: a connection that died while nothing was to do is replaced, not reused."""
        run = self.start("run", self.job_file)
        for step in range(3):
            self.produce(1000, first=step * 1000)
            self.wait_until_caught_up(run)
            cut = self.sql(
                "select pg_terminate_backend(pid) from pg_stat_activity "
                "where datname = current_database() and pid <> pg_backend_pid()"
            )
            self.assertTrue(cut, "no connection to cut")
        self.produce(1000, first=3000)
        self.wait_until_caught_up(run)
        self.assertEqual(run.terminate(), DONE)
        self.assertEqual(self.audit_orders(), 4000)

    def test_gone_for_longer_than_the_restart_budget(self):
        """F68: the job ends, says so by its exit code, and has lost nothing."""
        self.job_file = self.write_job(self.sink(), restart={"attempts": 2})
        self.produce(2000)
        run = self.start("run", self.job_file)
        self.wait_until_caught_up(run)
        self.server.stop_immediately()
        try:
            self.produce(2000, first=2000)
            self.assertEqual(run.wait(), FAILED)
        finally:
            self.server.start()
        self.assertIn(str(self.server.port), run.output())
        self.assertNotIn("not-a-real-secret", run.output())
        self.finish_and_audit(4000)

    def test_column_dropped_while_the_job_runs(self):
        """F22: the position is durable only together with the rows."""
        with produce.Feeder(self.kafka, self.topic) as feeder:
            run = self.start("run", self.job_file)
            self.wait_for_progress(run, 3000)
            # Renamed, so that what is in the table stays.
            self.sql("alter table orders rename column note to gone")
            self.assertEqual(run.wait(), FAILED)
        self.assertIn("note", run.output())
        self.sql("alter table orders rename column gone to note")
        self.finish_and_audit(feeder.count)


class OfTheBroker(Recovery):
    def test_killed_while_the_job_runs(self):
        run = self.start("run", self.job_file)
        for step in range(3):
            self.produce(20000, first=step * 20000)
            self.wait_for_commits(run, step * 20000 + 1)
            self.kafka.kill()
            self.kafka.start()
        self.produce(1000, first=60000)
        self.wait_until_caught_up(run)
        self.assertEqual(run.terminate(), DONE)
        self.assertEqual(self.audit_orders(), 61000)


class Offsets(Recovery):
    def setUp(self):
        super().setUp()
        self.group = "sluice-" + self.name
        self.job_file = self.write_job(
            self.sink(), source={"group.id": self.group, "properties": {"session.timeout.ms": "1500"}}
        )

    def group_offsets(self):
        return self.kafka.admin.group_offsets(self.group, self.topic, 4)

    def test_of_the_group_follow_the_ledger(self):
        """F33: what the broker is told is in the database already."""
        with produce.Feeder(self.kafka, self.topic):
            run = self.start("run", self.job_file)
            self.wait_for_progress(run, 1)
            goal = self.committed() + 10000
            while self.committed() < goal and run.running():
                told = self.group_offsets()
                held = self.positions()
                for partition, offset in told.items():
                    self.assertLessEqual(
                        offset, held.get(partition, 0), f"partition {partition}: the broker knows more than the ledger"
                    )
        self.wait_until_caught_up(run)
        self.assertEqual(run.terminate(), DONE)
        self.assertEqual(self.group_offsets(), self.positions())

    def test_of_the_group_do_not_move_the_job(self):
        """F31, F55: the ledger is the truth, whatever happens to the group."""
        self.produce(4000)
        self.run_bounded(self.job_file)
        self.wait_until(self.reset_group, "the group to be without members")
        self.assertEqual(self.group_offsets(), {partition: 0 for partition in range(4)})
        self.produce(400, first=4000)
        self.finish_and_audit(4400)

    def reset_group(self):
        try:
            self.kafka.admin.set_group_offsets(self.group, self.topic, {partition: 0 for partition in range(4)})
            return True
        except RuntimeError:
            return False

    def test_of_another_topic_under_the_same_job(self):
        """The group still remembers the old subscription; the job must get the splits of the new one."""
        self.produce(400)
        self.run_bounded(self.job_file)
        self.topic += "-next"
        self.create_topic()
        self.produce(400, first=400)
        self.job_file = self.write_job(self.sink(), source={"group.id": self.group})
        self.run_bounded(self.job_file, seconds=60)
        self.assertEqual(self.sql("select count(*), count(distinct id), max(id) from orders"), [("800", "800", "799")])

    def test_with_transaction_markers(self):
        """F60: the last offsets of a partition need not be records."""
        self.produce(400)
        for step in range(3):
            numbers = range(400 + step * 10, 410 + step * 10)
            produce.transaction(self.kafka, self.topic, 1, [produce.order(n) for n in numbers], name=self.name)
        self.run_bounded(self.job_file)
        self.assertEqual(self.audit_orders(), 430)
        self.assertEqual(self.positions(), self.end_offsets())

    def test_with_compaction_holes(self):
        """F60: so need not those in the middle."""
        self.topic += "-compacted"
        self.create_topic(
            1, cleanup_policy="compact", segment_ms=50, min_cleanable_dirty_ratio=0.01, max_compaction_lag_ms=50
        )
        self.job_file = self.write_job(self.sink())
        number = 0

        def compacted():
            nonlocal number
            lines = [f"key{n % 7}|{produce.order(n)}" for n in range(number, number + 100)]
            produce.lines(self.kafka, self.topic, 0, lines, key_delimiter="|")
            number += 100
            return len(list(oracle.topic_records(self.kafka, self.topic))) < number

        self.wait_until(compacted, "the broker to compact the topic")
        # Compaction goes on while the job reads, so the table is judged by what must be there: the last of every key.
        self.run_bounded(self.job_file)
        self.assertEqual(self.positions(), self.end_offsets(1))
        self.assertEqual(self.sql("select count(*) - count(distinct id) from orders"), [("0",)])
        ids = {int(row[0]) for row in self.sql("select id from orders")}
        self.assertLessEqual(set(range(number - 7, number)), ids)

    def test_ledger_behind_the_start_of_the_log(self):
        """Retention was faster than the job: that is a loss, and it is said."""
        self.produce(400)
        self.run_bounded(self.job_file)
        self.produce(400, first=400)
        self.kafka.admin.delete_records(self.topic, 2, 150)
        said = self.run_bounded(self.job_file, code=FAILED).output()
        for part in (self.topic, "100", "150"):
            self.assertIn(part, said)
        self.assertEqual(self.positions().get(2), 100)

    def test_topic_made_anew(self):
        """The ledger is ahead of the end of the log: these are other records under the same name."""
        self.produce(400)
        self.run_bounded(self.job_file)
        self.kafka.admin.delete_topic(self.topic)
        self.wait_until(self.created_again, "the topic to be gone and made anew")
        self.produce(40)
        said = self.run_bounded(self.job_file, code=FAILED).output()
        for part in (self.topic, "100"):
            self.assertIn(part, said)
        self.assertEqual(self.count(), 400)

    def created_again(self):
        try:
            self.create_topic()
            return True
        except RuntimeError:
            return False


if __name__ == "__main__":
    unittest.main()
