"""A container engine of the test's own: podman with its images in the cache and everything else in a folder of its own,
so that nothing that others run with podman on this machine is seen or touched."""

import atexit
import fcntl
import json
import os
import resource
import shutil
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path

from sluice_it import children
from sluice_it.cache import cache
from sluice_it.wait import wait_until

HERE = Path(__file__).parent
# Sockets lie below it, whose names may have 100 characters only.
RUN = Path("/run/sluice-it")


def say(what):
    print(f"[containers] {what}", file=sys.stderr, flush=True)


class Engine:
    def __init__(self):
        self.home = cache() / "containers"
        self.home.mkdir(exist_ok=True)
        # Two tests at once would tidy each other's containers away.
        self._lock = open(RUN.with_suffix(".lock"), "w", encoding="utf-8")
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        RUN.mkdir(exist_ok=True)
        self.log = RUN / "podman.log"
        self._service = self._pulse = None
        self._ended = threading.Event()
        say("installing what is missing")
        self._install()
        self._configure()
        atexit.register(self.close)
        # What a test that was killed has left.
        self._remove_containers()
        self._start_service()

    @staticmethod
    def _install(*base):
        if subprocess.call([HERE / "install", *base], stdin=subprocess.DEVNULL) != 0:
            raise RuntimeError("the container tools could not be installed, see above")

    def _configure(self):
        # podman asks for a million files and four million processes; more than the machine allows is an error.
        files = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        files = 65536 if files == resource.RLIM_INFINITY else min(files, 65536)
        limits = [f"nofile={files}:{files}", "nproc=4096:4096"]
        (RUN / "containers.conf").write_text(
            f'[containers]\ndefault_ulimits = {json.dumps(limits)}\nlog_driver = "k8s-file"\n'
            '[engine]\nruntime = "runc"\ncgroup_manager = "cgroupfs"\nevents_logger = "file"\n'
            f'tmp_dir = "{RUN}/libpod"\n'
            f'[network]\nnetwork_backend = "netavark"\nnetwork_config_dir = "{self.home}/networks"\n',
        )
        (RUN / "storage.conf").write_text(
            f'[storage]\ndriver = "overlay"\ngraphroot = "{self.home}/storage"\nrunroot = "{RUN}/storage"\n',
        )
        self.socket = RUN / "podman.sock"
        self.env = {
            **os.environ,
            "CONTAINERS_CONF": str(RUN / "containers.conf"),
            "CONTAINERS_STORAGE_CONF": str(RUN / "storage.conf"),
            # Needs no rights that a build inside a container or a virtual machine may lack.
            "BUILDAH_ISOLATION": "chroot",
            "DOCKER_HOST": f"unix://{self.socket}",
        }

    def _start_service(self):
        self.socket.unlink(missing_ok=True)
        command = ["podman", "system", "service", "--time=0", f"unix://{self.socket}"]
        self._service = children.start(command, log=self.log, env=self.env)
        wait_until(self._answers, f"podman to serve on {self.socket}")
        # podman leaves health checks to timers of systemd; where there is none, they are run from here.
        if not os.path.exists("/run/systemd/system"):
            self._pulse = threading.Thread(target=self._check_health, daemon=True)
            self._pulse.start()

    def _answers(self):
        if self._service.poll() is not None:
            raise RuntimeError(f"podman ended with {self._service.returncode}:\n{self.log.read_text()[-3000:]}")
        with socket.socket(socket.AF_UNIX) as probe:
            return probe.connect_ex(str(self.socket)) == 0

    def _check_health(self):
        while not self._ended.wait(1):
            for name in self.podman("ps", "--filter", "health=starting", "--format", "{{.Names}}", check=False).split():
                self.podman("healthcheck", "run", name, check=False)

    def podman(self, *arguments, text_in=None, check=True, seconds=120):
        """Runs a command to its end: its standard output."""
        command = ["podman", *arguments]
        return children.run(command, text_in=text_in, check=check, env=self.env, seconds=seconds).decode()

    def output(self, *arguments):
        """Standard output and standard error of a command, whether it fails or not."""
        command = ["podman", *arguments]
        done = subprocess.run(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=self.env, timeout=120, check=False
        )
        return done.stdout.decode(errors="replace")

    def code(self, *arguments, seconds=300):
        """Runs a command to its end: its exit code, with all that it said in the log."""
        with open(self.log, "ab") as log:
            return subprocess.call(
                ["podman", *arguments], stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=self.env, timeout=seconds
            )

    def base(self):
        """The name of an image with a small Debian, like debian:bookworm-slim; made the first time."""
        name = "localhost/sluice-it-base:bookworm"
        if self.code("image", "exists", name) != 0:
            archive = self.home / "base.tar"
            archive.unlink(missing_ok=True)
            self._install(archive)
            self.podman("import", archive, name)
            archive.unlink()
        return name

    def build(self, name, folder, *options, seconds=900):
        """Builds an image from a folder; layers of an earlier run are taken as they are."""
        say(f"building {name}")
        try:
            self.podman("build", "--layers", "--pull=never", "-t", name, *options, folder, seconds=seconds)
        except RuntimeError as failure:
            raise RuntimeError(f"{name} could not be built:\n{failure}") from None
        return name

    def inspect(self, name):
        return json.loads(self.podman("inspect", name))[0]

    def wait(self, container, seconds):
        """The exit code of a container once it has ended."""

        def ended():
            state = self.inspect(container)["State"]
            return (state["ExitCode"],) if state["Status"] in ("exited", "stopped") else None

        return wait_until(ended, f"the container {container} to end", seconds)[0]

    def _remove_containers(self):
        # Those of builds that were cut short are "external".
        names = self.podman("ps", "--all", "--external", "--quiet").split()
        if names:
            self.code("rm", "--force", "--time=0", *names)
        self.code("volume", "prune", "--force")
        self.code("network", "prune", "--force")

    def close(self):
        """Removes everything but the images; may be called again."""
        if self._ended.is_set():
            return
        self._ended.set()
        try:
            if self._pulse:
                self._pulse.join()
            self._remove_containers()
            # Images that a newer one of the same name has replaced.
            self.code("image", "prune", "--force")
        finally:
            if self._service and self._service.poll() is None:
                self._service.send_signal(signal.SIGTERM)
                self._service.wait(30)
            # podman leaves its storage mounted on itself, and then nobody could remove the cache.
            subprocess.call(["umount", "-q", self.home / "storage/overlay"], stderr=subprocess.DEVNULL)
            shutil.rmtree(RUN, ignore_errors=True)
            self._lock.close()
