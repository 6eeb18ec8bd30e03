"""SQLite as a database: one thread that writes, one that reads."""

import asyncio
import os
import re
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from windlass.errors import DatabaseNotFound, DatabaseReadOnly, DatabaseTimeout
from windlass.storage.connection.address import Address
from windlass.storage.connection.deadlines import Deadlines
from windlass.storage.database import Lane, Watch
from windlass.storage.sql.statements import Dialect, Rows, Scripts, Statement, split
from windlass.storage.sqlite import dialect
from windlass.storage.sqlite.connection import MEMORY, Connection, WorkThread, translate_errors
from windlass.storage.sqlite.files import files_readable_by_others
from windlass.storage.sqlite.lock_holders import lock_holders, lock_timeout_error
from windlass.storage.sqlite.watch import SqliteWatch, listeners_folder, nudge
from windlass.storage.sqlite.write_transaction import WriteTransaction
from windlass.storage.sqlite.writer import Writer

T = TypeVar("T")

#: Longest wait for the file, and longest silence in a transaction, in seconds.
_DEADLINE = 60.0
_CHANGES = re.compile(r"\b(insert|update|delete)\b")


class SqliteDatabase:
    """A file, or `:memory:`, where reader and writer are one."""

    kind = "sqlite"
    schema: str | None = None

    def __init__(
        self,
        address: Address,
        *,
        now: str | None = None,
        deadline: float = _DEADLINE,
        deadlines: Deadlines | None = None,
    ) -> None:
        self._address = address
        self._deadline = deadline
        #: A renewal that hangs leaves time for another one.
        self._renew_deadline = min((deadlines or Deadlines()).renew, deadline / 6)
        self._now = now or dialect.NOW
        self._path = address.name if address.name == MEMORY else os.path.realpath(address.name)
        self._scripts = Scripts(dialect.driver_dialect())
        self._read_only: dict[str, bool] = {}
        self._writer = Writer(self._path, clock=self._now, deadline=deadline)
        self._writer_thread = WorkThread("windlass sqlite writer")
        self._reader: Connection | None = None
        self._reader_thread = WorkThread("windlass sqlite reader")
        self._migrating = asyncio.Lock()
        self._watches: set[SqliteWatch] = set()

    def check_exists(self) -> None:
        # Of a folder that is not there, connecting tells.
        folder_exists = self._path != MEMORY and os.path.isdir(os.path.dirname(self._path))
        if folder_exists and not os.path.exists(self._path):
            raise DatabaseNotFound(self._address.url)

    async def run(self, verb: str, /, *, lane: Lane = Lane.GENERAL, **params: Any) -> Rows:
        statements, bound = self._scripts[verb], self._scripts.bind(params)
        only_reads = self._only_reads(verb)
        if only_reads and lane is Lane.GENERAL:
            return await self._read(statements, bound)
        # Claims look through the writer, so that they do not stand behind the lists of others.
        session = self._writer.reading if only_reads else self._writing

        def work() -> Rows:
            with session() as connection:
                return connection.run(statements, bound)

        return await self._do(self._writer_thread, work, lane)

    @asynccontextmanager
    async def transaction(self, lane: Lane = Lane.GENERAL) -> AsyncIterator[WriteTransaction]:
        turn = WriteTransaction(self._scripts, deadline=self._deadline)
        served = self._writer_thread.post(
            lambda: turn.serve(self._writing), urgent=lane is Lane.RENEW
        )
        try:
            await turn.begin()
            yield turn
        except BaseException:
            # Nothing is awaited, so that no second cancellation can leave the transaction open.
            turn.end(keep=False)
            raise
        turn.end(keep=True)
        await asyncio.wrap_future(served)

    async def query(self, text: str, params: Mapping[str, Any]) -> Rows:
        return await self._read(self._scripts.prepare(text), self._scripts.bind(params))

    async def script(self, text: str) -> None:
        def work() -> None:
            with self._writing() as connection:
                for part in split(text):
                    connection.sql.execute(part)

        await self._do(self._writer_thread, work)

    @asynccontextmanager
    async def migration_lock(self) -> AsyncIterator[None]:
        async with self._migrating:
            locked = self._writer_thread.post(self._translated(self._writer.lock))

            def unlock() -> None:
                # A wait that was canceled may have won the lock all the same.
                if not locked.cancelled() and locked.exception() is None:
                    self._writer.unlock()

            try:
                await asyncio.wrap_future(locked)
                yield
            finally:
                self._writer_thread.post(unlock)

    def caller_dialect(self, placeholder: str) -> Dialect:
        return dialect.caller_dialect(placeholder, self._now)

    async def nudge(self, queues: Sequence[str]) -> None:
        for watch in self._watches:
            watch.heard(queues)
        if self._listeners is not None and self._listeners.exists():
            nudge(self._listeners, queues, but=[watch.path for watch in self._watches])

    async def watch(self, queues: Sequence[str] | None) -> Watch:
        watch = SqliteWatch(self._listeners, queues, self._watches.discard)
        self._watches.add(watch)
        return watch

    @cached_property
    def _listeners(self) -> Path | None:
        return None if self._path == MEMORY else listeners_folder(self._path)

    async def warnings(self) -> Sequence[str]:
        return await self._do(self._writer_thread, self._writer.warnings)

    async def stopped_writers(self) -> Sequence[str]:
        return [holder.name for holder in lock_holders(self._path) if holder.stopped]

    async def readable_files(self) -> Sequence[str]:
        return [] if self._path == MEMORY else files_readable_by_others(self._path)

    async def read_only(self) -> str:
        needed = [self._path, os.path.dirname(self._path)]
        if self._path == MEMORY or all(os.access(each, os.W_OK) for each in needed):
            return ""
        return "its file or folder may not be written by this user"

    async def close(self) -> None:
        if self._reader is not None:
            self._reader.sql.interrupt()  # whatever is still being read, nobody waits for it
            await self._do(self._reader_thread, self._close_reader)
        await self._do(self._writer_thread, self._writer.close)
        self._reader_thread.stop()
        self._writer_thread.stop()

    async def _read(self, statements: Sequence[Statement], bound: Mapping[str, Any]) -> Rows:
        def work() -> Rows:
            with self._reading() as connection:
                return connection.run(statements, bound)

        if self._path == MEMORY:
            return await self._do(self._writer_thread, work)
        try:
            return await self._do(self._reader_thread, work)
        except DatabaseTimeout:
            if self._reader is not None:
                self._reader.sql.interrupt()
            raise

    async def _do(self, thread: WorkThread, work: Callable[[], T], lane: Lane = Lane.GENERAL) -> T:
        seconds = self._renew_deadline if lane is Lane.RENEW else self._deadline
        try:
            async with asyncio.timeout(seconds):
                return await thread.do(self._translated(work), urgent=lane is Lane.RENEW)
        except TimeoutError as error:
            raise lock_timeout_error("answer a statement", self._path, seconds=seconds) from error

    def _translated(self, work: Callable[[], T]) -> Callable[[], T]:
        def translating() -> T:
            with translate_errors(self._address.url, self._deadline):
                return work()

        return translating

    @contextmanager
    def _writing(self) -> Iterator[Connection]:
        """The writer's transaction. A connection opened while the file could not be written would
        never write: it is dropped."""
        try:
            with translate_errors(self._address.url, self._deadline):
                with self._writer.writing() as connection:
                    yield connection
        except DatabaseReadOnly:
            self._writer.drop()
            raise

    @contextmanager
    def _reading(self) -> Iterator[Connection]:
        if self._path == MEMORY:
            with self._writer.reading() as connection:
                yield connection
            return
        if self._reader is None:
            self._reader = Connection(self._path, clock=self._now, deadline=self._deadline)
        with self._reader.transaction("begin"):
            yield self._reader

    def _close_reader(self) -> None:
        if self._reader is not None:
            self._reader.close()
            self._reader = None

    def _only_reads(self, verb: str) -> bool:
        if verb not in self._read_only:
            texts = [statement.text for statement in self._scripts[verb]]
            self._read_only[verb] = not any(_CHANGES.search(text) for text in texts)
        return self._read_only[verb]
