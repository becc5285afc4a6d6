"""Servers and connections that do not fail but hang: nothing answers, nothing is closed. The job goes on by itself.

They hang for longer than a member may stay away from its consumer group (max.poll.interval.ms). In CI that is 10 s, and
the database hangs for 25 s; SLUICE_IT_HANG_SECONDS=360 takes Sluice's own 5 minutes. SLUICE_IT_BROKER_HANG_SECONDS=120
makes the broker hang for longer than 20 s."""

import os
import signal
import time
import unittest
from pathlib import Path

from sluice_it.case import MysqlCase, PostgresCase, orders_table, scale, servers
from sluice_it.chaos import PatientFeeder
from sluice_it.kafka import Kafka
from sluice_it.no_brokers import NoBrokers
from sluice_it.process import DONE, Run
from sluice_it.proxy import BOTH, TO_CLIENT, TO_SERVER, Proxy

DEFAULT_POLL_SECONDS = 300
HANG_SECONDS = scale("SLUICE_IT_HANG_SECONDS", 25)
BROKER_HANG_SECONDS = scale("SLUICE_IT_BROKER_HANG_SECONDS", 20)
POLL_SECONDS = DEFAULT_POLL_SECONDS if HANG_SECONDS > DEFAULT_POLL_SECONDS else 10
SESSION_SECONDS = 6
# A statement may take so long; whoever waits longer for the database waits in vain.
STATEMENT_SECONDS = 5
# From the end of the hang to new rows: the session in the group, if it was lost, and a restart.
AGAIN_SECONDS = SESSION_SECONDS + 20
PARTITIONS = 4


class Frozen:
    """A server none of whose processes runs: its sockets are open, and nobody is behind them."""

    def __init__(self, parent):
        self.parent = parent

    def __enter__(self):
        # The parent first, so that it cannot start others meanwhile.
        self.pids = [self.parent]
        os.kill(self.parent, signal.SIGSTOP)
        self.pids += children_of(self.parent)
        for pid in self.pids[1:]:
            os.kill(pid, signal.SIGSTOP)
        return self

    def __exit__(self, *_):
        for pid in reversed(self.pids):
            os.kill(pid, signal.SIGCONT)


def children_of(parent):
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                stat = (folder / "stat").read_text(encoding="utf-8")
            except OSError:
                continue  # it ended meanwhile
            if int(stat.rpartition(")")[2].split()[1]) == parent:
                found.append(int(folder.name))
    return found


