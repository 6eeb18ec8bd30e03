"""Connections that wait to be used again.

The driver's own pool cleans a connection up after each use, by a task and a round trip. Nothing here
leaves anything behind on a connection but what `loan` looks for.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from windlass import clock

#: A connection not needed for this long is closed.
_IDLE_SECONDS = 300.0
#: How long the end waits for connections that are being made.
_LAST_SECONDS = 1.0


class Pool:
    """At most `size` connections at once, made when they are first needed."""

    def __init__(self, connect: Callable[[], Awaitable[Any]], size: int) -> None:
        self._connect = connect
        self._room = asyncio.Semaphore(size)
        self._idle: deque[tuple[Any, float]] = deque()
        self._unwanted: set[asyncio.Future[Any]] = set()
        self._closed = False

    @asynccontextmanager
    async def loan(self, timeout: float) -> AsyncIterator[Any]:
        """A connection of one's own; TimeoutError if none comes free in that time."""
        if self._room.locked():
            async with asyncio.timeout(timeout):
                await self._room.acquire()
        else:
            await self._room.acquire()
        try:
            connection = self._take() or await self._made()
            try:
                yield connection
            except (asyncio.CancelledError, TimeoutError):
                connection.terminate()  # its statement may still be under way
                raise
            finally:
                self._give_back(connection)
        finally:
            self._room.release()

    async def close(self) -> None:
        self._closed = True
        if self._unwanted:
            await asyncio.wait(self._unwanted, timeout=_LAST_SECONDS)
        while self._idle:
            connection, _ = self._idle.pop()
            await connection.close(timeout=5)

    async def _made(self) -> Any:
        """A new connection. Whoever does not wait for it any more leaves it to be closed once it is
        there: cut short in the middle, the driver complains to nobody."""
        making = asyncio.ensure_future(self._connect())
        try:
            return await asyncio.shield(making)
        except asyncio.CancelledError:
            self._unwanted.add(making)
            making.add_done_callback(self._drop)
            raise

    def _drop(self, made: asyncio.Future[Any]) -> None:
        self._unwanted.discard(made)
        if not made.cancelled() and made.exception() is None:
            made.result().terminate()

    def _take(self) -> Any:
        while self._idle:
            connection, _ = self._idle.pop()
            if not connection.is_closed():
                return connection
        return None

    def _give_back(self, connection: Any) -> None:
        if self._closed or connection.is_closed() or connection.is_in_transaction():
            connection.terminate()
            return
        now = clock.monotonic()
        self._idle.append((connection, now))
        while self._idle[0][1] < now - _IDLE_SECONDS:
            self._idle.popleft()[0].terminate()
