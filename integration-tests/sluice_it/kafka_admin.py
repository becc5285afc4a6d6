"""The few administrative requests that the tests need, spoken directly: each JVM tool would cost 1.5 seconds a call."""

import socket
import struct

from .wait import wait_until

CREATE_TOPICS, DELETE_TOPICS, DELETE_RECORDS, ALTER_CONFIGS = 19, 20, 21, 33
TOPIC_CONFIGS = 2
LIST_OFFSETS, OFFSET_COMMIT, OFFSET_FETCH, FIND_COORDINATOR = 2, 8, 9, 10
UNKNOWN_TOPIC, LEADER_NOT_AVAILABLE, NOT_LEADER = 3, 5, 6
TIMEOUT_MS = 30000


class BrokerError(RuntimeError):
    def __init__(self, code, doing):
        super().__init__(f"the broker answered error {code} when {doing}")
        self.code = code


class Answer:
    """Reads the fields of a response in their order."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, layout):
        value = struct.unpack_from(">" + layout, self.data, self.at)[0]
        self.at += struct.calcsize(">" + layout)
        return value

    def text(self):
        length = self.take("h")
        if length < 0:
            return None
        self.at += length
        return self.data[self.at - length : self.at].decode()

    def each(self):
        return range(self.take("i"))


def text(value):
    encoded = value.encode()
    return struct.pack(">h", len(encoded)) + encoded


def array(items):
    items = list(items)
    return struct.pack(">i", len(items)) + b"".join(items)


class Admin:
    def __init__(self, port):
        self.port = port

    def call(self, api, version, body):
        with socket.create_connection(("127.0.0.1", self.port), timeout=TIMEOUT_MS / 1000) as link:
            request = struct.pack(">hhi", api, version, 1) + text("sluice-it") + body
            link.sendall(struct.pack(">i", len(request)) + request)
            answer = self._receive(link, struct.unpack(">i", self._receive(link, 4))[0])
        return Answer(answer[4:])

    @staticmethod
    def _receive(link, size):
        data = b""
        while len(data) < size:
            part = link.recv(size - len(data))
            if not part:
                raise ConnectionError("the broker closed the connection")
            data += part
        return data

    def create_topic(self, name, partitions=4, **settings):
        configs = array(text(key.replace("_", ".")) + text(str(value)) for key, value in settings.items())
        topic = text(name) + struct.pack(">ih", partitions, 1) + array([]) + configs
        answer = self.call(CREATE_TOPICS, 2, array([topic]) + struct.pack(">i?", TIMEOUT_MS, False))
        answer.take("i")
        for _ in answer.each():
            topic_name, error, why = answer.text(), answer.take("h"), answer.text()
            _expect_success(error, f"creating {topic_name}: {why}")
        for partition in range(partitions):
            self.end_offset(name, partition)

    def set_topic(self, name, **settings):
        """These are its settings from now on, and no others."""
        configs = array(text(key.replace("_", ".")) + text(str(value)) for key, value in settings.items())
        resource = struct.pack(">b", TOPIC_CONFIGS) + text(name) + configs
        answer = self.call(ALTER_CONFIGS, 1, array([resource]) + struct.pack(">?", False))
        answer.take("i")
        for _ in answer.each():
            error, why = answer.take("h"), answer.text()
            answer.take("b")
            _expect_success(error, f"setting {answer.text()}: {why}")

    def delete_topic(self, name):
        answer = self.call(DELETE_TOPICS, 1, array([text(name)]) + struct.pack(">i", TIMEOUT_MS))
        answer.take("i")
        for _ in answer.each():
            topic_name, error = answer.text(), answer.take("h")
            _expect_success(error, f"deleting {topic_name}")

    def delete_records(self, name, partition, before_offset):
        """As retention does: records below the offset are gone."""
        partitions = array([struct.pack(">iq", partition, before_offset)])
        answer = self.call(DELETE_RECORDS, 0, array([text(name) + partitions]) + struct.pack(">i", TIMEOUT_MS))
        answer.take("i")
        for _ in answer.each():
            answer.text()
            for _ in answer.each():
                answer.take("i")
                answer.take("q")
                _expect_success(answer.take("h"), f"deleting records of {name}-{partition}")

    def end_offset(self, name, partition):
        """Where a reader of committed records stops. Waits for a leader, which a topic lacks after a (re)start."""

        def known():
            try:
                return self._end_offset(name, partition) + 1
            except BrokerError as failure:
                if failure.code in (UNKNOWN_TOPIC, LEADER_NOT_AVAILABLE, NOT_LEADER):
                    return 0
                raise

        return wait_until(known, f"{name}-{partition} to have a leader") - 1

    def _end_offset(self, name, partition):
        partitions = array([struct.pack(">iq", partition, -1)])
        answer = self.call(LIST_OFFSETS, 2, struct.pack(">ib", -1, 1) + array([text(name) + partitions]))
        answer.take("i")
        assert len(answer.each()) == 1 and answer.text() == name and len(answer.each()) == 1
        answer.take("i")
        _expect_success(answer.take("h"), f"offsets of {name}-{partition}")
        answer.take("q")
        return answer.take("q")

    def group_ready(self, group):
        """True once the broker has a coordinator for the group; the first question creates the offsets topic."""
        return self.call(FIND_COORDINATOR, 0, text(group)).take("h") == 0

    def group_offsets(self, group, name, partitions):
        """Committed offset of each partition; -1 where there is none."""
        asked = array([text(name) + array(struct.pack(">i", index) for index in range(partitions))])
        answer = self.call(OFFSET_FETCH, 1, text(group) + asked)
        offsets = {}
        for _ in answer.each():
            answer.text()
            for _ in answer.each():
                index, offset = answer.take("i"), answer.take("q")
                answer.text()
                _expect_success(answer.take("h"), f"offsets of group {group}")
                offsets[index] = offset
        return offsets

    def set_group_offsets(self, group, name, offsets):
        """Moves a group that has no members."""
        partitions = array(struct.pack(">iq", index, offset) + text("") for index, offset in offsets.items())
        head = text(group) + struct.pack(">i", -1) + text("") + struct.pack(">q", -1)
        answer = self.call(OFFSET_COMMIT, 2, head + array([text(name) + partitions]))
        for _ in answer.each():
            answer.text()
            for _ in answer.each():
                index, error = answer.take("i"), answer.take("h")
                _expect_success(error, f"moving group {group} on {name}-{index}")


def _expect_success(error, doing):
    if error != 0:
        raise BrokerError(error, doing)
