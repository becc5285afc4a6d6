"""A job in several processes under load, and troubles of all kinds at moments that come from a seed alone.

What happens when is drawn before anything runs (`schedule`), so that a seed replays it; only the computer's own timing
differs. The audit at the end is the oracle's."""

import collections
import random
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from . import children, job, oracle, process, produce
from .case import ORDERS
from .kafka import Kafka
from .postgres import Postgres
from .proxy import BOTH, TO_CLIENT, TO_SERVER, Proxy
from .wait import wait_until

SESSION_SECONDS = 6
POLL_SECONDS = 15
# In what time everything must be in once nothing disturbs any more: a member that is gone is missed after a session,
# and who was kicked out of the group while it waited comes back after that.
HEALED_SECONDS = 120
# A supervisor waits this long before it starts a fenced process again.
AGAIN_AFTER = 0.5
COLUMNS = [{"name": name, "from": name} for name in oracle.COLUMNS]
# Where a row came from, so that one that is there twice can be traced.
PLACE = [{"name": "part", "from": "@partition"}, {"name": "place", "from": "@offset"}]


@dataclass(frozen=True)
class Action:
    at: float
    target: str
    what: str
    number: float = 0
    directions: tuple = ()

    def __str__(self):
        number = f" {self.number:.0f} ms" if self.what == "delay" else ""
        directions = f" {' and '.join(self.directions)}" if self.directions else ""
        return f"{self.at:7.2f} s  {self.target}: {self.what}{number}{directions}"


def schedule(seed, seconds, processes):
    """The timed actions, in their order. Each target has a life of its own, and its troubles meet those of others."""
    actions = []
    for number in range(processes):
        actions += _process_life(random.Random(f"{seed} process {number}"), seconds, f"process {number}")
    for server in ("database", "broker"):
        actions += _server_life(random.Random(f"{seed} {server}"), seconds, server)
        actions += _network_life(random.Random(f"{seed} network of the {server}"), seconds, f"network of the {server}")
    return sorted(actions, key=lambda action: (action.at, action.target))


def _process_life(chance, seconds, target):
    at = chance.uniform(0, 3)
    yield Action(at, target, "start")
    while True:
        at += chance.uniform(2, 12)
        what = chance.choices(["kill -9", "pause", "terminate"], [4, 4, 3])[0]
        # Shorter and longer than the session in the group: others take over or they do not.
        gone = chance.choice([0.05, chance.uniform(0.2, 3), chance.uniform(SESSION_SECONDS + 0.5, 2 * SESSION_SECONDS)])
        back = "start"
        if what == "pause":
            back = chance.choices(["resume", "kill -9"], [5, 1])[0]
        if at + gone > seconds:
            return
        yield Action(at, target, what)
        at += gone
        yield Action(at, target, back)
        if back == "kill -9":
            at += chance.uniform(0.05, 3)
            yield Action(at, target, "start")


def _server_life(chance, seconds, target):
    # A broker takes some seconds to start, and nothing moves without it.
    least, most = (12, 40) if target == "database" else (25, 60)
    at = chance.uniform(5, 20)
    while True:
        gone = chance.choice([0, chance.uniform(0, 4)])
        if at + gone > seconds:
            return
        yield Action(at, target, "stop immediately" if target == "database" else "kill -9")
        yield Action(at + gone, target, "start")
        at += gone + chance.uniform(least, most)


def _network_life(chance, seconds, target):
    at = chance.uniform(2, 10)
    while True:
        what = chance.choice(["reset", "forget", "delay", "stall", "half-open", "half-open, new ones too", "refuse"])
        lasts = chance.choice([chance.uniform(0.3, 3), chance.uniform(3, 8), chance.uniform(8, POLL_SECONDS + 5)])
        number = chance.uniform(2, 100) if what == "delay" else 0
        directions = ()
        if what.startswith(("forget", "stall", "half-open")):
            directions = chance.choice([BOTH, (TO_SERVER,), (TO_CLIENT,)])
        if at + lasts > seconds:
            return
        yield Action(at, target, what, number, directions)
        if what in ("reset", "forget"):
            lasts = 0
        else:
            yield Action(at + lasts, target, "heal")
        at += lasts + chance.uniform(2, 12)


