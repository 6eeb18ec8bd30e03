"""Holders of a lock on a file of the database, as Linux tells, for those who wait for it in vain.

It is read only when somebody has waited too long, so taking a lock costs nothing more.
"""

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from windlass.errors import DatabaseTimeout
from windlass.errors.wording import listed

#: Our own lock, and the two files on which SQLite keeps its locks.
_LOCKED = ("-lock", "", "-shm")
_STOPPED = {"T", "t"}


class LockHolder(NamedTuple):
    """A process that holds a lock; a stopped one keeps it until it goes on or is killed."""

    pid: int
    command: str
    stopped: bool

    @property
    def name(self) -> str:
        return f"process {self.pid} ({self.command})"


def lock_holders(database: str) -> Sequence[LockHolder]:
    """Other processes of this machine that keep others from writing to a database. None where the
    system does not tell, as for processes in other containers."""
    files = set()
    for suffix in _LOCKED:
        with suppress(OSError):
            files.add(os.stat(f"{database}{suffix}").st_ino)
    try:
        lines = Path("/proc/locks").read_text("ascii").splitlines()
    except (OSError, ValueError):
        return []
    pids = {pid for line in lines if (pid := _writer_of(line, files)) is not None}
    found = [_holder(pid) for pid in sorted(pids - {os.getpid()})]
    return [holder for holder in found if holder is not None]


def lock_timeout_error(doing: str, database: str, *, seconds: float) -> DatabaseTimeout:
    """The error of a call that a lock kept from its answer: it names who holds it."""
    error = DatabaseTimeout(doing, seconds=seconds)
    if holders := lock_holders(database):
        error.reason += f" The file is locked by {listed(list(map(_described, holders)))}."
        if any(holder.stopped for holder in holders):
            error.hint = (
                "Let the stopped process go on (kill -CONT), or kill it: what it has not "
                "committed is undone, and the others go on."
            )
    return error


def _described(holder: LockHolder) -> str:
    return f"{holder.name}, which is stopped" if holder.stopped else holder.name


def _writer_of(line: str, files: set[int]) -> int | None:
    """The holder of the write lock in a line of /proc/locks, if it is on one of the files.

    Such as `1: POSIX ADVISORY WRITE 1234 08:01:5678 0 EOF`; a lock that is waited for has `->`.
    """
    match line.split():
        case [_, _, _, "WRITE", pid, place, *_] if int(place.rpartition(":")[2]) in files:
            return int(pid) if int(pid) > 0 else None
        case _:
            return None


def _holder(pid: int) -> LockHolder | None:
    try:
        text = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace")
    except OSError:  # it has ended meanwhile
        return None
    # The command stands in brackets and may have any character in it.
    command, _, rest = text.partition("(")[2].rpartition(")")
    return LockHolder(pid, command, rest.split()[0] in _STOPPED)
