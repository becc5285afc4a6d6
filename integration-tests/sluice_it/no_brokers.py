"""What a broker may say while it is coming back: the cluster has no brokers. For a Proxy in front of Kafka."""

import struct

from .proxy import TO_CLIENT, TO_SERVER

METADATA = 3
# From here on the answer has variable-length counts.
FIRST_VERSION = 9


class NoBrokers:
    """Takes the brokers out of the next `left` metadata answers; a Proxy asks it for one talk a connection."""

    def __init__(self):
        self.left = 0

    def __call__(self):
        return _Talk(self)

    def take_one(self):
        if self.left == 0:
            return False
        self.left -= 1
        return True


class _Talk:
    def __init__(self, owner):
        self._owner = owner
        self._rest = {TO_SERVER: bytearray(), TO_CLIENT: bytearray()}
        self._asked = set()  # correlation ids of metadata requests

    def pass_on(self, direction, piece):
        """What to send on for `piece`; nothing while a frame is not complete."""
        rest = self._rest[direction]
        rest += piece
        whole = bytearray()
        while len(rest) >= 4 and len(rest) >= (end := 4 + int.from_bytes(rest[:4], "big")):
            frame = self._changed(direction, bytes(rest[4:end]))
            whole += struct.pack(">i", len(frame)) + frame
            del rest[:end]
        return bytes(whole)

    def _changed(self, direction, frame):
        if direction == TO_SERVER:
            api, version, number = struct.unpack_from(">hhi", frame)
            if api == METADATA:
                assert version >= FIRST_VERSION, f"metadata version {version} is not understood here"
                self._asked.add(number)
            return frame
        number = int.from_bytes(frame[:4], "big")
        if number not in self._asked:
            return frame
        self._asked.discard(number)
        return _without_brokers(frame) if self._owner.take_one() else frame


def _without_brokers(frame):
    begin = 4 + 1 + 4  # correlation id, no tags, throttle time
    count, at = _varint(frame, begin)
    for _ in range(count - 1):
        host, at = _varint(frame, at + 4)
        rack, at = _varint(frame, at + host - 1 + 4)
        tags, at = _varint(frame, at + max(rack - 1, 0))
        assert tags == 0, "a broker with tags is not understood here"
    return frame[:begin] + b"\x01" + frame[at:]


def _varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 0x7F) << shift
        at += 1
        if data[at - 1] < 0x80:
            return value, at
        shift += 7
