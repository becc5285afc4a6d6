"""A real PostgreSQL of its own, with durable settings, on a free port."""

import os
import pwd
import shutil
import signal
from pathlib import Path

from . import children
from .wait import wait_until

NULL = "\\N"
FIELD, ROW = "\x1f", "\x1e"


def _programs():
    versions = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"), key=lambda path: float(path.parts[-3]))
    if not versions:
        raise RuntimeError("no PostgreSQL server is installed: apt-get install postgresql (scripts/test does it)")
    return versions[-1].parent


class Postgres:
    def __init__(self):
        self.folder = children.scratch("postgres")
        self.port = children.free_port()
        self.process = None
        # The server refuses to run as root.
        self._user = "postgres" if os.geteuid() == 0 else None
        if self._user:
            shutil.chown(self.folder, self._user)
        self.user = self._user or pwd.getpwuid(os.geteuid()).pw_name
        self.programs = _programs()
        init = children.start(
            [
                self.programs / "initdb",
                "-D",
                self._data,
                "-A",
                "trust",
                "-U",
                self.user,
                "-E",
                "UTF8",
                "--no-locale",
                "--no-sync",
            ],
            log=self.folder / "initdb.log",
            user=self._user,
        )
        if init.wait(120) != 0:
            raise RuntimeError((self.folder / "initdb.log").read_text())

    @property
    def _data(self):
        return self.folder / "data"

    @property
    def log(self):
        return self.folder / "log"

    def url(self, database, user=None):
        return f"postgresql://{user or self.user}:not-a-real-secret@127.0.0.1:{self.port}/{database}"

    def start(self, **changes):
        """Starts, or starts again with the same data and port; returns once connections are accepted."""
        settings = {
            "port": self.port,
            "listen_addresses": "127.0.0.1",
            "unix_socket_directories": self.folder,
            "max_prepared_transactions": 20,
            "fsync": "on",
            "synchronous_commit": "on",
            "shared_buffers": "256MB",
            "max_wal_size": "4GB",
            **changes,
        }
        command = [self.programs / "postgres", "-D", self._data]
        for name, value in settings.items():
            command += ["-c", f"{name}={value}"]

        def accepts():
            # The children of a killed server hold its shared memory for a moment, and the next one refuses to start.
            if self.process is None or self.process.poll() is not None:
                self.process = children.start(command, log=self.log, death_signal=signal.SIGQUIT, user=self._user)
            return self._answers()

        wait_until(accepts, f"PostgreSQL to accept connections on port {self.port} (see {self.log})", 60)
        return self

    def _answers(self):
        try:
            return self.sql("select 1", "postgres") == [("1",)]
        except RuntimeError:
            return False

    def create_database(self, name):
        self.sql(f'create database "{name}"', "postgres")
        return name

    def _psql(self, database, *options):
        return [
            self.programs / "psql",
            "-X",
            "-q",
            "-A",
            "-t",
            "-v",
            "ON_ERROR_STOP=1",
            "-h",
            "127.0.0.1",
            "-p",
            self.port,
            "-U",
            self.user,
            "-d",
            database,
            *options,
        ]

    def sql(self, statement, database):
        """Rows as tuples of text; None for NULL."""
        options = ["-F", FIELD, "-R", ROW, "-P", f"null={NULL}", "-f", "-"]
        text = children.run(self._psql(database, *options), text_in=statement.encode()).decode().rstrip("\n")
        rows = text.split(ROW) if text else []
        return [tuple(None if cell == NULL else cell for cell in row.split(FIELD)) for row in rows]

    def stop(self, how=signal.SIGINT):
        """SIGINT: fast; SIGQUIT: immediate, with recovery at the next start; SIGKILL: nothing is tidied up."""
        if self.process and self.process.poll() is None:
            self.process.send_signal(how)
            self.process.wait(60)

    def stop_immediately(self):
        self.stop(signal.SIGQUIT)