class PatientFeeder(produce.Feeder):
    """Goes on when the broker is gone. What kcat had sent until then is sent again: both are records of the topic, and
    both must be in the table."""

    def __init__(self, kafka, topic, partitions, chance):
        super().__init__(kafka, topic, partitions=partitions)
        self.interrupted = 0
        self._chance = chance

    def _feed(self):
        try:
            while not self._stop.is_set():
                size = self._chance.choice([400, 400, 2000, 10000])
                try:
                    produce.orders(self._kafka, self._topic, size, first=self.count, partitions=self._partitions)
                    self.count += size
                except (RuntimeError, BrokenPipeError):
                    self.interrupted += 1
                self._stop.wait(self._chance.uniform(0, 1))
        except Exception as failure:  # carried over to the main thread
            self._failure = failure


class ChaosFailed(AssertionError):
    pass


class Supervised:
    """A process of the binary that is started again as a supervisor would, and is stopped, killed and frozen.

    `happened(what, count)` is told what it did by itself."""

    def __init__(self, name, job_file, folder, log, happened):
        self.name, self.job_file, self.folder, self.log = name, job_file, folder, log
        self.longest_stop = 0.0
        self._happened = happened
        self._run = None
        self._wanted = self._killed = False
        self._terminated_at = None
        self._again_at = 0.0

    def perform(self, what):
        if what == "start":
            self._wanted, self._again_at = True, 0.0
        elif what == "kill -9":
            self._wanted = False
            self._signal(signal.SIGKILL)
        elif what == "terminate":
            self._wanted = False
            self._signal(signal.SIGTERM)
        else:
            self._signal({"pause": signal.SIGSTOP, "resume": signal.SIGCONT}[what])
        self.watch()

    def heal(self):
        """Awake, and to be kept running."""
        self._signal(signal.SIGCONT)
        self._wanted = True

    def watch(self):
        """Judges an end, starts what should run; says whether it runs."""
        if self._run is not None and not self._run.running():
            self._judge(self._run.child.returncode)
            self._run = None
        if self._run is None and self._wanted and time.monotonic() >= self._again_at:
            self._run = process.Run("run", self.job_file, log=self.log, cwd=self.folder)
            self._killed, self._terminated_at = False, None
        return self._run is not None

    def end(self):
        self._wanted = False
        if self._run is not None:
            self._run.kill()

    def told(self):
        if not self.log.exists():
            return ""
        text = self.log.read_text(encoding="utf-8", errors="replace")
        return f"--- {self.name}, {self.log}:\n{text[-5000:]}\n"

    def _signal(self, number):
        # Between its end as fenced and the next start there is nobody to send it to.
        if self._run is None or not self._run.running():
            return
        self._killed = self._killed or number == signal.SIGKILL
        if number == signal.SIGTERM:
            if self._terminated_at is not None:
                return  # it is on its way out; a second one would end it where it stands, with another exit code
            self._terminated_at = time.monotonic()
        self._run.child.send_signal(number)

    def _judge(self, code):
        if self._killed and code == process.KILLED:
            return
        if code == process.FENCED:
            self._happened(f"{self.name}: fenced", "process: fenced by another one")
            self._again_at = time.monotonic() + AGAIN_AFTER
            return
        if self._terminated_at is not None and code == -signal.SIGTERM and not self._run.output():
            self._happened(f"{self.name}: ended before it had begun", "process: ended before it had begun")
            return
        if self._terminated_at is not None and code == process.DONE:
            took = time.monotonic() - self._terminated_at
            self.longest_stop = max(self.longest_stop, took)
            self._happened(f"{self.name}: ended in order, {took:.1f} s after it was asked", "process: ended in order")
            return
        raise ChaosFailed(f"{self.name} ended with {code}, which nothing that was done to it explains\n{self.told()}")


