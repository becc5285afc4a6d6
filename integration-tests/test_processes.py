"""Several processes of one job: partitions move between them, processes die, sleep and wake up.

Every record is in once. Tables have no key that would hide a second copy, except where the locks of a key are the
point."""

import signal
import time
import unittest

from sluice_it import produce
from sluice_it.case import PRIMARY_KEY, PostgresCase, orders_table
from sluice_it.process import DONE, FENCED, KILLED, Run

PARTITIONS = 8
SESSION_SECONDS = 6
# After a session is over the group moves its partitions; the rest is for a busy machine.
MOVED_SECONDS = SESSION_SECONDS + 15
STOP_SECONDS = 10
# Between two portions of records: what is measured is not speed, and the processes need some of the machine.
PAUSE = 0.1
# Half of the lock timeout: whoever waits for the locks of a stopped process takes longer.
NOT_BLOCKED_SECONDS = 15


class Processes(PostgresCase):
    key = ""
    session_seconds = SESSION_SECONDS
    # With a pause between commits an epoch is open most of the time.
    checkpoint = {"interval": "400ms", "min.pause": "150ms"}
    step = 2000

    def setUp(self):
        super().setUp()
        self.sql(orders_table(key=self.key))
        self.create_topic(PARTITIONS)
        self.job_file = self.write_job(
            self.sink(),
            source={
                "properties": {
                    "session.timeout.ms": str(self.session_seconds * 1000),
                    "heartbeat.interval.ms": "1000",
                }
            },
            checkpoint=self.checkpoint,
        )

    def end_offsets(self, partitions=PARTITIONS):
        return super().end_offsets(partitions)

    def feeder(self):
        return produce.Feeder(self.kafka, self.topic, step=self.step, partitions=PARTITIONS, pause=PAUSE)

    def start_on(self, host, *arguments, fault=None):
        """A process with a log of its own; a host is a state directory."""
        folder = self.folder / host
        folder.mkdir(exist_ok=True)
        log = folder / f"process-{len(self._runs)}.log"
        run = Run("run", self.job_file, *arguments, log=log, cwd=folder, fault=fault)
        self._runs.append(run)
        return run

    def log_text(self):
        return "".join(f"--- {run.log}:\n{run.output()[-3000:]}\n" for run in self._runs)

    def owners(self):
        """{process id: how many partitions it owns, as the ledger says}"""
        if not self.ledger_exists():
            return {}
        rows = self.sql(
            "select substring(owner from 'pid=([0-9]+)')::int, count(*) from sluice_ledger "
            "where owner is not null group by 1"
        )
        return {int(owner): int(count) for owner, count in rows}

    def owned(self, run):
        return self.owners().get(run.child.pid, 0)

    def wait_for_owners(self, *runs, least, seconds=MOVED_SECONDS):
        """Until these processes have all partitions among them, and each at least that many."""

        def shared():
            for run in runs:
                self._alive(run)
            owners = self.owners()
            held = [owners.get(run.child.pid, 0) for run in runs]
            return sum(held) == PARTITIONS and min(held) >= least

        wanted = f"{len(runs)} processes to own {PARTITIONS} partitions, each at least {least}"
        self.wait_or_tell(shared, wanted, seconds)
        self.look()

    def wait_or_tell(self, condition, what, seconds):
        """A failure comes with the owners and with every process's log."""
        try:
            self.wait_until(condition, what, seconds)
        except AssertionError as failure:
            raise AssertionError(f"{failure}; {self.positions()} owned by {self.owners()}\n{self.log_text()}") from None

    def look(self):
        """As any reader may at any moment: no transactions and no compaction, so rows and positions must be equal."""
        rows, positions = self.sql(
            "select (select count(*) from orders), (select coalesce(sum(next_offset), 0) from sluice_ledger)"
        )[0]
        self.assertEqual(rows, positions, f"rows in the table, and positions in the ledger; {self.seed}")

    def in_epoch(self, run):
        """Whether the process holds a transaction that has written something."""
        found = self.sql(
            "select count(*) from sluice_ledger l join pg_stat_activity a "
            "on a.pid = substring(l.owner from 'session=([0-9]+)@')::int "
            f"where l.owner like '% pid={run.child.pid} %' and a.backend_xid is not null"
        )
        return found[0][0] != "0"

    def end_and_audit(self, *runs, count=None):
        """All of it must come in by these processes themselves."""
        ends = self.end_offsets()

        def caught_up():
            for run in runs:
                self._alive(run)
            return self.positions() == ends

        self.wait_or_tell(caught_up, f"the ledger to say {ends}", 40)
        for run in runs:
            self.assertEqual(run.terminate(STOP_SECONDS), DONE, run.output()[-3000:])
        self.run_bounded(self.job_file)
        audited = self.audit_orders()
        if count is not None:
            self.assertEqual(audited, count)


