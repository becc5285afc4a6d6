"""The independent audit: what the topic says against what the table holds, record by record.

It reads the topic with kcat and the table with psql or Python's own sqlite3, and shares nothing with the product."""

import collections
import json
import sqlite3
from contextlib import closing

from . import children

COLUMNS = ("id", "customer", "amount", "status", "note", "ts")
# An old librdkafka stops fetching for a second whenever its queue is full, so it must never be; and the broker need not
# wait for more at the end of a partition.
READ = """kcat -C -q -e -o beginning -X isolation.level=read_committed -X fetch.message.max.bytes=16000000
    -X fetch.wait.max.ms=10 -X queued.min.messages=10000000 -X queued.max.messages.kbytes=2000000""".split()


def topic_records(kafka, topic):
    """(partition, offset, value) of all that a reader of committed records sees, up to the end at this moment."""
    command = [*READ, "-b", kafka.address, "-t", topic, "-f", "%p\t%o\t%s\n"]
    for line in children.run(command, seconds=600).decode().split("\n")[:-1]:
        partition, offset, value = line.split("\t", 2)
        yield int(partition), int(offset), value


def topic_headers(kafka, topic):
    """(headers, value) of all records."""
    for line in children.run([*READ, "-b", kafka.address, "-t", topic, "-J"], seconds=600).decode().splitlines():
        record = json.loads(line)
        pairs = record.get("headers", [])
        yield dict(zip(pairs[::2], pairs[1::2])), record["payload"]


def row_of(value, columns=COLUMNS):
    record = json.loads(value)
    return tuple(_text(record.get(column)) for column in columns)


def topic_rows(kafka, topic, columns=COLUMNS):
    for _, _, value in topic_records(kafka, topic):
        yield row_of(value, columns)


def _text(cell):
    return cell if cell is None or isinstance(cell, str) else json.dumps(cell)


def postgres_rows(server, database, table="orders", columns=COLUMNS):
    return server.sql(f"select {', '.join(quoted(column) for column in columns)} from {quoted(table)}", database)


def sqlite_rows(path, table="orders", columns=COLUMNS):
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as link:
        found = link.execute(f"select {', '.join(quoted(column) for column in columns)} from {quoted(table)}")
        return [tuple(None if cell is None else str(cell) for cell in row) for row in found]


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


class Audit:
    """Rows are compared as a multiset: a row that is there twice counts as duplicated even in a table without a key."""

    def __init__(self, expected, found, key=0):
        expected, found = collections.Counter(expected), collections.Counter(found)
        self.expected, self.found = sum(expected.values()), sum(found.values())
        missing, extra = expected - found, found - expected
        missing_keys = {row[key] for row in missing}
        extra_keys = {row[key] for row in extra}
        known = {row[key] for row in expected}
        changed = missing_keys & extra_keys
        self.lost = sorted(missing_keys - changed)
        self.changed = sorted(changed)
        self.duplicated = sorted((extra_keys - changed) & known)
        self.foreign = sorted(extra_keys - known)

    def clean(self):
        return not (self.lost or self.changed or self.duplicated or self.foreign) and self.expected == self.found

    def __str__(self):
        def shown(name, keys):
            return f"{len(keys)} {name} {keys[:5] if keys else ''}".strip()

        return f"{self.expected} records, {self.found} rows: " + ", ".join(
            [
                shown("lost", self.lost),
                shown("duplicated", self.duplicated),
                shown("changed", self.changed),
                shown("foreign", self.foreign),
            ]
        )


def last_per_key(rows, key=0):
    """What an upsert must leave: the last record of each key."""
    return list({row[key]: row for row in rows}.values())
