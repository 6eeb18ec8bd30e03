"""The supported drivers of callers' connections, by the class name of the connection."""

import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from windlass.storage.callers.wire import Style

#: libpq's number for a connection between two transactions.
_IDLE = 0
#: MySQL's flag in the status of each response.
_IN_TRANSACTION = 1


@dataclass(frozen=True, slots=True)
class Driver:
    """Adapter to the connections of one driver."""

    name: str
    style: Style
    blocking: bool
    #: True if a statement run now would autocommit.
    alone: Callable[[Any], bool]
    #: The remedy for that.
    advice: str
    #: A cursor that returns plain rows, whatever factories the caller has set. None where the
    #: connection itself runs statements.
    cursor: Callable[[Any], Any] | None
    #: The statement that opens a transaction where the driver would not, or "".
    opening: Callable[[Any], str] = lambda connection: ""
    #: A value as the driver takes it.
    adapted: Callable[[Any], Any] = lambda value: value


def driver_of(connection: object) -> Driver | None:
    """The driver of a connection; subclasses and transparent proxies are recognized."""
    for kind in connection.__class__.__mro__:
        if driver := _DRIVERS.get(class_name(kind)):
            return driver
    return None


def class_name(kind: type) -> str:
    """A class name with its top package; the module inside the package may change."""
    return f"{kind.__module__.partition('.')[0]}.{kind.__name__}"


def _loaded(module: str) -> Any:
    # The caller who passes a connection has loaded its driver; Windlass does not depend on it.
    return sys.modules[module]


def _psycopg_alone(connection: Any) -> bool:
    return bool(connection.autocommit and connection.info.transaction_status == _IDLE)


def _mysql_alone(connection: Any) -> bool:
    return bool(connection.get_autocommit() and not connection.server_status & _IN_TRANSACTION)


def _sqlite_alone(connection: Any) -> bool:
    return not connection.in_transaction and not _begins(connection)


def _sqlite_opening(connection: Any) -> str:
    # The driver begins by itself before an insert, but not before the reads that come first here.
    # Immediate, because a transaction that reads first may be refused its first write.
    if connection.in_transaction:
        return ""
    exclusive = (connection.isolation_level or "").upper() == "EXCLUSIVE"
    return "begin exclusive" if exclusive else "begin immediate"


def _begins(connection: Any) -> bool:
    """Check that sqlite3 is in the mode in which it begins transactions by itself."""
    # Since Python 3.12 `autocommit` may replace that mode; -1 says that it does not.
    return getattr(connection, "autocommit", -1) is not True and (
        connection.isolation_level is not None
    )


def _sqlite_cursor(connection: Any) -> Any:
    cursor = connection.cursor()
    cursor.row_factory = None
    return cursor


def _without_uuid(value: Any) -> Any:
    # psycopg2 takes a UUID only if the application has registered the type.
    return str(value) if isinstance(value, UUID) else value


@asynccontextmanager
async def _aiosqlite_cursor(connection: Any) -> AsyncIterator[Any]:
    async with connection.cursor() as cursor:
        cursor.row_factory = None
        yield cursor


_PSYCOPG = Driver(
    name="psycopg connection",
    style=Style("postgresql", "%s"),
    blocking=True,
    alone=_psycopg_alone,
    advice="turn autocommit off, or open `connection.transaction()` first",
    cursor=lambda connection: _loaded("psycopg").Cursor(connection, row_factory=lambda _: tuple),
)
_PSYCOPG_ASYNC = replace(
    _PSYCOPG,
    blocking=False,
    cursor=lambda connection: _loaded("psycopg").AsyncCursor(
        connection, row_factory=lambda _: tuple
    ),
)
_PSYCOPG2 = replace(
    _PSYCOPG,
    name="psycopg2 connection",
    advice="turn autocommit off, or execute BEGIN first",
    adapted=_without_uuid,
    cursor=lambda connection: connection.cursor(
        cursor_factory=_loaded("psycopg2.extensions").cursor
    ),
)
ASYNCPG = Driver(
    name="asyncpg connection",
    style=Style("postgresql", "$1"),
    blocking=False,
    # A closed connection raises its own error.
    alone=lambda connection: not (connection.is_in_transaction() or connection.is_closed()),
    advice="open `async with connection.transaction()` first",
    cursor=None,
)
_PYMYSQL = Driver(
    name="PyMySQL connection",
    style=Style("mysql", "%s"),
    blocking=True,
    alone=_mysql_alone,
    advice="turn autocommit off, or call `connection.begin()` first",
    cursor=lambda connection: connection.cursor(_loaded("pymysql.cursors").Cursor),
)
_MYSQLCLIENT = replace(
    _PYMYSQL,
    name="mysqlclient connection",
    # With autocommit on, it does not report whether a transaction was begun.
    alone=lambda connection: bool(connection.get_autocommit()),
    advice="turn autocommit off",
    cursor=lambda connection: connection.cursor(_loaded("MySQLdb.cursors").Cursor),
)
_ASYNCMY = replace(
    _PYMYSQL,
    name="asyncmy connection",
    blocking=False,
    alone=lambda connection: (
        connection.get_autocommit() and not connection.get_transaction_status()
    ),
    cursor=lambda connection: connection.cursor(_loaded("asyncmy.cursors").Cursor),
)
_AIOMYSQL = replace(
    _ASYNCMY,
    name="aiomysql connection",
    cursor=lambda connection: connection.cursor(_loaded("aiomysql.cursors").Cursor),
)
_SQLITE = Driver(
    name="sqlite3 connection",
    style=Style("sqlite", ":name"),
    blocking=True,
    alone=_sqlite_alone,
    advice="execute BEGIN first, or give the connection an isolation_level",
    cursor=_sqlite_cursor,
    opening=_sqlite_opening,
)
_AIOSQLITE = replace(_SQLITE, name="aiosqlite connection", blocking=False, cursor=_aiosqlite_cursor)

_DRIVERS: Mapping[str, Driver] = {
    "psycopg.Connection": _PSYCOPG,
    "psycopg.AsyncConnection": _PSYCOPG_ASYNC,
    "psycopg2.connection": _PSYCOPG2,
    "asyncpg.Connection": ASYNCPG,
    "asyncpg.PoolConnectionProxy": ASYNCPG,
    "pymysql.Connection": _PYMYSQL,
    "MySQLdb.Connection": _MYSQLCLIENT,
    "asyncmy.Connection": _ASYNCMY,
    "aiomysql.Connection": _AIOMYSQL,
    "sqlite3.Connection": _SQLITE,
    "pysqlite3.Connection": _SQLITE,
    "aiosqlite.Connection": _AIOSQLITE,
}
