"""SQLite in memory, on the event loop's own thread: the real SQL, with nothing to wait for.

A schedule of some hundred statements takes milliseconds, and is the same each time.
"""

import sqlite3
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from datetime import datetime
from typing import Any

from windlass.storage.connection.address import Address
from windlass.storage.database import Lane
from windlass.storage.sql.statements import Rows, Scripts, split
from windlass.storage.sqlite.connection import Connection
from windlass.storage.sqlite.database import SqliteDatabase

_URL = "sqlite:///:memory:"
_NOW = "virtual_now()"


class MemoryDatabase(SqliteDatabase):
    """One connection, used by all simulated processes; `now` is the time of its clock."""

    def __init__(self, now: datetime) -> None:
        super().__init__(Address.parse(_URL), now=_NOW)
        self.now = now
        self._open: Connection | None = None

    def connect(self) -> sqlite3.Connection:
        """The connection below, for copies of the whole database."""
        sql = self._writer.connection.sql
        sql.create_function("virtual_now", 0, lambda: round(self.now.timestamp() * 1_000_000))
        return sql

    async def run(self, verb: str, /, *, lane: Lane = Lane.GENERAL, **params: Any) -> Rows:
        with self._connected(only_reads=self._only_reads(verb)) as connection:
            return connection.run(self._scripts[verb], self._scripts.bind(params))

    @asynccontextmanager
    async def transaction(self, lane: Lane = Lane.GENERAL) -> AsyncIterator[Any]:
        assert self._open is None, "a transaction inside a transaction"
        with self._writer.writing() as connection:
            self._open = connection
            try:
                yield _Transaction(self._scripts, connection)
            finally:
                self._open = None

    async def query(self, text: str, params: Mapping[str, Any]) -> Rows:
        with self._connected(only_reads=True) as connection:
            return connection.run(self._scripts.prepare(text), self._scripts.bind(params))

    async def script(self, text: str) -> None:
        with self._writer.writing() as connection:
            for part in split(text):
                connection.sql.execute(part)

    async def nudge(self, queues: Sequence[str]) -> None:
        pass  # nudges save time and are never needed

    async def close(self) -> None:
        self._writer.close()

    @contextmanager
    def _connected(self, *, only_reads: bool) -> Iterator[Connection]:
        # An error of the driver's is not translated: here it is no outage, but a fault to be seen.
        if self._open is not None:
            assert only_reads, "a write beside the transaction that is open"
            yield self._open
            return
        session = self._writer.reading if only_reads else self._writer.writing
        with session() as connection:
            yield connection


class _Transaction:
    def __init__(self, scripts: Scripts, connection: Connection) -> None:
        self._scripts = scripts
        self._connection = connection

    async def run(self, verb: str, /, **params: Any) -> Rows:
        return self._connection.run(self._scripts[verb], self._scripts.bind(params))