class Group(Processes):
    def test_joins_leaves_and_crashes(self):
        with self.feeder() as feeder:
            first = self.start_on("a")
            self.wait_for_owners(first, least=PARTITIONS)
            second = self.start_on("b")
            self.wait_for_owners(first, second, least=3)
            third = self.start_on("a")
            self.wait_for_owners(first, second, third, least=2)

            self.assertEqual(second.kill(), KILLED)
            self.wait_for_owners(first, third, least=3)
            second = self.start_on("b")
            self.wait_for_owners(first, second, third, least=2)

            self.assertEqual(first.terminate(STOP_SECONDS), DONE)
            self.wait_for_owners(second, third, least=3)
            self.assertEqual(third.kill(), KILLED)
            self.wait_for_owners(second, least=PARTITIONS)
            first, third = self.start_on("a"), self.start_on("b")
            self.wait_for_owners(first, second, third, least=2)

            for run in (first, second, third):
                self.assertEqual(run.kill(), KILLED)
            first, second, third = self.start_on("b"), self.start_on("a"), self.start_on("a")
            self.wait_for_owners(first, second, third, least=2)
        self.end_and_audit(first, second, third, count=feeder.count)

    def test_killed_at_every_step_of_a_handover(self):
        """The partitions are on their way when one of the two dies."""
        with self.feeder() as feeder:
            first = self.start_on("a")
            self.wait_for_owners(first, least=PARTITIONS)
            for point in (
                "task.assigned",
                "sink.before_take_over",
                "sink.after_take_over",
                "task.before_seek",
                "sink.after_ledger",
                "sink.after_commit",
            ):
                with self.subTest("the one that takes", point=point):
                    self.assertEqual(self.start_on("b", fault=f"{point}:kill").wait(), KILLED)
                    self.wait_for_owners(first, least=PARTITIONS)
            with self.subTest("the one that gives"):
                giving = self.start_on("b", fault="task.before_release:kill")
                self.wait_for_owners(first, giving, least=3)
                second = self.start_on("c")
                self.assertEqual(giving.wait(), KILLED, "nothing was taken from it")
                self.wait_for_owners(first, second, least=3)
        self.end_and_audit(first, second, count=feeder.count)

    def test_partitions_that_leave_and_return(self):
        """F37, F40, F41, F43: what a process remembers of a partition from before it left must not count."""
        with self.feeder() as feeder:
            first = self.start_on("a")
            self.wait_for_owners(first, least=PARTITIONS)
            for turn in range(8):
                second = self.start_on("ab"[turn % 2])
                self.wait_for_owners(first, second, least=3)
                self.wait_for_progress(first, 1000)
                if turn % 4 == 3:
                    second.kill()
                else:
                    self.assertEqual(second.terminate(STOP_SECONDS), DONE, second.output()[-3000:])
                self.wait_for_owners(first, least=PARTITIONS)
                self.wait_for_progress(first, 1000)
        generations = self.sql("select sum(generation) from sluice_ledger")[0][0]
        self.assertGreaterEqual(int(generations), PARTITIONS + 8 * 6, "partitions did not move as often as they should")
        self.end_and_audit(first, count=feeder.count)


