"""Connection to the SQLite file: runs verbs in a thread of its own, and translates errors."""

import asyncio
import errno
import itertools
import os
import queue
import sqlite3
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any, TypeVar

from windlass.errors import (
    DatabaseAccessDenied,
    DatabaseDamaged,
    DatabaseFull,
    DatabaseNotReady,
    DatabaseReadOnly,
    DatabaseTimeout,
    DatabaseUnreachable,
    SchemaOutdated,
)
from windlass.storage.connection.address import Address
from windlass.storage.sql.batches import BATCHES
from windlass.storage.sql.statements import Rows, Statement
from windlass.storage.sqlite import dialect
from windlass.storage.sqlite.dialect import BatchTable
from windlass.storage.sqlite.files import create

MEMORY = ":memory:"

#: What the temporary tables of some batches must find fast, or hold once.
_CONSTRAINTS: Mapping[str, str] = {
    "jobs": ", unique (id) on conflict ignore",
    "finishes": ", unique (id, token) on conflict ignore",
    "ids": ", unique (id) on conflict ignore",
}
_SETTINGS = (
    "pragma synchronous = full",
    "pragma temp_store = memory",
    "pragma cache_size = -16384",
    # The writer copies the log back, under its lock, and nobody else; then it is cut to this size.
    "pragma wal_autocheckpoint = 0",
    "pragma journal_size_limit = 1048576",
    *(
        f"create table {dialect.table_name(name)} "
        f"({dialect.table_columns(shape)}{_CONSTRAINTS.get(name, '')})"
        for name, shape in BATCHES.items()
    ),
    "create index temp.batch_parents_child on batch_parents (child_id)",
    # The jobs a verb has picked, for verbs that cannot tell them by a condition.
    "create table temp.picked (row integer primary key, id text, line integer)",
)


#: How long such a connection waits for another writer.
_PLAIN_WAIT_SECONDS = 30.0


class Connection:
    """A connection with our settings. `clock` is the SQL expression that tells the time."""

    def __init__(self, path: str, *, clock: str, deadline: float) -> None:
        if path != MEMORY:
            create(path)
        self.sql = sqlite3.connect(
            path, timeout=deadline, isolation_level=None, cached_statements=512
        )
        self._clock = f"select {clock}"
        try:
            for statement in _SETTINGS:
                self.sql.execute(statement)
        except sqlite3.Error:
            self.sql.close()
            raise

    def run(self, statements: Sequence[Statement], params: Mapping[str, Any]) -> Rows:
        """Run a verb's statements in the transaction that is open. Answers its rows."""
        values = {name: value for name, value in params.items() if name not in BATCHES}
        batches = {name: filling for name, filling in params.items() if name in BATCHES}
        if any("now_at" in statement.names for statement in statements):
            # Read once: what is due for one statement of a verb is due for all of them.
            [values["now_at"]] = self.sql.execute(self._clock).fetchone()
        for name, filling in batches.items():
            self._fill(name, filling)
        answer: Rows = []
        for statement in statements:
            cursor = self.sql.execute(statement.text, values)
            if statement.answers and cursor.description:
                names = [column[0] for column in cursor.description]
                answer = [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
        for name in batches:
            self.sql.execute(f"delete from {dialect.table_name(name)}")
        return answer

    @contextmanager
    def transaction(self, begin: str) -> Iterator[None]:
        """A transaction that is committed, or rolled back when anything goes wrong."""
        self.sql.execute(begin)
        try:
            yield
            self.sql.execute("commit")
        except BaseException:
            # Some errors, such as a full disk, have rolled back already.
            if self.sql.in_transaction:
                self.sql.execute("rollback")
            raise

    def close(self) -> None:
        self.sql.close()

    def _fill(self, name: str, filling: BatchTable) -> None:
        table = dialect.table_name(name)
        self.sql.execute(f"delete from {table}")
        if filling.rows:
            places = ", ".join("?" * len(filling.columns))
            self.sql.executemany(
                f"insert into {table} ({', '.join(filling.columns)}) values ({places})",
                filling.rows,
            )


_BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_INTERRUPT}
#: What was to be stored is at fault.
_CONTENT = {
    sqlite3.SQLITE_CONSTRAINT,
    sqlite3.SQLITE_MISMATCH,
    sqlite3.SQLITE_RANGE,
    sqlite3.SQLITE_TOOBIG,
}
_ERRORS: Mapping[int, type[DatabaseUnreachable]] = {
    sqlite3.SQLITE_AUTH: DatabaseAccessDenied,
    sqlite3.SQLITE_CANTOPEN: DatabaseUnreachable,
    sqlite3.SQLITE_CORRUPT: DatabaseDamaged,
    sqlite3.SQLITE_FORMAT: DatabaseDamaged,
    sqlite3.SQLITE_FULL: DatabaseFull,
    sqlite3.SQLITE_IOERR: DatabaseUnreachable,
    sqlite3.SQLITE_NOTADB: DatabaseDamaged,
    sqlite3.SQLITE_PERM: DatabaseReadOnly,
    sqlite3.SQLITE_READONLY: DatabaseReadOnly,
}
_NO_ROOM = {errno.ENOSPC, errno.EDQUOT}
_FORBIDDEN = {errno.EACCES, errno.EPERM}


