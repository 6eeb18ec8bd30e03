"""The modes of the files beside and of a SQLite database: only their owner reads what is new."""

import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import suppress

_OWNER_ONLY = stat.S_IRUSR | stat.S_IWUSR
_OTHERS = stat.S_IRGRP | stat.S_IROTH
#: What SQLite and Windlass put beside a database file.
_BESIDE = ("", "-wal", "-shm", "-journal", "-lock", "-next")


def create(path: str) -> None:
    """Create a database file that only its owner can read, whatever the umask; one that is there
    stays as it is. SQLite gives the files of its log the mode of the database."""
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, _OWNER_ONLY))


def file_mode(path: str) -> int:
    """The mode for a file beside a database: as the database has it, so that those who share the
    database share this file too."""
    try:
        return stat.S_IMODE(os.stat(path).st_mode) & 0o666
    except FileNotFoundError:
        return _OWNER_ONLY


def files_readable_by_others(path: str) -> Sequence[str]:
    """The files of a database that the group or everybody may read."""
    return list(_readable(path))


def _readable(path: str) -> Iterator[str]:
    for suffix in _BESIDE:
        with suppress(FileNotFoundError):
            if os.stat(path + suffix).st_mode & _OTHERS:
                yield path + suffix