class Leaving(Processes):
    """The session is long, so that what happens soon does not happen because it is over."""

    session_seconds = 30

    def test_on_sigterm_under_load(self):
        """F64: soon, in order, and the other one goes on at once."""
        with self.feeder() as feeder:
            first, second = self.start_on("a"), self.start_on("b")
            self.wait_for_owners(first, second, least=3, seconds=30)
            self.wait_for_progress(first, 2000)
            started = time.monotonic()
            self.assertEqual(first.terminate(STOP_SECONDS), DONE, first.output()[-3000:])
            self.wait_for_owners(second, least=PARTITIONS, seconds=STOP_SECONDS - (time.monotonic() - started))
            self.wait_for_progress(second, 2000)
        self.end_and_audit(second, count=feeder.count)

    def test_on_sigterm_with_a_long_epoch(self):
        """The open epoch is committed, not waited for."""
        self.job_file = self.write_job(self.sink(), checkpoint={"interval": "10min", "min.pause": "10min"})
        with self.feeder() as feeder:
            run = self.start_on("a")
            self.wait_for_progress(run, 1)
            held = self.committed()
            self.wait_until(lambda: self._alive(run) and self.in_epoch(run), "an epoch to be open")
            self.assertEqual(run.terminate(STOP_SECONDS), DONE, run.output()[-3000:])
            self.assertGreater(self.committed(), held, "the open epoch was thrown away")
            second = self.start_on("b")
            self.wait_for_owners(second, least=PARTITIONS, seconds=STOP_SECONDS)
            self.assertEqual(second.terminate(STOP_SECONDS), DONE, second.output()[-3000:])
        self.job_file = self.write_job(self.sink())
        self.run_bounded(self.job_file)
        self.assertEqual(self.audit_orders(), feeder.count)


def stopped(run):
    """Whether the process stands still; a SIGSTOP takes a moment."""
    with open(f"/proc/{run.child.pid}/stat", encoding="utf-8") as stat:
        return stat.read().rpartition(")")[2].split()[0] == "T"


class Freezing(Processes):
    """A process that is frozen in the middle of an epoch, is given up by the group, and wakes up.

    Epochs are long and large enough for the server to have written some of their rows: it collects 1,000 of a COPY."""

    checkpoint = {"interval": "2s", "min.pause": "1500ms"}
    step = 16000

    def freeze_in_an_epoch(self, run):
        """An epoch that is over before the signal arrives does not count."""

        def frozen_in_time():
            self._alive(run)
            self.wait_until(lambda: self.in_epoch(run), "an epoch to be open")
            run.child.send_signal(signal.SIGSTOP)
            self.wait_until(lambda: stopped(run), "the process to stand still")
            if self.in_epoch(run):
                return True
            run.child.send_signal(signal.SIGCONT)
            return False

        self.wait_until(frozen_in_time, "the process to be frozen in the middle of an epoch")

    def wake(self, zombie, heir):
        """Fenced by name, or told by the group before it could do anything: then it is a member as any other."""
        self.assertFalse(self.in_epoch(zombie), "the transaction of the process that was given up is still open")
        zombie.child.send_signal(signal.SIGCONT)
        self.wait_or_tell(
            lambda: not zombie.running() or self.owned(zombie) > 0,
            "the process that woke up to end, or to be given partitions again",
            MOVED_SECONDS,
        )
        if zombie.running():
            self.wait_for_owners(zombie, heir, least=3)
        else:
            self.assert_fenced(zombie, heir)
        self.look()

    def assert_fenced(self, zombie, heir):
        said = zombie.output()
        self.assertEqual(zombie.child.returncode, FENCED, said[-3000:])
        self.assertIn("was taken over by another process", said)
        self.assertIn(f"pid={heir.child.pid}", said, "it does not say by whom")

    def frozen(self, heir_on):
        with self.feeder() as feeder:
            zombie = self.start_on("a")
            self.wait_for_owners(zombie, least=PARTITIONS)
            heir = self.start_on(heir_on)
            self.wait_for_owners(zombie, heir, least=3)
            self.freeze_in_an_epoch(zombie)
            self.wait_for_owners(heir, least=PARTITIONS)
            self.wait_for_progress(heir, 2000, NOT_BLOCKED_SECONDS)
            self.wake(zombie, heir)
            self.wait_for_progress(heir, 2000)
        left = [run for run in (zombie, heir) if run.running()]
        self.end_and_audit(*left, count=feeder.count)

    def frozen_at(self, point):
        """A process joins one that is at work, and stands still at this point of its way."""
        with self.feeder() as feeder:
            heir = self.start_on("b")
            self.wait_for_owners(heir, least=PARTITIONS)
            zombie = self.start_on("a", fault=f"{point}:stop")
            self.wait_until(lambda: stopped(zombie), f"the process to be frozen at {point}")
            self.wait_for_owners(heir, least=PARTITIONS)
            self.wait_for_progress(heir, 2000, NOT_BLOCKED_SECONDS)
            self.wake(zombie, heir)
            self.wait_for_progress(heir, 2000)
        left = [run for run in (zombie, heir) if run.running()]
        self.end_and_audit(*left, count=feeder.count)


