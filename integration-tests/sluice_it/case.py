"""What the test files share: servers once a file, and a topic, a database and a folder for each test."""

import json
import os
import random
import re
import sqlite3
import time
import unittest
import zlib
from contextlib import closing

from . import children, job, oracle, produce
from .kafka import Kafka
from .mysql import Mariadb, Mysql
from .postgres import Postgres
from .process import DONE, PROBLEM, Run, call
from .wait import wait_until

ORDERS = "id bigint{key}, customer int, amount numeric(12,2), status text, note text, ts bigint"
PRIMARY_KEY = " primary key"


class Servers:
    """Started on first use, stopped by the end of the process; a test that kills one starts it again."""

    def __init__(self):
        self._kafka = self._postgres = self._mysql = self._mariadb = None

    @property
    def kafka(self):
        self._kafka = self._kafka or Kafka().start()
        return self._kafka

    @property
    def postgres(self):
        self._postgres = self._postgres or Postgres().start()
        return self._postgres

    @property
    def mysql(self):
        self._mysql = self._mysql or Mysql().start()
        return self._mysql

    @property
    def mariadb(self):
        self._mariadb = self._mariadb or Mariadb().start()
        return self._mariadb


servers = Servers()


def scale(variable, default):
    """A size that a longer run raises through the environment."""
    return int(os.environ.get(variable, default))


def orders_table(table="orders", key=PRIMARY_KEY):
    return f"create table {oracle.quoted(table)} ({ORDERS.format(key=key)})"


class Case(unittest.TestCase):
    """Names are made from the test's own, so that tests share servers and nothing else."""

    maxDiff = 2000

    def setUp(self):
        self.name = re.sub(r"[^a-z0-9]+", "-", self.id().split(".", 1)[-1].lower()).strip("-")
        if len(self.name) > 60:  # short enough for every server, and another one for every test
            self.name = f"{self.name[-51:].strip('-')}-{zlib.crc32(self.name.encode()):08x}"
        self.folder = children.scratch(self.name)
        self.log = self.folder / "sluice.log"
        self.topic = self.name
        self.kafka = servers.kafka
        self._runs = []
        seed = scale("SLUICE_IT_SEED", random.SystemRandom().randrange(1 << 31))
        self.random = random.Random(seed)
        self.seed = f"repeat with SLUICE_IT_SEED={seed}"

    def tearDown(self):
        for run in self._runs:
            if run.running():
                run.kill()

    def create_topic(self, partitions=4, **settings):
        self.kafka.admin.create_topic(self.topic, partitions, **settings)

    def produce(self, count, **how):
        produce.orders(self.kafka, self.topic, count, **how)

    def produce_lines(self, lines, partition=0):
        produce.lines(self.kafka, self.topic, partition, lines)

    def end_offsets(self, partitions=4):
        return {partition: self.kafka.admin.end_offset(self.topic, partition) for partition in range(partitions)}

    def write_job(self, sink, /, **changes):
        return job.write(
            job.kafka_job(self.name[:64], self.kafka, self.topic, sink, **changes), self.folder / "job.json"
        )

    def start(self, *arguments, fault=None, env=None):
        run = Run(*arguments, log=self.log, cwd=self.folder, fault=fault, env=env)
        self._runs.append(run)
        return run

    def run_bounded(self, job_file, code=DONE, seconds=120, **how):
        """Runs to the end offsets seen at start and expects this exit code."""
        run = self.start("run", job_file, "--bounded", **how)
        ended = run.wait(seconds)
        self.assertEqual(ended, code, f"exit code; {self.seed}; sluice said:\n{run.output()[-4000:]}")
        return run

    def kill_at_random(self, job_file, times, longest=1.5):
        """Starts the job so many times and kills it -9 after a tenth of a second to `longest`, if it still runs then."""
        for _ in range(times):
            run = self.start("run", job_file, "--bounded")
            until = time.monotonic() + self.random.uniform(0.1, longest)
            self.wait_until(lambda: not run.running() or time.monotonic() >= until, "the moment to kill")
            run.kill()

    def call(self, *arguments, code=DONE):
        ended, out, said = call(*arguments, cwd=self.folder)
        self.assertEqual(ended, code, f"exit code of sluice {' '.join(map(str, arguments))}; it said:\n{out}{said}")
        return out + said

    def finding(self, severity, *parts, job_file=None, code=None):
        """What `check` finds of this severity and in these words: exactly one thing."""
        code = PROBLEM if code is None and severity == "problem" else code or 0
        told = json.loads(self.call("check", job_file or self.write_job(self.sink()), "--json", code=code))
        found = [
            one
            for one in told["findings"]
            if one["severity"] == severity and all(part in one["text"] + one.get("next_step", "") for part in parts)
        ]
        self.assertEqual(len(found), 1, f"{severity} {parts} in {json.dumps(told, indent=1)}")
        self.assertEqual(told["guarantee"], "no guarantee" if code == PROBLEM else "exactly-once")
        return found[0]

    def wait_until(self, condition, what, seconds=60):
        return wait_until(condition, f"{what} ({self.seed}; log {self.log})", seconds)

    def assert_clean(self, audit):
        self.assertTrue(audit.clean(), f"{audit}; {self.seed}; sluice said:\n{self.log_text()[-3000:]}")

    def log_text(self):
        return self.log.read_text(encoding="utf-8", errors="replace") if self.log.exists() else ""


