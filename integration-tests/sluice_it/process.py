"""The binary under test, as a user runs it."""

import json
import os
import signal
import subprocess
from pathlib import Path

from . import children

DONE, FAILED, USAGE, FENCED, PROBLEM = 0, 1, 2, 3, 4
KILLED = -signal.SIGKILL


def binary():
    path = os.environ.get("SLUICE_BINARY") or Path(__file__).parents[2] / "build/release/app/sluice"
    if not os.access(path, os.X_OK):
        raise RuntimeError(f"{path} is no program: build it (scripts/build release) or name it in SLUICE_BINARY")
    return str(path)


class Run:
    """One process of the binary, with its output in a file."""

    def __init__(self, *arguments, log, cwd, fault=None, env=None):
        environment = {**os.environ, **(env or {})}
        environment.pop("SLUICE_FAULT", None)
        if fault:
            environment["SLUICE_FAULT"] = fault
        self.log = log
        self._from = log.stat().st_size if log.exists() else 0
        self.child = children.start([binary(), *arguments], log=log, cwd=cwd, env=environment)

    def output(self):
        with open(self.log, encoding="utf-8", errors="replace") as log:
            log.seek(self._from)
            return log.read()

    def running(self):
        return self.child.poll() is None

    def wait(self, seconds=120):
        """The exit code; negative: the signal that ended it."""
        try:
            return self.child.wait(seconds)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"sluice did not end within {seconds} s; it said:\n{self.output()[-4000:]}") from None

    def kill(self):
        self.child.kill()
        return self.child.wait()

    def terminate(self, seconds=30):
        self.child.send_signal(signal.SIGTERM)
        return self.wait(seconds)


def call(*arguments, cwd, env=None, seconds=60):
    """Runs a short command: (exit code, standard output, standard error)."""
    done = subprocess.run(
        [binary(), *map(str, arguments)],
        cwd=cwd,
        env={**os.environ, **(env or {})},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=seconds,
        check=False,
    )
    return done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")


def status(job_file, cwd):
    code, out, said = call("status", job_file, "--json", cwd=cwd)
    if code != DONE:
        raise AssertionError(f"sluice status exited with {code}: {out}{said}")
    return json.loads(out)