class Hangs:
    """On each database; a subclass says which."""

    def setUp(self):
        super().setUp()
        self.create_orders(key="")
        self.create_topic(PARTITIONS)
        self.url = self.server.url(self.database)
        self.job_file = self.write()

    def write(self, **changes):
        properties = {
            "session.timeout.ms": str(SESSION_SECONDS * 1000),
            "heartbeat.interval.ms": "1000",
            "max.poll.interval.ms": str(POLL_SECONDS * 1000),
        }
        return self.write_job(
            self.sink(**{"connection.url": self.url}),
            source={"properties": properties},
            # With a pause between commits an epoch is open most of the time.
            checkpoint={"interval": "400ms", "min.pause": "150ms", **changes},
        )

    def feeder(self):
        """A patient one: the broker may hang as well."""
        return PatientFeeder(self.kafka, self.topic, PARTITIONS, self.random)

    def start_on(self, host, *arguments):
        folder = self.folder / host
        folder.mkdir(exist_ok=True)
        run = Run("run", self.job_file, *arguments, log=folder / f"process-{len(self._runs)}.log", cwd=folder)
        self._runs.append(run)
        return run

    def log_text(self):
        return "".join(f"--- {run.log}:\n{run.output()[-4000:]}\n" for run in self._runs)

    def pass_time(self, seconds, *runs):
        """The hang itself is the condition here; whoever ends meanwhile has failed."""
        over = time.monotonic() + seconds
        self.wait_until(lambda: all(map(self._alive, runs)) and time.monotonic() >= over, "time to pass", seconds + 5)

    def wait_until_it_goes_on(self, *runs, seconds=AGAIN_SECONDS):
        held = self.committed()
        self.wait_or_tell(lambda: self.committed() > held + 1000, "new rows", seconds, runs)

    def wait_or_tell(self, condition, what, seconds, runs):
        """A failure comes with the positions and with every process's log."""
        try:
            self.wait_until(lambda: all(map(self._alive, runs)) and condition(), what, seconds)
        except AssertionError as failure:
            where = f"the topic ends at {self.end_offsets()}, the ledger says {self.positions()}"
            raise AssertionError(f"{failure}; {where}\n{self.log_text()}") from None

    def end_and_audit(self, *runs):
        ends = self.end_offsets()
        self.wait_or_tell(lambda: self.positions() == ends, f"the ledger to say {ends}", 60, runs)
        for run in runs:
            self.assertEqual(run.terminate(), DONE, run.output()[-3000:])
        self.audit()

    def audit(self):
        self.run_bounded(self.job_file)
        self.assertGreater(self.audit_orders(), 3000, "too little happened")


    def hangs(self, server, seconds, processes, said):
        with self.feeder():
            runs = [self.start_on("ab"[number % 2]) for number in range(processes)]
            self.wait_for_progress(runs[0], 2000)
            with Frozen(server.process.pid):
                self.pass_time(seconds, *runs)
            # The client library may be waiting before its next try to connect, or for an answer that never came.
            self.wait_until_it_goes_on(*runs, seconds=AGAIN_SECONDS if server is self.server else 90)
        self.end_and_audit(*runs)
        for run in runs:
            told = run.output().lower()
            self.assertTrue(any(word in told for word in said), f"the log says none of {said}:\n{run.output()[-3000:]}")


class Server(Hangs, PostgresCase):
    """F34, F63."""

    def test_database(self):
        self.hangs(self.server, HANG_SECONDS, 1, ["postgres"])

    def test_database_of_two_processes(self):
        self.hangs(self.server, HANG_SECONDS, 2, ["postgres"])

    def test_broker(self):
        self.hangs(self.kafka, BROKER_HANG_SECONDS, 1, ["broker", "coordinator", "kafka"])

    def test_broker_of_two_processes(self):
        self.hangs(self.kafka, BROKER_HANG_SECONDS, 2, ["broker", "coordinator", "kafka"])

    def test_database_while_the_process_is_asked_to_stop(self):
        """F64: it cannot commit, but it must not wait for ever either; whatever it does, nothing is lost."""
        with self.feeder():
            run = self.start_on("a")
            self.wait_for_progress(run, 2000)
            with Frozen(self.server.process.pid):
                run.child.send_signal(signal.SIGTERM)
                self.pass_time(5)
            self.assertEqual(run.wait(AGAIN_SECONDS), DONE, run.output()[-3000:])
        self.audit()


class MysqlHangs(Hangs):
    """The client library waits inside a call, LOAD DATA or INSERT, and nothing of ours can wake it."""

    def test_database(self):
        self.hangs(self.server, HANG_SECONDS, 1, ["the connection to the server broke"])

    def test_database_without_local_infile(self):
        self.url = self.server.url(self.database, options="?local-infile=0")
        self.job_file = self.write()
        self.hangs(self.server, HANG_SECONDS, 1, ["the connection to the server broke"])


class Mysql(MysqlHangs, MysqlCase):
    find_server = staticmethod(lambda: servers.mysql)


class Mariadb(MysqlHangs, MysqlCase):
    find_server = staticmethod(lambda: servers.mariadb)