class ServerCase(Case):
    """On a database server: a subclass says which, and how to ask its ledger."""

    def sql(self, statement):
        return self.server.sql(statement, self.database)

    def committed(self):
        """Sum of the ledger's positions; 0 before there is a ledger."""
        return sum(self.positions().values()) if self.ledger_exists() else 0

    def wait_for_commits(self, run, total, seconds=60):
        """Until the ledger says that this many records are in."""
        self.wait_until(lambda: self._alive(run) and self.committed() >= total, f"{total} records to be in", seconds)

    def wait_for_progress(self, run, records, seconds=60):
        """Until this many more are in than now; for tests that are fed without end."""
        self.wait_for_commits(run, self.committed() + records, seconds)

    def wait_until_caught_up(self, run, seconds=60):
        ends = self.end_offsets()
        self.wait_until(
            lambda: self._alive(run) and self.ledger_exists() and self.positions() == ends,
            f"the ledger to say {ends}",
            seconds,
        )

    def _alive(self, run):
        self.assertTrue(run.running(), f"sluice ended with {run.child.returncode}; it said:\n{run.output()[-3000:]}")
        return True


class PostgresCase(ServerCase):
    def setUp(self):
        super().setUp()
        self.server = servers.postgres
        self.database = self.server.create_database(self.name[-60:])

    def create_orders(self, key=PRIMARY_KEY):
        self.sql(orders_table(key=key))

    def sink(self, table="orders", **changes):
        return job.postgres_sink(self.server, self.database, table, **changes)

    def count(self, table="orders"):
        return int(self.sql(f"select count(*) from {oracle.quoted(table)}")[0][0])

    def positions(self):
        """What the ledger says: {partition: next offset}."""
        return {
            int(partition): int(offset)
            for partition, offset in self.sql("select partition, next_offset from sluice_ledger")
        }

    def ledger_exists(self):
        return self.sql("select to_regclass('sluice_ledger') is not null")[0][0] == "t"

    def audit_orders(self, table="orders"):
        expected = list(oracle.topic_rows(self.kafka, self.topic))
        self.assert_clean(oracle.Audit(expected, oracle.postgres_rows(self.server, self.database, table)))
        return len(expected)


class SqliteCase(Case):
    def setUp(self):
        super().setUp()
        self.database = self.folder / "orders.db"

    def execute(self, statement):
        with closing(sqlite3.connect(self.database)) as link, link:
            return link.execute(statement).fetchall()

    def sink(self, table="orders", **changes):
        return job.sqlite_sink(self.database, table, **changes)

    def audit_orders(self, table="orders"):
        expected = list(oracle.topic_rows(self.kafka, self.topic))
        self.assert_clean(oracle.Audit(expected, oracle.sqlite_rows(self.database, table)))
        return len(expected)


class MysqlCase(ServerCase):
    """A subclass says on which of the two servers."""

    find_server = None

    def setUp(self):
        super().setUp()
        self.server = self.find_server()
        self.database = self.server.create_database(self.name[-60:])

    def create_orders(self, key=PRIMARY_KEY):
        self.sql(f"create table orders ({ORDERS.format(key=key).replace('status text', 'status varchar(20)')})")

    def sink(self, table="orders", options="", **changes):
        return job.mysql_sink(self.server, self.database, table, options, **changes)

    def positions(self):
        found = self.sql("select `partition`, next_offset from sluice_ledger")
        return {int(partition): int(offset) for partition, offset in found}

    def ledger_exists(self):
        return self.sql("show tables like 'sluice_ledger'") != []

    def audit_orders(self, table="orders"):
        expected = list(oracle.topic_rows(self.kafka, self.topic))
        self.assert_clean(oracle.Audit(expected, self.server.rows(table, oracle.COLUMNS, self.database)))
        return len(expected)
