"""python3 -m sluice_it.with_servers COMMAND...: runs it with SLUICE_TEST_POSTGRES_URL, SLUICE_TEST_MYSQL_URL and
SLUICE_TEST_MARIADB_URL naming servers of its own.

These are not killed, and make tables by the thousand: they need not wait for the disk."""

import os
import subprocess
import sys

from .mysql import Mariadb, Mysql
from .postgres import Postgres


def main():
    servers = [
        Postgres().start(fsync="off"),
        Mysql(innodb_flush_method="nosync", innodb_flush_log_at_trx_commit=0, innodb_doublewrite="OFF").start(),
        Mariadb(innodb_flush_method="nosync", innodb_flush_log_at_trx_commit=0, innodb_doublewrite=0).start(),
    ]
    environment = dict(os.environ)
    for server, variable in zip(servers, ("POSTGRES", "MYSQL", "MARIADB")):
        server.create_database("conformance")
        environment[f"SLUICE_TEST_{variable}_URL"] = server.url("conformance")
    code = subprocess.call(sys.argv[1:], env=environment)
    for server in servers:
        server.stop()
    sys.exit(code)


main()
