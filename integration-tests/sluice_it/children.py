"""Child processes that cannot outlive the test: servers and the binary under test."""

import atexit
import ctypes
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None)
_children = []
_scratch = None


def start(command, *, log, death_signal=signal.SIGKILL, env=None, cwd=None, user=None):
    """Starts a child with its output appended to the file `log`. The kernel ends it when this process dies."""

    def bind_life_to_parent():
        _libc.prctl(_PR_SET_PDEATHSIG, int(death_signal))

    as_user = {"user": user, "group": user, "extra_groups": []} if user else {}
    with open(log, "ab") as output:
        child = subprocess.Popen(
            [str(part) for part in command],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env=env,
            cwd=cwd,
            preexec_fn=bind_life_to_parent,
            **as_user,
        )
    _children.append(child)
    return child


def run(command, *, text_in=None, check=True, env=None, cwd=None, seconds=120):
    """Runs a tool to its end and returns its standard output; its failure shows what it said."""
    done = subprocess.run(
        [str(part) for part in command],
        input=text_in,
        capture_output=True,
        env=env,
        cwd=cwd,
        timeout=seconds,
        check=False,
    )
    if check and done.returncode != 0:
        raise RuntimeError(
            f"{command[0]} failed with {done.returncode}: {' '.join(map(str, command))}\n"
            f"{done.stdout.decode(errors='replace')[-2000:]}{done.stderr.decode(errors='replace')[-2000:]}"
        )
    return done.stdout


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def port_answers(port):
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0


def scratch(name):
    """A new folder below this run's own, which is removed at the end unless SLUICE_IT_KEEP is set."""
    global _scratch
    if _scratch is None:
        _scratch = Path(tempfile.mkdtemp(prefix="sluice-it-"))
        # The database server runs as another user and must get through to its data folder.
        _scratch.chmod(0o755)
    return Path(tempfile.mkdtemp(prefix=name + "-", dir=_scratch))


def _clean_up():
    for child in _children:
        if child.poll() is None:
            child.kill()
            child.wait()
    if _scratch is not None:
        if os.environ.get("SLUICE_IT_KEEP"):
            print(f"kept: {_scratch}", file=sys.stderr)
        else:
            shutil.rmtree(_scratch, ignore_errors=True)


atexit.register(_clean_up)
# A default SIGTERM would end Python without running the handlers above.
signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
