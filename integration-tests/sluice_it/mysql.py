"""A real MySQL or MariaDB of its own, with durable settings, on a free port."""

import os
import re
import shutil
import signal
from pathlib import Path
from xml.etree import ElementTree

from . import children
from .cache import cache
from .wait import wait_until

NULL, FIELD = "<null>", "\x1f"
# How the client writes what its own format gives a meaning.
ESCAPES = {"n": "\n", "t": "\t", "0": "\0", "\\": "\\"}
NIL = "{http://www.w3.org/2001/XMLSchema-instance}nil"


class _Server:
    """What both have in common. They run as whoever runs the tests."""

    scheme = None
    # What Sluice must set for its sessions, since servers are found with other settings.
    hostile = {"sql_mode": "", "default_time_zone": "-05:00", "wait_timeout": 3, "transaction_isolation": "REPEATABLE-READ"}
    settings = {}

    def __init__(self, **settings):
        self.folder = children.scratch(self.scheme)
        self._scratch.mkdir()
        self.port = children.free_port()
        self.process = None
        self.settings = {**self.hostile, **self.settings, **settings}
        self._initialise()

    @property
    def log(self):
        return self.folder / "log"

    @property
    def _data(self):
        return self.folder / "data"

    @property
    def _scratch(self):
        return self.folder / "tmp"

    def url(self, database, user="root", options=""):
        return f"{self.scheme}://{user}@127.0.0.1:{self.port}/{database}{options}"

    def _command(self):
        return [
            *self._program(),
            "--user=root" if os.geteuid() == 0 else f"--user={os.environ.get('USER', 'nobody')}",
            f"--datadir={self._data}",
            # A server that starts deletes what it takes for left-over temporary tables, those of another in a shared folder too.
            f"--tmpdir={self._scratch}",
            f"--port={self.port}",
            "--bind-address=127.0.0.1",
            f"--socket={self.folder / 'socket'}",
            f"--pid-file={self.folder / 'pid'}",
            *(f"--{name.replace('_', '-')}={value}" for name, value in self.settings.items()),
        ]

    def _run_once(self, command):
        child = children.start(command, log=self.folder / "init.log")
        if child.wait(120) != 0:
            raise RuntimeError((self.folder / "init.log").read_text(errors="replace"))

    def start(self):
        """Starts, or starts again with the same data and port; returns once connections are accepted."""

        def accepts():
            if self.process is None or self.process.poll() is not None:
                self.process = children.start(self._command(), log=self.log)
            return self._answers()

        wait_until(accepts, f"{self.scheme} to accept connections on port {self.port} (see {self.log})", 120)
        return self

    def _answers(self):
        try:
            return self.sql("select 1", "") == [("1",)]
        except RuntimeError:
            return False

    def create_database(self, name):
        self.sql(f"create database `{name}`", "")
        return name

    def rows(self, table, columns, database):
        """All rows of a table, faster than sql()."""
        cells = ", ".join(f"coalesce(cast(`{column}` as char), '{NULL}')" for column in columns)
        text = self._run_client(f"select concat_ws('{FIELD}', {cells}) from `{table}`", database, "--batch", "-N").decode()
        rows = []
        for line in text.split("\n")[:-1]:
            line = re.sub(r"\\(.)", lambda found: ESCAPES[found[1]], line) if "\\" in line else line
            rows.append(tuple(None if cell == NULL else cell for cell in line.split(FIELD)))
        return rows

    def run_script(self, path, database):
        """A file for the client, DELIMITER and all."""
        self._run_client(path.read_text(encoding="utf-8"), database)

    def _run_client(self, statement, database, *options):
        client = shutil.which("mariadb") or shutil.which("mysql")
        if client is None:
            raise RuntimeError("no MariaDB client is installed: apt-get install mariadb-client (scripts/test does it)")
        command = [client, "--no-defaults", "-h127.0.0.1", f"-P{self.port}", "-uroot", "--skip-ssl", *options]
        command += ["--default-character-set=utf8mb4", *([database] if database else [])]
        return children.run(command, text_in=statement.encode())

    def sql(self, statement, database):
        """Rows as tuples of text; None for NULL."""
        # One document for each statement that has a result.
        documents = self._run_client(statement, database, "--xml").decode().split('<?xml version="1.0"?>')
        return [
            tuple(None if field.get(NIL) == "true" else field.text or "" for field in row)
            for document in documents
            if document.strip()
            for row in ElementTree.fromstring(document.strip()).iter("row")
        ]

    def stop(self, how=signal.SIGTERM):
        """SIGTERM: in order; SIGKILL: with recovery at the next start."""
        if self.process and self.process.poll() is None:
            self.process.send_signal(how)
            self.process.wait(60)

    def stop_immediately(self):
        self.stop(signal.SIGKILL)


class Mysql(_Server):
    scheme = "mysql"
    settings = {
        "local_infile": 1,
        "innodb_buffer_pool_size": "256M",
        "innodb_redo_log_capacity": "1G",
        "innodb_flush_log_at_trx_commit": 1,
        "mysqlx": "OFF",
        "secure_file_priv": "",
    }

    def _program(self):
        root = cache() / "mysql"
        library = root / "usr/lib/x86_64-linux-gnu"
        loader = next((path for path in (library, root / "usr/lib64") if (path / "ld-linux-x86-64.so.2").exists()), None)
        if loader is None:
            raise RuntimeError(f"no MySQL server is in {root} (scripts/test brings it)")
        return [
            loader / "ld-linux-x86-64.so.2",
            "--library-path",
            f"{library}:{library / 'mysql/private'}",
            root / "usr/sbin/mysqld",
            "--no-defaults",
            f"--basedir={root / 'usr'}",
            f"--lc-messages-dir={root / 'usr/share/mysql'}",
        ]

    def _initialise(self):
        self._run_once([*self._command(), "--initialize-insecure"])


class Mariadb(_Server):
    scheme = "mariadb"
    settings = {
        "innodb_buffer_pool_size": "256M",
        "innodb_log_file_size": "1G",
        "innodb_flush_log_at_trx_commit": 1,
        "skip_name_resolve": 1,
    }

    def _program(self):
        program = next((path for path in map(Path, ("/usr/sbin/mariadbd", "/usr/sbin/mysqld")) if path.exists()), None)
        if program is None:
            raise RuntimeError("no MariaDB server is installed: apt-get install mariadb-server (scripts/test does it)")
        return [program, "--no-defaults"]

    def _initialise(self):
        self._run_once(
            [
                "mariadb-install-db",
                "--no-defaults",
                "--user=root",
                f"--datadir={self._data}",
                f"--tmpdir={self._scratch}",
                "--auth-root-authentication-method=normal",
            ]
        )
