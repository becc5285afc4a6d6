"""The image and docker-compose.yml, run as they are: every order once in the table, and no change by a second run.

Needs root, and Debian's packages, which it installs. Kafka and PostgreSQL are stand-ins that are built here, so that no
registry need be reachable. SLUICE_IT_FULL_BUILD=1 compiles Sluice inside the image instead of taking the built binary.
"""

import os
import random
import shutil
import time
import unittest

from containers.engine import HERE, Engine, say
from sluice_it import children, kafka, process
from sluice_it.case import scale
from sluice_it.wait import wait_until

ROOT = HERE.parent.parent
PROJECT = "sluice-it"
RECORDS = scale("SLUICE_IT_RECORDS", 20000)
PARTITIONS = 4
SLUICE, KAFKA, POSTGRES = (f"localhost/sluice-it-{name}:latest" for name in ("sluice", "kafka", "postgres"))
BROKER = ["--bootstrap-server", "kafka:9092", "--topic", "orders"]
TOOLS = "/opt/kafka/bin"
# Tools of the build inside the image would weigh several times as much.
MOST_MEGABYTES = 130


def build_images(engine):
    base = engine.base()
    on_base = ["--build-arg", f"BASE={base}"]
    if os.environ.get("SLUICE_IT_FULL_BUILD"):
        engine.build(SLUICE, ROOT, *on_base, seconds=3600)
    else:
        folder = children.scratch("image")
        children.run(["strip", "-o", folder / "sluice", process.binary()])
        engine.build(SLUICE, folder, "-f", ROOT / "Dockerfile", "--target", "prebuilt", *on_base)
    engine.build(POSTGRES, HERE / "postgres", *on_base)
    folder = shutil.copytree(HERE / "kafka", children.scratch("kafka-image") / "context")
    shutil.copytree(kafka.jars(), folder / "libs")
    engine.build(KAFKA, folder, *on_base)


class Compose:
    """docker-compose.yml of the project with the images of this test."""

    def __init__(self, engine):
        self.engine = engine
        seed = scale("SLUICE_IT_SEED", random.SystemRandom().randrange(1 << 31))
        say(f"seed of the password: {seed}; repeat with SLUICE_IT_SEED={seed}")
        self.password = f"secret-{random.Random(seed).getrandbits(64):x}"
        self.env = {
            **engine.env,
            "SLUICE_IMAGE": SLUICE,
            "KAFKA_IMAGE": KAFKA,
            "POSTGRES_IMAGE": POSTGRES,
            "POSTGRES_PASSWORD": self.password,
            "ORDERS": str(RECORDS),
        }

    def __call__(self, *arguments, seconds=300):
        command = ["docker-compose", "-p", PROJECT, "-f", ROOT / "docker-compose.yml", *arguments]
        return children.run(command, env=self.env, seconds=seconds).decode()

    def up(self):
        """Starts everything and waits for the end of the two services that end: {service: exit code}."""
        self("up", "--detach", "--no-build")
        return {service: self.engine.wait(self.container(service), 120) for service in ("producer", "sluice")}

    def container(self, service):
        """The name of a service's container, running or not; '' if there is none."""
        filters = [f"label=com.docker.compose.{key}" for key in (f"service={service}", "oneoff=False")]
        options = [option for one in filters for option in ("--filter", one)]
        return self.engine.podman("ps", "--all", *options, "--format", "{{.Names}}").strip()

    def logs(self):
        return "".join(
            f"--- {service}\n{self.engine.output('logs', '--tail=40', self.container(service))}"
            for service in ("kafka", "postgres", "producer", "sluice")
            if self.container(service)
        )


