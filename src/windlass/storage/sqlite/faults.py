"""Errors of the driver and the file system, and what each means for a call."""

import errno
import os
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

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
