"""Errors of the server and the driver, and what each means for a call."""

import asyncpg

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
from windlass.storage.connection.deadlock_retry import Deadlock

#: What a connection may raise that is ours to explain.
RAISED = (
    asyncpg.PostgresError,
    asyncpg.InterfaceError,
    # What the driver says of a connection that ended between two statements.
    asyncpg.InternalClientError,
    OSError,
    TimeoutError,
)
#: Classes of SQLSTATE that are about what was to be stored, and no fault of the server: rows that
#: meet, data, constraints, size and nesting, and what a trigger of the installation's own refuses.
_CONTENT = ("21", "22", "23", "44", "54", "P0")
#: The two transactions met, and this one was rolled back.
_CROSSED = ("40001", "40P01")
_READ_ONLY = ("25006",)
_FULL = ("53100",)
#: The driver closes these without being asked.
_GONE = ("08", "57P01", "57P02", "57P04", "57P05")
_DENIED = ("28", "3D000", "42501")
_DAMAGED = ("XX001", "XX002")


def error_for(error: Exception, address: Address, *, seconds: float) -> Exception:
    """The exception to raise for what the driver raised; that itself if it is about the content.

    Whatever is not known to be the content's fault is an outage: kept, and tried again.
    """
    if isinstance(error, TimeoutError):
        return DatabaseTimeout("answer a statement", seconds=seconds)
    if isinstance(error, asyncpg.UndefinedTableError):
        return SchemaOutdated(found=0, needed=1)
    state = getattr(error, "sqlstate", None) or ""
    # Values that the driver cannot send are a ValueError of it.
    if state.startswith(_CONTENT) or isinstance(error, ValueError):
        return error
    if state in _CROSSED:
        return Deadlock("get past the locks of other transactions", seconds=1)
    for states, kind in (
        (_READ_ONLY, DatabaseReadOnly),
        (_FULL, DatabaseFull),
        (_DENIED, DatabaseAccessDenied),
        (_DAMAGED, DatabaseDamaged),
        (_GONE, DatabaseUnreachable),
    ):
        if state.startswith(states):
            return kind(address.url, cause=_server_message(error))
    if state:
        return DatabaseNotReady(address.url, cause=_server_message(error))
    return DatabaseUnreachable(address.url, cause=_server_message(error))


def _server_message(error: BaseException) -> str:
    """The first line of what a driver says; the rest may repeat the connection string."""
    return (str(error).splitlines() or [""])[0] or type(error).__name__
