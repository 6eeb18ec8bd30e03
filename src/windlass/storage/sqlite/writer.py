"""The one connection of a process that writes, and the care it takes of the file.

Everything here runs in the writer's thread. Between processes the file lock decides who writes;
checkpoints happen under the same lock, when the write-ahead log has grown.
"""

import fcntl
import os
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress

from windlass.storage.sqlite.connection import MEMORY, Connection
from windlass.storage.sqlite.files import file_mode
from windlass.storage.sqlite.lock_holders import lock_timeout_error
from windlass.storage.sqlite.mounts import network_filesystem

#: The log is copied back when it has grown by so many bytes: before connections that are not ours,
#: which do so at 1,000 pages of 4 KiB, would ever think of it.
_LOG_BYTES = 3 * 1024 * 1024
#: From this version on, and in the lines that got the fix, connections without our lock are safe too.
_FIXED = (3, 51, 3)
_FIXED_LINES = {(3, 44): 6, (3, 50): 7}


class Writer:
    """Opened on first use; may be closed and used again."""

    def __init__(self, path: str, *, clock: str, deadline: float) -> None:
        self._path = path
        self._clock = clock
        self._deadline = deadline
        self._connection: Connection | None = None
        self._lock = None if path == MEMORY else FileLock(path, deadline=deadline)
        self._next_checkpoint = _LOG_BYTES

    @property
    def connection(self) -> Connection:
        if self._connection is None:
            with self.locked():
                connection = Connection(self._path, clock=self._clock, deadline=self._deadline)
                _choose_journal(connection.sql)
                self._connection = connection
        return self._connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction that may write: the only one, in all processes."""
        with self.locked():
            connection = self.connection
            with connection.transaction("begin immediate"):
                yield connection
            self._copy_back_log(connection.sql)

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A transaction that only reads, and waits for nobody."""
        connection = self.connection
        with connection.transaction("begin"):
            yield connection

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep every other process from writing."""
        with self._lock.held() if self._lock else nullcontext():
            yield

    def lock(self) -> None:
        """The same, until `unlock`."""
        if self._lock:
            self._lock.acquire()

    def unlock(self) -> None:
        if self._lock:
            self._lock.release()

    def warnings(self) -> Sequence[str]:
        """A sentence for each reason why the file may not keep what it acknowledges."""
        if self._path == MEMORY:
            return ["SQLite runs in memory: all jobs are lost when the process ends"]
        found = []
        if kind := network_filesystem(self._path):
            found.append(
                f"The SQLite file is on a network file system ({kind}), whose locks do not keep machines "
                "apart: put it on a disk of this machine, or use PostgreSQL or MariaDB"
            )
        with self.reading() as connection:
            if _journal(connection.sql) != "wal" or _log_is_safe(connection.sql):
                return found
        return [
            *found,
            f"SQLite {sqlite3.sqlite_version} can corrupt a file in write-ahead-log mode that "
            "connections other than Windlass's write to, and this one has tables of others: "
            "install SQLite 3.51.3, or set `pragma journal_mode = delete` while nothing runs",
        ]

    def close(self) -> None:
        if self._connection is not None:
            with self.locked():  # the last one to close copies the log back
                self._connection.close()
            self._connection = None
        if self._lock:
            self._lock.close()

    def drop(self) -> None:
        """Close a connection that cannot write, and so copies nothing back; the next is new."""
        if self._connection is not None and self._path != MEMORY:
            self._connection.close()
            self._connection = None

    def _copy_back_log(self, sql: sqlite3.Connection) -> None:
        try:
            size = os.stat(f"{self._path}-wal").st_size
        except FileNotFoundError:  # another journal mode, or in memory
            return
        if size < _LOG_BYTES:
            self._next_checkpoint = _LOG_BYTES
        elif size >= self._next_checkpoint:
            self._next_checkpoint = size + _LOG_BYTES
            # What a long reader needs stays in the log until the next time, and so does all of it
            # when this fails: what was written is committed, and that is all a caller may hear.
            with suppress(sqlite3.Error):
                sql.execute("pragma wal_checkpoint(passive)").fetchall()


def _choose_journal(sql: sqlite3.Connection) -> None:
    if _journal(sql) in ("wal", "memory"):
        return
    # Without the log a reader and a writer wait for each other, but nothing can be corrupted.
    mode = "wal" if _log_is_safe(sql) else "truncate"
    sql.execute(f"pragma journal_mode = {mode}")


def _journal(sql: sqlite3.Connection) -> str:
    [mode] = sql.execute("pragma journal_mode").fetchone()
    return str(mode)


def _log_is_safe(sql: sqlite3.Connection) -> bool:
    """Check that every writer of the file has the fix or takes our lock."""
    version = sqlite3.sqlite_version_info
    if version >= _FIXED or version[2] >= _FIXED_LINES.get(version[:2], 1000):
        return True
    [others] = sql.execute(
        "select count(*) from sqlite_schema where type = 'table' "
        "and name not like 'windlass!_%' escape '!' and name not like 'sqlite!_%' escape '!'"
    ).fetchone()
    return not others


_FIRST_NAP = 0.0001
_LONGEST_NAP = 0.002
#: How long to wait for the place next in line.
_PATIENCE_SECONDS = 1.0


class FileLock:
    """Held by one process at a time, and in it by one object of this class, for one thread.

    There are two files: `…-lock` is the lock, `…-next` the place of the one who gets it next.
    Without that place a busy process would take the lock again before others have noticed that
    it was free. The place is a courtesy: who has waited for it for a while tries the lock itself,
    because a process may stand still in that place and hold nothing else.
    """

    def __init__(self, path: str, *, deadline: float) -> None:
        self._lock = _LockedFile(path, "-lock")
        self._next = _LockedFile(path, "-next")
        self._path = path
        self._deadline = deadline
        self._depth = 0

    @contextmanager
    def held(self) -> Iterator[None]:
        """Wait for the lock and keep it; one that is held here already is simply kept."""
        self.acquire()
        try:
            yield
        finally:
            self.release()

    def acquire(self) -> None:
        if self._depth == 0:
            now = time.monotonic()
            self._wait(self._next.take, now + min(_PATIENCE_SECONDS, self._deadline / 2))
            try:
                if not self._wait(self._lock.take, now + self._deadline):
                    raise lock_timeout_error(
                        "let this process write", self._path, seconds=self._deadline
                    )
            finally:
                self._next.leave()
        self._depth += 1

    def release(self) -> None:
        self._depth -= 1
        if self._depth == 0:
            self._lock.leave()

    def close(self) -> None:
        self._lock.close()
        self._next.close()
        self._depth = 0

    def _wait(self, take: Callable[[], bool], end: float) -> bool:
        # By polling: what is waited for in the kernel cannot be given up after a while.
        nap = _FIRST_NAP
        while not take():
            if time.monotonic() > end:
                return False
            time.sleep(nap)
            nap = min(nap * 1.5, _LONGEST_NAP)
        return True


class _LockedFile:
    """A file that is empty for ever; only who has locked it matters."""

    def __init__(self, database: str, suffix: str) -> None:
        self._database = database
        self._path = f"{database}{suffix}"
        self._file = -1

    def take(self) -> bool:
        if self._file < 0:
            flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
            self._file = os.open(self._path, flags, file_mode(self._database))
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        if self._is_current():
            return True
        self.close()
        return False

    def leave(self) -> None:
        fcntl.flock(self._file, fcntl.LOCK_UN)

    def close(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def _is_current(self) -> bool:
        """False when somebody has removed the file meanwhile: others then lock another one."""
        try:
            return os.fstat(self._file).st_ino == os.stat(self._path).st_ino
        except FileNotFoundError:
            return False