class Containers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        start = time.monotonic()
        cls.engine = Engine()
        cls.addClassCleanup(cls.engine.close)
        build_images(cls.engine)
        say(f"images ready after {time.monotonic() - start:.0f} s; starting the services")
        cls.compose = Compose(cls.engine)
        cls.addClassCleanup(cls.compose, "down", "--volumes", "--remove-orphans")
        try:
            cls.codes = cls.compose.up()
        except Exception:
            say(cls.compose.logs())
            raise
        say(f"the job ended after {time.monotonic() - start:.0f} s")

    def sql(self, statement):
        """Rows as lists of text."""
        psql = "psql -X -q -A -t -F | -v ON_ERROR_STOP=1 -U sluice -d shop -f -".split()
        container = self.compose.container("postgres")
        told = self.engine.podman("exec", "--interactive", container, *psql, text_in=statement.encode())
        return [line.split("|") for line in told.splitlines()]

    def records(self):
        """The values of the topic, as Kafka's own consumer shows them."""
        tool = [f"{TOOLS}/kafka-console-consumer.sh", *BROKER, "--from-beginning", "--max-messages", str(RECORDS)]
        return self.engine.podman("exec", self.compose.container("kafka"), *tool, "--timeout-ms", "20000")

    def audit(self):
        statement = (HERE / "audit.sql").read_text(encoding="utf-8").replace("{records}\n", self.records())
        found = {name: int(number) for name, number in self.sql(statement)}
        expected = dict.fromkeys(("produced", "produced ids", "rows", "ids", "ledger"), RECORDS)
        self.assertEqual(found, {**expected, "lost or changed": 0, "foreign or changed": 0}, self.compose.logs())

    def contents(self):
        """Changes with any row that is written, even with the same values, and with any position that moves."""
        table = "select count(*), md5(string_agg(concat_ws(' ', ctid, xmin, o), ',' order by ctid)) from orders o"
        return self.sql(f'{table}; select "partition", next_offset, epoch from sluice_ledger order by 1')

    def generations(self):
        return [
            int(generation) for (generation,) in self.sql('select generation from sluice_ledger order by "partition"')
        ]

    def test_every_order_is_there_once(self):
        self.assertEqual(self.codes, {"producer": 0, "sluice": 0}, self.compose.logs())
        self.audit()
        said = self.compose.logs()
        self.assertIn(f"{RECORDS:,} rows", said)
        self.assertNotIn(self.compose.password, said)

    def test_second_run_changes_nothing(self):
        before, generations = self.contents(), self.generations()
        self.assertEqual(len(generations), PARTITIONS)
        self.assertEqual(self.compose.up(), {"producer": 0, "sluice": 0}, self.compose.logs())
        # It did run: it took every partition over.
        self.assertEqual(self.generations(), [generation + 1 for generation in generations], self.compose.logs())
        self.assertEqual(self.contents(), before)
        self.audit()

    def test_stops_in_order(self):
        """As the first process of its container it gets SIGTERM, which by default would do nothing there."""
        before, generations = self.contents(), self.generations()
        name = f"{PROJECT}-endless"
        self.compose("run", "--detach", "--no-deps", "--name", name, "sluice", "run", "/etc/sluice/job.json")
        self.addCleanup(self.engine.podman, "rm", "--force", "--time=0", name)
        wait_until(
            lambda: all(now > then for now, then in zip(self.generations(), generations)),
            "the job to take its partitions over",
        )
        self.engine.podman("stop", "--time=60", name)
        said = self.engine.output("logs", name)
        self.assertEqual(self.engine.wait(name, 60), 0, said)
        self.assertEqual(self.sql("select count(owner) from sluice_ledger"), [["0"]], f"not released:\n{said}")
        self.assertEqual(self.contents(), before)

    def test_image_runs_without_rights(self):
        def run(program, *arguments):
            return self.engine.podman("run", "--rm", "--entrypoint", program, SLUICE, *arguments).strip()

        self.assertEqual(self.engine.inspect(SLUICE)["Config"]["User"], "10001:10001")
        self.assertEqual(run("id", "-u"), "10001")
        self.assertEqual(run("sh", "-c", "pwd; touch state && stat -c %U state"), "/var/lib/sluice\nsluice")
        # Beside what everybody may write to, such as /tmp.
        writable = "find / -xdev -not -path '/proc/*' -not -type l -writable -not -perm -o+w; true"
        self.assertEqual(run("sh", "-c", writable), "/var/lib/sluice")

    def test_image_is_small(self):
        size = self.engine.inspect(SLUICE)["Size"] / 1e6
        base = self.engine.inspect(self.engine.base())["Size"] / 1e6
        say(f"the image has {size:.0f} MB, of which {base:.0f} MB are Debian")
        self.assertLess(size, MOST_MEGABYTES)


if __name__ == "__main__":
    unittest.main()