class ComingBack(PostgresCase):
    """The broker serves clients already, but says that the cluster has no brokers. librdkafka then forgets the one it
    knew and, in some orders of events, never looks for another (confluentinc/librdkafka#5301)."""

    ROUNDS = 40  # it depends on the order of two threads of librdkafka, and happens in most rounds

    def test_broker_that_knows_no_brokers(self):
        self.kafka = Kafka(proxied=True).start()
        self.addCleanup(self.kafka.stop)
        said = self.kafka.proxy.talk = NoBrokers()
        self.sql(orders_table(key=""))
        self.create_topic(PARTITIONS)
        # It asks so often that it does within each round.
        source = {"bootstrap.servers": self.kafka.proxy.address, "partition.discovery.interval": "10ms"}
        run = self.start("run", self.write_job(self.sink(), source=source))
        count = 0
        for _ in range(self.ROUNDS):
            self.produce(1000, first=count)
            count += 1000
            self.wait_until(lambda: self.committed() == count, f"{count} rows", AGAIN_SECONDS)
            if "the Kafka client has lost all brokers; beginning again" in run.output():
                break
            said.left = 1
            self.wait_until(lambda: said.left == 0, "the word that there are no brokers")
        else:
            self.fail("it was not put to the test")
        self.assertIsNone(self.kafka.proxy.failure)
        self.assertEqual(run.terminate(), DONE, run.output()[-3000:])
        self.assertEqual(self.audit_orders(), count)


class Connection(Hangs, PostgresCase):
    """The database is well; the way to it is not. The process's connections lead through a proxy."""

    def setUp(self):
        super().setUp()
        self.proxy = Proxy(self.server.port)
        self.addCleanup(self.proxy.close)
        self.url = self.proxy.url(self.url)
        self.job_file = self.write(timeout=f"{STATEMENT_SECONDS}s")

    def lost(self, trouble, seconds, heals):
        """`trouble` befalls the connections of a process at work."""
        with self.feeder():
            run = self.start_on("a")
            self.wait_for_progress(run, 2000)
            trouble()
            if heals:
                self.pass_time(seconds, run)
                self.proxy.heal()
            self.wait_until_it_goes_on(run)
        self.end_and_audit(run)

    def test_stalls_and_comes_back(self):
        """What was under way arrives in the end, a COMMIT included."""
        for directions in (BOTH, (TO_SERVER,), (TO_CLIENT,)):
            with self.subTest(directions=directions):
                self.lost(lambda: self.proxy.stall(directions), POLL_SECONDS + 3, heals=True)
                self.sql("truncate orders; delete from sluice_ledger")
                self.topic += "-next"
                self.create_topic(PARTITIONS)
                self.job_file = self.write(timeout=f"{STATEMENT_SECONDS}s")

    def test_half_open_until_it_is_reset(self):
        for directions in (BOTH, (TO_SERVER,), (TO_CLIENT,)):
            with self.subTest(directions=directions):
                self.lost(lambda: self.proxy.half_open(directions), POLL_SECONDS + 3, heals=True)
                self.sql("truncate orders; delete from sluice_ledger")
                self.topic += "-next"
                self.create_topic(PARTITIONS)
                self.job_file = self.write(timeout=f"{STATEMENT_SECONDS}s")

    def test_half_open_for_ever(self):
        """Nobody ever says that the connection is gone. New ones pass, so the job can do without the old one."""
        self.lost(lambda: self.proxy.half_open(), 0, heals=False)

    def test_answers_lost_for_ever(self):
        """The server has done what it was told, a COMMIT included; the answer never comes."""
        self.lost(lambda: self.proxy.half_open((TO_CLIENT,)), 0, heals=False)

    def test_half_open_for_one_of_two_processes(self):
        """It keeps its place in the group, as it would if the database were gone; the other one must not be held up,
        by the locks of the first one least of all."""
        direct = ("--set", f"sink.connection.url={self.server.url(self.database)}")
        with self.feeder():
            cut_off = self.start_on("a")
            self.wait_for_progress(cut_off, 2000)
            other = self.start_on("b", *direct)
            self.wait_until(lambda: len(self.owners()) == 2, "both to own partitions", 30)
            self.proxy.half_open(new=True)
            self.pass_time(POLL_SECONDS + 3, cut_off, other)
            self.wait_until_it_goes_on(cut_off, other)
            self.proxy.heal()
        self.end_and_audit(cut_off, other)

    def owners(self):
        rows = self.sql(
            "select substring(owner from 'pid=([0-9]+)')::int, count(*) from sluice_ledger "
            "where owner is not null group by 1"
        )
        return {int(owner): int(count) for owner, count in rows}


if __name__ == "__main__":
    unittest.main()
