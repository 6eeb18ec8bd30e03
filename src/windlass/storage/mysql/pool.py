"""A few connections for one kind of work, each lent to one task at a time.

The driver blocks, so what a task asks of its connection runs in a thread. The threads are the
pool's own: handlers that fill the event loop's threads cannot keep a lease from being renewed.
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

#: Errors after which the other connections that wait are not to be trusted either.
_SUSPECT = {DatabaseTimeout, DatabaseReadOnly, DatabaseUnreachable, DatabaseNotReady}


class MysqlPool:
    """Connects when first needed, and no more often than it has places.

    `place` is how many seconds to wait for a place, `usual` for an answer. `suspect` is called when
    something fails that the other connections may have met too.
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
        #: Ends what a task no longer waits for; not in a thread that may be waiting itself.
        self._cutters = ThreadPoolExecutor(1, thread_name_prefix=f"{name} cut")
        self._idle: list[MysqlConnection] = []
        self._lent: set[MysqlConnection] = set()
        self._closed = False

    @asynccontextmanager
    async def checkout(self) -> AsyncIterator["Checkout"]:
        """A connection for one task, waited for if all are lent."""
        try:
            async with asyncio.timeout(self._place):
                await self._places.acquire()
        except TimeoutError:
            raise DatabaseTimeout("give a free connection", seconds=self._place) from None
        checkout = Checkout(self, self._idle_link() or await self._connected())
        self._lent.add(checkout.link)
        try:
            yield checkout
        finally:
            checkout.end()

    def close(self) -> None:
        """Drop every connection; what is under way fails."""
        self._closed = True
        for link in self._idle:
            link.close()
        self._idle.clear()
        for link in self._lent:
            self.cut(link)
        self._threads.shutdown(wait=False)
        self._cutters.shutdown(wait=False)

    def drop_idle(self) -> None:
        """End the connections that wait: they lead where another one has just failed."""
        while self._idle:
            self._idle.pop().drop()

    async def in_thread(
        self,
        work: Callable[[], T],
        left: Callable[["asyncio.Future[T]"], None],
        seconds: float | None = None,
    ) -> T:
        """Run `work` in a thread and return its result. After a deadline or a cancellation the thread
        still runs it, and its future goes to `left`."""
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
            left(running)
            self._suspect()
            raise DatabaseTimeout("answer a statement", seconds=deadline) from None
        except asyncio.CancelledError:
            left(running)
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
        """Free the thread that waits for this connection, and end what the server does for it."""
        link.sever()
        # The server would notice only when it next had something to say, its locks still held.
        with contextlib.suppress(RuntimeError):  # the interpreter is going down
            self._cutters.submit(self._kill, link.number)

    def _idle_link(self) -> MysqlConnection | None:
        while self._idle:
            link = self._idle.pop()
            if link.usable:
                return link
            link.drop()
        return None

    async def _connected(self) -> MysqlConnection:
        late: list[asyncio.Future[MysqlConnection]] = []
        try:
            return await self.in_thread(self._connect, late.append)
        except BaseException:
            if late:
                late[0].add_done_callback(self._connected_late)
            else:
                self._places.release()
            raise

    def _connected_late(self, made: "asyncio.Future[MysqlConnection]") -> None:
        # For the next: on a slow link nothing would ever come of connections begun anew.
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
        self._left: asyncio.Future[Any] | None = None

    async def call(
        self, work: Callable[[MysqlConnection], T], *, seconds: float | None = None
    ) -> T:
        """Let `work` use the connection in a thread. If it is given up, it is cut off from the
        server, and the connection is never lent again."""
        try:
            return await self._pool.in_thread(partial(work, self.link), self._leave, seconds)
        except DatabaseReadOnly:
            self.link.spent = True
            raise

    @property
    def lost(self) -> bool:
        """Check if a call was given up, so that the connection is of no more use."""
        return self._left is not None

    def end(self) -> None:
        """Give the connection back as soon as no thread uses it."""
        if self._left is None:
            self._pool.reclaim(self.link)
        else:
            self._left.add_done_callback(self._end_late)

    def _leave(self, running: "asyncio.Future[Any]") -> None:
        self._left = running
        self._pool.cut(self.link)

    def _end_late(self, left: "asyncio.Future[Any]") -> None:
        if not left.cancelled():
            left.exception()  # heard, so that nobody reports it as overlooked
        self.link.drop()
        self._pool.reclaim(self.link)
