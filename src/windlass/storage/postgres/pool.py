"""A pool of connections.

The driver's own pool resets a connection after each use, with a task and a round trip. Windlass
leaves nothing behind on a connection except what `checkout` checks for.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

from windlass import clock
from windlass.storage.postgres.connect import closed
from windlass.tasks import start_task

#: A connection idle for this long is closed.
_IDLE_SECONDS = 300.0
#: Longest wait at shutdown for connections that are being opened, and for those that are closed.
_LAST_SECONDS = 1.0


class PostgresPool:
    """Holds at most `size` connections, opened when first needed."""

    def __init__(self, connect: Callable[[], Coroutine[Any, Any, Any]], size: int) -> None:
        self._connect = connect
        self._room = asyncio.Semaphore(size)
        self._idle: deque[tuple[Any, float]] = deque()
        self._making: set[asyncio.Future[Any]] = set()
        self._closed = False

    @asynccontextmanager
    async def checkout(self, *, place: float, connect: float) -> AsyncIterator[Any]:
        """Lend a connection; TimeoutError if none comes free within `place` seconds, or none can be
        opened within `connect`."""
        if self._room.locked():
            async with asyncio.timeout(place):
                await self._room.acquire()
        else:
            await self._room.acquire()
        connection = self._take() or await self._open(connect)
        try:
            yield connection
        except (asyncio.CancelledError, TimeoutError):
            connection.terminate()  # its statement may still be running
            raise
        finally:
            self._give_back(connection)
            self._room.release()

    def drop_idle(self) -> None:
        """Drop the idle connections: they lead to the server where another has just failed."""
        while self._idle:
            self._idle.pop()[0].terminate()

    async def close(self) -> None:
        self._closed = True
        making = set(self._making)
        if making:
            await asyncio.wait(making, timeout=_LAST_SECONDS)
            for each in making:
                each.cancel()
            await asyncio.gather(*making, return_exceptions=True)
        idle, self._idle = list(self._idle), deque()
        try:
            await asyncio.gather(*(closed(each, within=_LAST_SECONDS) for each, _ in idle))
        finally:
            for connection, _ in idle:
                connection.terminate()  # no effect on closed ones
            await asyncio.sleep(0)  # lets terminated transports release their sockets

    async def _open(self, timeout: float) -> Any:
        """Open a connection. After a timeout it keeps its place and is finished for the next
        caller: on a slow link, starting over each time would never succeed."""
        making = start_task(self._connect())
        self._making.add(making)
        try:
            async with asyncio.timeout(timeout):
                connection = await asyncio.shield(making)
        except BaseException:
            making.add_done_callback(self._keep_late_connection)
            raise
        self._making.discard(making)
        return connection

    def _keep_late_connection(self, made: asyncio.Future[Any]) -> None:
        self._making.discard(made)
        if not made.cancelled() and made.exception() is None:
            self._give_back(made.result())
        self._room.release()

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
