"""The lock between processes that write to one file.

SQLite's own locks make writes safe, but versions below 3.51.3 can corrupt a file in
write-ahead-log mode when one process begins the log anew while another one copies it back. This
lock is held around every write and every checkpoint, so that the two never meet. See decision 0003.
"""

import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from windlass.storage.sqlite.files import file_mode
from windlass.storage.sqlite.lock_holders import lock_timeout_error

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
