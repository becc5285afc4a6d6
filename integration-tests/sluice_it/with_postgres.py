"""python3 -m sluice_it.with_postgres COMMAND...: runs it with SLUICE_TEST_POSTGRES_URL naming a server of its own."""

import os
import subprocess
import sys

from .postgres import Postgres


def main():
    server = Postgres().start()
    server.create_database("conformance")
    environment = {**os.environ, "SLUICE_TEST_POSTGRES_URL": server.url("conformance")}
    code = subprocess.call(sys.argv[1:], env=environment)
    server.stop()
    sys.exit(code)


main()
