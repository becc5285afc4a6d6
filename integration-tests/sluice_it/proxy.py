"""A TCP proxy of the tests in front of a server: what a network does to connections, on demand.

It runs on a thread of its own; its methods may be called from any other one."""

import asyncio
import contextlib
import socket
import struct
import threading

TO_SERVER, TO_CLIENT = "to server", "to client"
BOTH = (TO_SERVER, TO_CLIENT)
PIECE = 64 * 1024
# Closing such a socket sends a reset instead of an orderly end.
RESET = struct.pack("ii", 1, 0)


class _Link:
    """One connection of a client and the one to the server that belongs to it."""

    def __init__(self, client, server, talk):
        from_client, to_client = client
        from_server, to_server = server
        self.ends = {TO_SERVER: (from_client, to_server), TO_CLIENT: (from_server, to_client)}
        self.talk = talk
        self.swallowing = set()
        self.forgotten = False
        self.ended = asyncio.Event()

    def reset(self):
        self.ended.set()
        for _, writer in self.ends.values():
            _reset(writer)

    def close(self):
        for _, writer in self.ends.values():
            writer.close()


def _reset(writer):
    with contextlib.suppress(OSError):
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
    writer.transport.abort()


class _AsItIs:
    @staticmethod
    def pass_on(_, piece):
        return piece


class Proxy:
    """Listens on `port` and passes everything on to `target`, until it is told otherwise.

    heal      passes; what was half-open is reset, since it lacks bytes
    delay     each piece of up to 64 KiB waits, in both directions: a slow network that is narrow as well
    stall     holds bytes and closes back until heal, which then delivers them: a network that comes back
    half_open swallows bytes and closes without a word, until heal resets the connection
    forget    the same for good: something in between has forgotten the connection, and nobody will ever say so
    refuse    lets nobody in; connections that are there go on
    reset     ends all connections that are there
    """

    def __init__(self, target, port=0):
        self.target = target
        # Called for each connection; gives what may change its bytes: pass_on(direction, piece) -> bytes.
        self.talk = _AsItIs
        self.failure = None  # what a talk did not understand
        self.counts = {"connections": 0, "resets": 0, "swallowed bytes": 0, "held pieces": 0}
        self._links = set()
        self._delay = 0.0
        self._stalled, self._swallowed_when_new = set(), set()
        self._loop = asyncio.new_event_loop()
        self._moving = None
        self._server = None
        self._bound = self._bind(port)
        self.port = self._bound.getsockname()[1]
        self.address = f"127.0.0.1:{self.port}"
        self._thread = threading.Thread(target=self._loop.run_forever, name="proxy", daemon=True)
        self._thread.start()
        self._call(self._open())

    def url(self, url):
        """The URL of the server, led through the proxy."""
        led = url.replace(f":{self.target}/", f":{self.port}/")
        assert led != url, f"{url} does not lead to port {self.target}"
        return led

    def heal(self):
        self._call(self._heal())

    def delay(self, milliseconds):
        self._call(self._set_delay(milliseconds / 1000))

    def stall(self, directions=BOTH):
        self._call(self._stall(set(directions)))

    def half_open(self, directions=BOTH, new=False):
        """Connections that are there; with `new` also those that come: they are accepted and get no answer."""
        self._call(self._half_open(set(directions), new))

    def forget(self, directions=BOTH):
        self._call(self._forget(set(directions)))

    def refuse(self):
        self._call(self._refuse())

    def reset(self):
        self._call(self._reset_all())

    def links(self):
        return len(self._links)

    def close(self):
        self._call(self._close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _call(self, coroutine):
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(30)

    @staticmethod
    def _bind(port):
        """A port that is bound but does not listen refuses, and nobody else can get it meanwhile."""
        bound = socket.socket()
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(("127.0.0.1", port))
        return bound

    async def _bind_again(self):
        """The kernel may need a moment to let go of the port."""
        for _ in range(100):
            with contextlib.suppress(OSError):
                return self._bind(self.port)
            await asyncio.sleep(0.05)
        return self._bind(self.port)

    async def _open(self):
        if self._moving is None:
            self._moving = asyncio.Event()
            self._moving.set()
        if self._server is None:
            self._server = await asyncio.start_server(self._accept, sock=self._bound, limit=PIECE, backlog=200)

    async def _refuse(self):
        if self._server is not None:
            self._server.close()
            self._server = None
            self._bound = await self._bind_again()

    async def _heal(self):
        self._delay = 0.0
        self._stalled, self._swallowed_when_new = set(), set()
        self._moving.set()
        for link in list(self._links):
            if link.swallowing and not link.forgotten:
                self._reset_link(link)
        await self._open()

    async def _set_delay(self, seconds):
        self._delay = seconds

    async def _stall(self, directions):
        self._stalled = directions
        self._moving.clear()

    async def _half_open(self, directions, new):
        for link in self._links:
            link.swallowing |= directions
        self._swallowed_when_new = directions if new else set()

    async def _forget(self, directions):
        for link in self._links:
            link.swallowing |= directions
            link.forgotten = True

    async def _reset_all(self):
        for link in list(self._links):
            self._reset_link(link)

    def _reset_link(self, link):
        self.counts["resets"] += 1
        self._links.discard(link)
        link.reset()

    async def _close(self):
        if self._server is not None:
            self._server.close()
        self._bound.close()
        await self._reset_all()
        others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        await asyncio.gather(*others, return_exceptions=True)

    async def _accept(self, reader, writer):
        try:
            server = await asyncio.open_connection("127.0.0.1", self.target, limit=PIECE)
        except OSError:
            # What a server that is gone looks like from here.
            return _reset(writer)
        link = _Link((reader, writer), server, self.talk())
        link.swallowing |= self._swallowed_when_new
        self._links.add(link)
        self.counts["connections"] += 1
        pumps = [asyncio.ensure_future(self._pump(link, direction)) for direction in BOTH]
        await link.ended.wait()
        for pump in pumps:
            pump.cancel()
        await asyncio.gather(*pumps, return_exceptions=True)
        self._links.discard(link)
        link.close()

    async def _pump(self, link, direction):
        reader, writer = link.ends[direction]
        while True:
            try:
                piece = await reader.read(PIECE)
            except ConnectionError:
                piece = b""
            if piece and self._delay:
                await asyncio.sleep(self._delay)
            while direction in self._stalled and direction not in link.swallowing:
                self.counts["held pieces"] += 1
                await self._moving.wait()
            if direction in link.swallowing:
                self.counts["swallowed bytes"] += len(piece)
            if not piece:
                break
            if direction not in link.swallowing:
                try:
                    writer.write(link.talk.pass_on(direction, piece))
                    await writer.drain()
                except AssertionError as failure:
                    self.failure = failure
                    return self._reset_link(link)
                except ConnectionError:
                    # The other pump learns of this end from its reader, and passes on first what came before it.
                    return
        # An end of either side is an end of both: neither Kafka nor PostgreSQL goes on with half a connection. Where
        # bytes are swallowed, so is the end: whoever waits goes on waiting until the reset.
        if direction not in link.swallowing:
            link.ended.set()