class Zombie(Freezing):
    def test_with_the_other_one_on_another_host(self):
        self.frozen("b")

    def test_with_the_other_one_on_the_same_host(self):
        self.frozen("a")

    def test_replaced_by_a_process_that_starts_later(self):
        """Nobody else was there: the heir comes when the zombie sleeps already."""
        with self.feeder() as feeder:
            zombie = self.start_on("a")
            self.wait_for_progress(zombie, 2000)
            self.freeze_in_an_epoch(zombie)
            heir = self.start_on("b")
            self.wait_for_owners(heir, least=PARTITIONS)
            self.wait_for_progress(heir, 2000, NOT_BLOCKED_SECONDS)
            self.wake(zombie, heir)
            self.wait_for_progress(heir, 2000)
        left = [run for run in (zombie, heir) if run.running()]
        self.end_and_audit(*left, count=feeder.count)

    def test_frozen_with_partitions_that_it_has_not_taken_over(self):
        """The group gave them away again meanwhile: whoever has them now must not be fenced."""
        self.frozen_at("task.assigned")

    def test_frozen_before_it_takes_over(self):
        """What it read in the ledger, and what the group told it, is of the past."""
        self.frozen_at("sink.before_take_over")

    def test_frozen_when_it_has_taken_over(self):
        self.frozen_at("sink.after_take_over")

    def test_frozen_with_the_row_of_the_ledger_locked(self):
        self.frozen_at("sink.after_ledger")

    def test_frozen_between_commit_and_word_to_the_group(self):
        self.frozen_at("sink.after_commit")

    def test_of_another_group_is_fenced_by_name(self):
        """Kafka cannot tell it: the ledger does."""
        with self.feeder() as feeder:
            zombie = self.start_on("a")
            self.wait_for_progress(zombie, 2000)
            self.freeze_in_an_epoch(zombie)
            heir = self.start_on("b", "--set", f"source.group.id={self.name}-other")
            self.wait_for_owners(heir, least=PARTITIONS)
            self.wait_for_progress(heir, 2000)
            zombie.child.send_signal(signal.SIGCONT)
            zombie.wait(STOP_SECONDS)
            self.assert_fenced(zombie, heir)
        self.end_and_audit(heir, count=feeder.count)


class ZombieWithAKey(Freezing):
    """The heir writes the very keys that the frozen process has written and not committed: it must not wait."""

    key = PRIMARY_KEY

    def test_with_rows_written(self):
        self.frozen("b")

    def test_with_rows_written_and_the_row_of_the_ledger_locked(self):
        self.frozen_at("sink.after_ledger")


if __name__ == "__main__":
    unittest.main()
