"""Fills topics fast, through kcat: the standard order records, or lines of the test's own."""

import subprocess
import threading

from .wait import wait_until

FIRST_TS = 1764000000000


def order(number, ident=None, amount=None):
    """The standard record. `number` makes its content, `ident` its key where that repeats."""
    ident = number if ident is None else ident
    if amount is None:
        cents = (number * 7919) % 1000000
        amount = f"{cents // 100}.{cents % 100:02}"
    return (
        f'{{"id":{ident},"customer":{number * 31 % 20000},"amount":"{amount}","status":"new",'
        f'"note":"order note {number} for customer","ts":{FIRST_TS + number}}}'
    )


def lines(kafka, topic, partition, records, *, key_delimiter=None, tombstones=False, properties=()):
    """Produces each line as one record into one partition, in order; with a delimiter a line is KEY<delimiter>VALUE.

    With `tombstones` nothing behind or before it stands for no value, or no key."""
    options = ["-X", "message.max.bytes=15000000", "-X", "queue.buffering.max.kbytes=1000000", "-X", "linger.ms=20"]
    for setting in properties:
        options += ["-X", setting]
    if key_delimiter:
        options += ["-K", key_delimiter, *(["-Z"] if tombstones else [])]
    command = ["kcat", "-P", "-b", kafka.address, "-t", topic, "-p", str(partition), *options]
    producer = subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE)
    chunk = []
    for record in records:
        chunk.append(record)
        if len(chunk) == 10000:
            producer.stdin.write(("\n".join(chunk) + "\n").encode())
            chunk.clear()
    _, said = producer.communicate(("\n".join(chunk) + "\n").encode() if chunk else b"")
    if producer.returncode != 0:
        raise RuntimeError(f"kcat could not produce into {topic}-{partition}: {said.decode()}")


def orders(kafka, topic, count, *, partitions=4, first=0, keys=None):
    """Records first ... first+count-1, dealt out over the partitions; with `keys` ids repeat, each in one partition."""
    for partition in range(partitions):
        numbers = range(first + (partition - first) % partitions, first + count, partitions)
        if keys:
            assert keys % partitions == 0, "an id would be in several partitions, whose order is not defined"
        lines(kafka, topic, partition, (order(number, number % keys if keys else None) for number in numbers))


def transaction(kafka, topic, partition, records, *, name):
    """Produces the lines in one Kafka transaction: its end is a marker, which is an offset without a record."""
    records = list(records)
    after = kafka.admin.end_offset(topic, partition) + len(records) + 1
    lines(kafka, topic, partition, records, properties=[f"transactional.id={name}"])
    wait_until(
        lambda: kafka.admin.end_offset(topic, partition) >= after,
        f"the transaction on {topic}-{partition} to be visible",
    )


class Feeder:
    """Produces orders from a thread of its own until stopped, without pause or with one of some seconds between two
    steps; `count` says how many there are."""

    def __init__(self, kafka, topic, *, first=0, step=2000, partitions=4, pause=0):
        self.count = first
        self._kafka, self._topic, self._step, self._partitions = kafka, topic, step, partitions
        self._pause = pause
        self._stop = threading.Event()
        self._failure = None
        self._thread = threading.Thread(target=self._feed)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._stop.set()
        self._thread.join()
        if self._failure:
            raise self._failure

    def _feed(self):
        try:
            while not self._stop.is_set():
                orders(self._kafka, self._topic, self._step, first=self.count, partitions=self._partitions)
                self.count += self._step
                self._stop.wait(self._pause)
        except Exception as failure:  # carried over to the test's own thread
            self._failure = failure
