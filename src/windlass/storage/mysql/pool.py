"""A few connections for one kind of work, each lent to one task at a time.

The driver blocks, so each call runs in a thread. The threads are the pool's own: handlers that fill
the event loop's threads cannot keep a lease from being renewed.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, TypeVar

import pymysql

from windlass.errors import (
    DatabaseNotReady,
    DatabaseReadOnly,
    DatabaseTimeout,
    DatabaseUnreachable,
)
from windlass.storage.connection.address import Address
from windlass.storage.mysql.connection import MysqlConnection
from windlass.storage.mysql.faults import error_for

T = TypeVar("T")

#: Errors after which the idle connections are dropped too.
_SUSPECT = {DatabaseTimeout, DatabaseReadOnly, DatabaseUnreachable, DatabaseNotReady}


class MysqlPool:
    """Connects when first needed; at most `size` connections.

    `place` is the longest wait for a free connection in seconds, `usual` for a response. `suspect`
    is called on an error that may affect the other connections too.
    """

    def __init__(
        self,
        address: Address,
        *,
        name: str,
        size: int,
        place: float,
        usual: float,
        suspect: Callable[[], None],
    ) -> None:
        self._address = address
        self._place = place
        self._usual = usual
        self._suspect = suspect
        self._name = name
        self._places = asyncio.Semaphore(size)
        self._threads = ThreadPoolExecutor(size, thread_name_prefix=name)
        #: Kills abandoned statements, in a thread that never waits for the pool.
        self._cutters = ThreadPoolExecutor(1, thread_name_prefix=f"{name} cut")
        self._idle: list[MysqlConnection] = []
        self._lent: set[MysqlConnection] = set()
        self._closed = False

    @asynccontextmanager
    async def checkout(self) -> AsyncIterator["Checkout"]:
        """Lend a connection to one task; waits if all are lent."""
        try:
            async with asyncio.timeout(self._place):
                await self._places.acquire()
        except TimeoutError:
            raise DatabaseTimeout("give a free connection", seconds=self._place) from None
        checkout = Checkout(self, self._idle_link() or await self._open())
        self._lent.add(checkout.link)
        try:
            yield checkout
        finally:
            checkout.end()

    def close(self) -> None:
        """Drop every connection; running statements fail."""
        self._closed = True
        for link in self._idle:
            link.close()
        self._idle.clear()
        for link in self._lent:
            self.cut(link)
        self._threads.shutdown(wait=False)
        self._cutters.shutdown(wait=False)

    def drop_idle(self) -> None:
        """Drop the idle connections: they lead to the server where another has just failed."""
        while self._idle:
            self._idle.pop().drop()

    async def in_thread(
        self,
        work: Callable[[], T],
        on_abandoned: Callable[["asyncio.Future[T]"], None],
        seconds: float | None = None,
    ) -> T:
        """Run `work` in a thread and return its result. After a timeout or a cancellation the thread
        still runs, and `on_abandoned` gets its future."""
        deadline = seconds or self._usual
        running = asyncio.get_running_loop().run_in_executor(self._threads, work)
        try:
            async with asyncio.timeout(deadline):
                return await asyncio.shield(running)
        except pymysql.Error as error:
            translated = error_for(error, self._address)
            if type(translated) in _SUSPECT:
                self._suspect()
            raise translated from (None if translated is error else error)
        except TimeoutError:
            on_abandoned(running)
            self._suspect()
            raise DatabaseTimeout("answer a statement", seconds=deadline) from None
        except asyncio.CancelledError:
            on_abandoned(running)
            raise

    def reclaim(self, link: MysqlConnection) -> None:
        """End a checkout; no thread uses the connection any more."""
        self._lent.discard(link)
        if link.usable and not self._closed:
            self._idle.append(link)
        else:
            link.drop()
        self._places.release()

    def cut(self, link: MysqlConnection) -> None:
        """Free the thread that waits for this connection, and kill its statement on the server."""
        link.sever()
        # Else the server would hold its locks until it next writes to the connection.
        with contextlib.suppress(RuntimeError):  # the interpreter is going down
            self._cutters.submit(self._kill, link.number)

    def _idle_link(self) -> MysqlConnection | None:
        while self._idle:
            link = self._idle.pop()
            if link.usable:
                return link
            link.drop()
        return None

    async def _open(self) -> MysqlConnection:
        abandoned: list[asyncio.Future[MysqlConnection]] = []
        try:
            return await self.in_thread(self._connect, abandoned.append)
        except BaseException:
            if abandoned:
                abandoned[0].add_done_callback(self._keep_late_connection)
            else:
                self._places.release()
            raise

    def _keep_late_connection(self, made: "asyncio.Future[MysqlConnection]") -> None:
        # Keep it for the next task: on a slow link, starting over each time would never succeed.
        if not made.cancelled() and made.exception() is None:
            link = made.result()
            self._lent.add(link)
            self.reclaim(link)
        else:
            self._places.release()

    def _connect(self) -> MysqlConnection:
        return MysqlConnection(self._address, name=self._name)

    def _kill(self, number: int) -> None:
        with contextlib.suppress(pymysql.Error):  # gone already, or the server is
            other = self._connect()
            try:
                other.query(f"kill {number}")
            finally:
                other.close()


class Checkout:
    """A connection on checkout to one task."""

    def __init__(self, pool: MysqlPool, link: MysqlConnection) -> None:
        self.link = link
        self._pool = pool
        self._abandoned: asyncio.Future[Any] | None = None

    async def call(
        self, work: Callable[[MysqlConnection], T], *, seconds: float | None = None
    ) -> T:
        """Let `work` use the connection in a thread. If the call is abandoned, the connection is cut
        off from the server and never lent again."""
        try:
            return await self._pool.in_thread(partial(work, self.link), self._abandon, seconds)
        except DatabaseReadOnly:
            self.link.spent = True
            raise

    @property
    def lost(self) -> bool:
        """True if a call was abandoned, so that the connection is unusable."""
        return self._abandoned is not None

    def end(self) -> None:
        """Give the connection back as soon as no thread uses it."""
        if self._abandoned is None:
            self._pool.reclaim(self.link)
        else:
            self._abandoned.add_done_callback(self._end_late)

    def _abandon(self, running: "asyncio.Future[Any]") -> None:
        self._abandoned = running
        self._pool.cut(self.link)

    def _end_late(self, abandoned: "asyncio.Future[Any]") -> None:
        if not abandoned.cancelled():
            abandoned.exception()  # retrieved, so that asyncio does not log it
        self.link.drop()
        self._pool.reclaim(self.link)
