"""A real single-node Kafka (KRaft) of its own, on free ports."""

import fcntl
import re
import shutil
import signal
from pathlib import Path

from . import children
from .cache import cache
from .kafka_admin import Admin
from .proxy import Proxy
from .wait import wait_until

POM = Path(__file__).parent.parent / "servers" / "kafka" / "pom.xml"
VERSION = re.search(r"<artifactId>kafka_2.13</artifactId>\s*<version>([^<]+)<", POM.read_text()).group(1)
# A test broker lives for seconds: compiling its code thoroughly would cost more than it brings.
SHORT_LIVED = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"]
JAVA = ["java", "-Dlog4j2.level=WARN"]


def jars():
    """The folder with the broker's jars, fetched by Maven the first time."""
    folder = cache() / f"kafka-{VERSION}"
    with open(cache() / "kafka.lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            part = folder.with_suffix(".part")
            shutil.rmtree(part, ignore_errors=True)
            children.run(
                ["mvn", "-q", "-B", "-f", POM, "dependency:copy-dependencies", f"-DoutputDirectory={part}"], seconds=600
            )
            part.rename(folder)
    return folder


class Kafka:
    def __init__(self, jvm=SHORT_LIVED, proxied=False):
        """With `proxied` there is a second listener, whose clients are led through `proxy`."""
        self.jvm = jvm
        self.folder = children.scratch("kafka")
        self.port, self.controller_port = children.free_port(), children.free_port()
        self.address = f"127.0.0.1:{self.port}"
        self.proxy = Proxy(children.free_port()) if proxied else None
        self.admin = Admin(self.port)
        self.process = None
        self._classpath = str(jars() / "*")
        self._write_properties()
        cluster = "MkU3OEVBNTcwNTJENDM2Qg"
        children.run(
            [*JAVA, *SHORT_LIVED, "-cp", self._classpath, "kafka.tools.StorageTool", "format", "-t", cluster, "-c", self._properties]
        )

    def _write_properties(self):
        self._properties = self.folder / "server.properties"
        settings = {
            "process.roles": "broker,controller",
            "node.id": 1,
            "controller.quorum.voters": f"1@127.0.0.1:{self.controller_port}",
            "listeners": f"PLAINTEXT://{self.address},CONTROLLER://127.0.0.1:{self.controller_port}",
            "advertised.listeners": f"PLAINTEXT://{self.address}",
            "controller.listener.names": "CONTROLLER",
            "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
            "log.dirs": self.folder / "data",
            "auto.create.topics.enable": "false",
            "message.max.bytes": 16 * 1024 * 1024,
            "offsets.topic.replication.factor": 1,
            "offsets.topic.num.partitions": 1,
            "transaction.state.log.replication.factor": 1,
            "transaction.state.log.min.isr": 1,
            "transaction.state.log.num.partitions": 1,
            "share.coordinator.state.topic.replication.factor": 1,
            "share.coordinator.state.topic.min.isr": 1,
            "group.initial.rebalance.delay.ms": 0,
            "group.min.session.timeout.ms": 1000,
            # A killed broker may come back only when its old session is over.
            "broker.session.timeout.ms": 2000,
            "broker.heartbeat.interval.ms": 300,
            "log.cleaner.backoff.ms": 200,
            "log.initial.task.delay.ms": 200,
        }
        if self.proxy:
            settings["listeners"] += f",PROXIED://127.0.0.1:{self.proxy.target}"
            settings["advertised.listeners"] += f",PROXIED://{self.proxy.address}"
            settings["listener.security.protocol.map"] += ",PROXIED:PLAINTEXT"
        self._properties.write_text("".join(f"{key}={value}\n" for key, value in settings.items()), encoding="utf-8")

    @property
    def log(self):
        return self.folder / "log"

    def start(self):
        """Starts, or starts again with the same data and port; returns once clients are served."""
        command = [*JAVA, *self.jvm, "-Xmx768m", "-cp", self._classpath, "kafka.Kafka", self._properties]
        self.process = children.start(command, log=self.log)
        wait_until(self._serves, f"Kafka to serve on {self.address} (see {self.log})", 60)
        return self

    def _serves(self):
        if self.process.poll() is not None:
            raise AssertionError(f"Kafka exited with {self.process.returncode}:\n{self.log.read_text()[-3000:]}")
        if not children.port_answers(self.port):
            return False
        try:
            return self.admin.group_ready("sluice-it-probe")
        except (OSError, ConnectionError):
            return False

    def kill(self):
        """As a power cut of the broker's process."""
        self.process.kill()
        self.process.wait()

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(60)