class Chaos:
    def __init__(self, *, seed, seconds, processes=3, partitions=8, say=print):
        self.seed, self.seconds, self.partitions = seed, seconds, partitions
        self.counts = collections.Counter()
        self.audit = None
        self.committed_before_healing = 0
        self._say_line = say
        self._begin = self._healed_at = time.monotonic()
        self._actions = schedule(seed, seconds, processes)
        self.folder = children.scratch("chaos")
        self.kafka = Kafka(proxied=True).start()
        self.postgres = Postgres().start()
        self.networks = {"broker": self.kafka.proxy, "database": Proxy(self.postgres.port)}
        # The kernel ends a child with the thread that started it, so these threads must live as long as the servers.
        self._hands = {name: ThreadPoolExecutor(1, name) for name in ("broker", "database")}
        self._errands = []
        self._looked_at = 0
        self.topic = self.database = "chaos"
        self.processes = {}
        self._prepare(processes)

    def _prepare(self, processes):
        self.postgres.create_database(self.database)
        self._sql(f"create table orders ({ORDERS.format(key='')}, part int, place bigint)")
        self.kafka.admin.create_topic(self.topic, self.partitions)
        url = self.networks["database"].url(self.postgres.url(self.database))
        sink = job.postgres_sink(self.postgres, self.database, columns=COLUMNS + PLACE, **{"connection.url": url})
        settings = {
            "session.timeout.ms": str(SESSION_SECONDS * 1000),
            "heartbeat.interval.ms": "1000",
            "max.poll.interval.ms": str(POLL_SECONDS * 1000),
        }
        self.job_file = job.write(
            job.kafka_job(
                "chaos",
                self.kafka,
                self.topic,
                sink,
                source={"bootstrap.servers": self.kafka.proxy.address, "properties": settings},
                # With a pause between commits an epoch is open most of the time, so that most troubles meet one.
                checkpoint={"interval": "400ms", "min.pause": "150ms", "timeout": "10s"},
            ),
            self.folder / "job.json",
        )
        for number in range(processes):
            # Two state directories, as on two hosts.
            host = self.folder / f"host-{'ab'[number % 2]}"
            host.mkdir(exist_ok=True)
            name = f"process {number}"
            self.processes[name] = Supervised(name, self.job_file, host, host / f"process-{number}.log", self._happened)

    def run(self):
        """Returns the audit. Raises ChaosFailed where a process ended as it must not, or stood still."""
        self._say_line(f"schedule of seed {self.seed}, {self.seconds} s:")
        for action in self._actions:
            self._say_line(f"  {action}")
        with PatientFeeder(self.kafka, self.topic, self.partitions, random.Random(f"{self.seed} feeder")) as feeder:
            self._begin = time.monotonic()
            try:
                for action in self._actions:
                    self._watch_until(self._begin + action.at)
                    self._perform(action)
                self._watch_until(self._begin + self.seconds)
                self.committed_before_healing = self._committed()
            finally:
                # The feeder needs the broker to come to its end.
                self._heal()
        self.counts["interrupted by the broker's absence: producer"] = feeder.interrupted
        self._finish()
        return self.audit

    def _perform(self, action):
        kind = "network" if action.target.startswith("network") else action.target.split()[0]
        self.counts[f"{kind}: {action.what}"] += 1
        self._say(f"{action.target}: {str(action).split(': ', 1)[1]}")
        if kind == "process":
            self.processes[action.target].perform(action.what)
        elif kind == "network":
            self._disturb(self.networks[action.target.split()[-1]], action)
        elif action.what == "start":
            self._send(action.target, self._server(action.target).start)
        elif action.target == "database":
            self._send(action.target, self.postgres.stop_immediately)
        else:
            self._send(action.target, self.kafka.kill)

    def _server(self, target):
        return self.postgres if target == "database" else self.kafka

    def _send(self, target, errand):
        self._errands.append(self._hands[target].submit(errand))

    @staticmethod
    def _disturb(network, action):
        if action.what == "delay":
            network.delay(action.number)
        elif action.what in ("stall", "forget"):
            getattr(network, action.what)(action.directions)
        elif action.what.startswith("half-open"):
            network.half_open(action.directions, new="new" in action.what)
        else:
            getattr(network, action.what)()

    def _watch_until(self, moment):
        while True:
            self._watch()
            left = moment - time.monotonic()
            if left <= 0:
                return
            time.sleep(min(left, 0.05))

    def _watch(self):
        for each in self.processes.values():
            each.watch()
        if time.monotonic() - self._looked_at > 2:
            self._look()
            self._looked_at = time.monotonic()

    def _look(self):
        """As any reader may at any moment: no transactions and no compaction, so rows and positions must be equal."""
        try:
            found = self._sql("select (select count(*) from orders), (select sum(next_offset) from sluice_ledger)")
        except RuntimeError:
            return  # the database is away, or there is no ledger yet
        rows, positions = found[0]
        self.counts["looked at the table"] += 1
        if int(rows) != int(positions or 0):
            raise ChaosFailed(f"the table holds {rows} rows where the ledger says {positions}\n{self._told()}")

    def _heal(self):
        for errand in self._errands:
            errand.result()
        for network in self.networks.values():
            network.heal()
        for target in self._hands:
            server = self._server(target)
            if server.process.poll() is not None:
                server.start()
        for each in self.processes.values():
            each.heal()
        self._healed_at = time.monotonic()
        self._say("everything is whole again")

    def _finish(self):
        ends = {partition: self.kafka.admin.end_offset(self.topic, partition) for partition in range(self.partitions)}

        def all_in():
            self._watch()
            return self._positions() == ends

        try:
            wait_until(all_in, f"the processes to go on by themselves up to {ends}", HEALED_SECONDS)
        except AssertionError as failure:
            raise ChaosFailed(f"{failure}, the ledger says {self._positions()}\n{self._told()}") from None
        self._say(f"all in {time.monotonic() - self._healed_at:.1f} s after that")
        for each in self.processes.values():
            each.perform("terminate")
        wait_until(lambda: not any(each.watch() for each in self.processes.values()), "the processes to end", 30)
        self._say(f"the longest stop took {max(each.longest_stop for each in self.processes.values()):.1f} s")
        bounded = process.Run("run", self.job_file, "--bounded", log=self.folder / "bounded.log", cwd=self.folder)
        if bounded.wait() != process.DONE:
            raise ChaosFailed(f"the bounded run ended with {bounded.child.returncode}:\n{bounded.output()[-3000:]}")
        self._look()
        expected = oracle.topic_rows(self.kafka, self.topic)
        self.audit = oracle.Audit(expected, oracle.postgres_rows(self.postgres, self.database))
        self.counts["splits taken over"] = int(self._sql("select sum(generation) from sluice_ledger")[0][0])
        if not self.audit.clean():
            twice = self._sql(
                "select part, place, count(*) from orders group by part, place having count(*) > 1 limit 20"
            )
            self._say(f"{self.audit}; there more than once (partition, offset, times): {twice}")

    def close(self):
        for each in self.processes.values():
            each.end()
        self.kafka.kill()
        self.postgres.stop_immediately()
        for network in self.networks.values():
            network.close()
        for hand in self._hands.values():
            hand.shutdown()

    def _told(self):
        """The end of every process's log."""
        return "".join(each.told() for each in self.processes.values())

    def _positions(self):
        rows = self._sql("select partition, next_offset from sluice_ledger")
        return {int(partition): int(offset) for partition, offset in rows}

    def _committed(self):
        try:
            return sum(self._positions().values())
        except RuntimeError:
            return 0

    def _sql(self, statement):
        return self.postgres.sql(statement, self.database)

    def _happened(self, what, count=None):
        self.counts[count or what] += 1
        self._say(what)

    def _say(self, what):
        self._say_line(f"[{time.monotonic() - self._begin:7.2f}] {what}")