@contextmanager
def translate_errors(url: str, deadline: float) -> Iterator[None]:
    """Turn what the driver and the file system raise into our own errors.

    What is about the content stays as it is. Whatever is not known to be the content's fault is an
    outage: kept, and tried again.
    """
    try:
        yield
    except sqlite3.Error as error:
        if (translated := _translate(error, url, deadline)) is None:
            raise
        raise translated from error
    except OSError as error:
        raise _meaning_of_file(error, url) from error


def _translate(error: sqlite3.Error, url: str, deadline: float) -> Exception | None:
    said = str(error)
    code = getattr(error, "sqlite_errorcode", None)
    if code is None:  # the driver's own complaint: about a value, or about a closed connection
        return DatabaseUnreachable(url, cause=said) if "closed" in said else None
    code &= 0xFF  # the rest tells more of the same
    if code in _BUSY:
        return DatabaseTimeout("let this process use the file", seconds=deadline)
    if "no such table: windlass_" in said:
        return SchemaOutdated(found=0, needed=1)
    if code in _CONTENT or (code == sqlite3.SQLITE_ERROR and "JSON" in said):
        return None
    return _ERRORS.get(code, DatabaseNotReady)(url, cause=said)


def _meaning_of_file(error: OSError, url: str) -> DatabaseUnreachable:
    cause = error.strerror or str(error)
    if error.errno in _NO_ROOM:
        return DatabaseFull(url)
    if error.errno == errno.EROFS:
        return DatabaseReadOnly(url, cause=cause)
    if error.errno in _FORBIDDEN:
        readable = os.access(Address.parse(url).name, os.R_OK)
        return (DatabaseReadOnly if readable else DatabaseAccessDenied)(url, cause=cause)
    return DatabaseUnreachable(url, cause=cause)


T = TypeVar("T")
_Waiting = queue.PriorityQueue[tuple[int, int, Callable[[], None] | None]]

_URGENT, _ORDINARY, _LAST = range(3)


class WorkThread:
    """Does one thing after the other, urgent ones first. It starts with the first of them."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._waiting: _Waiting = queue.PriorityQueue()
        self._number = itertools.count()
        self._thread: threading.Thread | None = None

    async def do(self, work: Callable[[], T], *, urgent: bool = False) -> T:
        """Wait for the answer of `work`. Canceled, it is not begun, or ends unheard."""
        return await asyncio.wrap_future(self.post(work, urgent=urgent))

    def post(self, work: Callable[[], T], *, urgent: bool = False) -> "Future[T]":
        """Have `work` done, without waiting for it."""
        if self._thread is None:
            self._thread = threading.Thread(
                target=_work_off, args=[self._waiting], name=self._name, daemon=True
            )
            self._thread.start()
        answer: Future[T] = Future()
        self._put(_URGENT if urgent else _ORDINARY, lambda: resolve_future(answer, work))
        return answer

    def stop(self) -> None:
        """End the thread after everything it was given. It starts again when it is needed."""
        if self._thread is not None:
            self._put(_LAST, None)
            self._thread, self._waiting = None, queue.PriorityQueue()

    def _put(self, urgency: int, work: Callable[[], None] | None) -> None:
        self._waiting.put((urgency, next(self._number), work))


def _work_off(waiting: _Waiting) -> None:
    while (work := waiting.get()[2]) is not None:
        work()


def resolve_future(answer: "Future[Any]", work: Callable[[], Any]) -> None:
    """Do `work` and let its answer, or its error, be the answer; nothing if it was canceled."""
    if not answer.set_running_or_notify_cancel():
        return
    try:
        answer.set_result(work())
    except BaseException as error:  # noqa: BLE001  (whoever waits gets it)
        answer.set_exception(error)


def plain_connection(path: str) -> sqlite3.Connection:
    """A connection without our settings, for tables that belong to an application."""
    return sqlite3.connect(path, timeout=_PLAIN_WAIT_SECONDS, isolation_level="IMMEDIATE")
