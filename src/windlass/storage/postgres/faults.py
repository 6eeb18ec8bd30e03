"""Maps errors of the server and the driver to Windlass's exceptions."""

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

#: Errors of a connection that are translated.
RAISED = (
    asyncpg.PostgresError,
    asyncpg.InterfaceError,
    # The driver's error for a connection that ended between two statements.
    asyncpg.InternalClientError,
    OSError,
    TimeoutError,
)
#: Classes of SQLSTATE where the content is at fault, not the server: cardinality, data,
#: constraints, size and nesting, and refusals by database triggers of the installation.
_CONTENT = ("21", "22", "23", "44", "54", "P0")
#: A conflict of two transactions; this one was rolled back.
_CROSSED = ("40001", "40P01")
_READ_ONLY = ("25006",)
_FULL = ("53100",)
#: The driver closes these connections by itself.
_GONE = ("08", "57P01", "57P02", "57P04", "57P05")
_DENIED = ("28", "3D000", "42501")
_DAMAGED = ("XX001", "XX002")


def error_for(error: Exception, address: Address, *, seconds: float) -> Exception:
    """The exception to raise for a driver's error; the error itself if the content is at fault.

    Any error not known to be the content's fault is an outage: the call is kept and retried.
    """
    if isinstance(error, TimeoutError):
        return DatabaseTimeout("answer a statement", seconds=seconds)
    if isinstance(error, asyncpg.UndefinedTableError):
        return SchemaOutdated(found=0, needed=1)
    state = getattr(error, "sqlstate", None) or ""
    # The driver raises ValueError for values it cannot send.
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
    """The first line of a driver's message; the rest may repeat the connection string."""
    return (str(error).splitlines() or [""])[0] or type(error).__name__
