"""A TCP proxy in front of a server, that cuts, delays, silences, refuses and loses answers.

It runs in a thread of its own, so that tests of every kind and other processes can use it:

    with Proxy.before(url) as proxy:
        storage = open_storage(proxy.url)
        proxy.silence()
"""

import asyncio
import contextlib
import socket
import struct
import threading
from collections.abc import Callable, Coroutine
from types import TracebackType
from typing import Any, Self, TypeVar
from urllib.parse import urlsplit, urlunsplit

T = TypeVar("T")

_CHUNK = 65536
#: Closing sends a reset, as a machine does that knows nothing of a connection.
_RESET = struct.pack("ii", 1, 0)


class Proxy:
    """What is switched on holds until `heal`; counts are of the proxy's whole life."""

    def __init__(self, host: str, port: int, *, url: str = "") -> None:
        self.server = (host, port)
        #: Connections taken so far, and bytes that were swallowed.
        self.accepted = 0
        self.swallowed = 0
        #: Answers lost so far.
        self.answers_lost = 0
        self._given_url = url
        self._links: set[_Link] = set()
        self._delay = 0.0
        self._silent_up = self._silent_down = False
        self._refusing = False
        self._answers_to_lose = 0
        self._loop = asyncio.new_event_loop()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    @classmethod
    def before(cls, url: str) -> "Proxy":
        """A proxy in front of the server of a database URL."""
        parts = urlsplit(url)
        default = 5432 if parts.scheme.startswith("postgres") else 3306
        return cls(parts.hostname or "127.0.0.1", parts.port or default, url=url)

    @property
    def url(self) -> str:
        """The URL given, by way of the proxy."""
        parts = urlsplit(self._given_url)
        user, at, _ = parts.netloc.rpartition("@")
        return urlunsplit(parts._replace(netloc=f"{user}{at}127.0.0.1:{self.port}"))

    @property
    def connections(self) -> int:
        """How many are open now."""
        return self._call(lambda: len(self._links))

    def cut(self) -> None:
        """Reset all connections; new ones are taken."""
        self._wait(self._cut())

    def refuse(self) -> None:
        """Reset all connections, and new ones as soon as they come."""
        self._call(lambda: setattr(self, "_refusing", True))
        self.cut()

    def silence(self, *, to_server: bool = True, to_client: bool = True) -> None:
        """Swallow every byte in these directions, without a word to either side. Connections that
        are there stay so for ever; new ones are taken, and as silent until `heal`."""

        def silence() -> None:
            self._silent_up, self._silent_down = to_server, to_client
            for link in self._links:
                link.silent_up |= to_server
                link.silent_down |= to_client

        self._call(silence)

    def delay(self, seconds: float) -> None:
        """Hold every byte back for so long, in both directions."""
        self._call(lambda: setattr(self, "_delay", seconds))

    def lose_answers(self, count: int = 1) -> None:
        """Let the next requests pass, and reset their connections when the answer comes."""
        self._call(lambda: setattr(self, "_answers_to_lose", self._answers_to_lose + count))

    def heal(self) -> None:
        """From now on pass everything on. Connections that were silent remain so."""

        def heal() -> None:
            self._delay = 0.0
            self._silent_up = self._silent_down = self._refusing = False
            self._answers_to_lose = 0

        self._call(heal)

    def __enter__(self) -> Self:
        self._listener.setblocking(False)
        self._thread.start()
        self._accepting = self._call(lambda: self._loop.create_task(self._accept()))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._wait(self._end())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()
        self._listener.close()

    def _wait(self, work: Coroutine[Any, Any, T]) -> T:
        """What `work` answers, in the thread."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(10)

    def _call(self, work: Callable[[], T]) -> T:
        async def working() -> T:
            return work()

        return self._wait(working())

    async def _cut(self) -> None:
        tasks = [link.task for link in self._links if link.task]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _end(self) -> None:
        self._accepting.cancel()
        await asyncio.gather(self._accepting, return_exceptions=True)
        await self._cut()

    async def _accept(self) -> None:
        while True:
            client, _ = await self._loop.sock_accept(self._listener)
            self.accepted += 1
            if self._refusing:
                _reset(client)
                continue
            link = _Link(client, silent_up=self._silent_up, silent_down=self._silent_down)
            self._links.add(link)
            link.task = self._loop.create_task(self._serve(link))

    async def _serve(self, link: "_Link") -> None:
        try:
            await self._loop.sock_connect(link.server, self.server)
            async with asyncio.TaskGroup() as both:
                both.create_task(self._requests(link))
                both.create_task(self._answers(link))
        except* OSError:
            pass
        finally:
            self._links.discard(link)
            _reset(link.client)
            _reset(link.server)

    async def _requests(self, link: "_Link") -> None:
        while data := await self._loop.sock_recv(link.client, _CHUNK):
            await self._held_back()
            if link.silent_up:
                self.swallowed += len(data)
                continue
            if self._answers_to_lose > 0:
                self._answers_to_lose -= 1
                link.loses_answer = True
            await self._loop.sock_sendall(link.server, data)
        if link.silent_up:
            await asyncio.Event().wait()
        raise ConnectionResetError("the client has gone")

    async def _answers(self, link: "_Link") -> None:
        while data := await self._loop.sock_recv(link.server, _CHUNK):
            await self._held_back()
            if link.silent_down:
                self.swallowed += len(data)
            elif link.loses_answer:
                self.answers_lost += 1
                raise ConnectionResetError("the answer is lost")
            else:
                await self._loop.sock_sendall(link.client, data)
        if link.silent_down:
            await asyncio.Event().wait()
        raise ConnectionResetError("the server has gone")

    async def _held_back(self) -> None:
        if self._delay:
            await asyncio.sleep(self._delay)


class _Link:
    """A connection of a client, and the one to the server that belongs to it."""

    def __init__(self, client: socket.socket, *, silent_up: bool, silent_down: bool) -> None:
        self.client = client
        self.server = socket.socket()
        for end in (self.client, self.server):
            end.setblocking(False)
        self.silent_up = silent_up
        self.silent_down = silent_down
        self.loses_answer = False
        self.task: asyncio.Task[None] | None = None


def _reset(end: socket.socket) -> None:
    with contextlib.suppress(OSError):
        end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
    end.close()
