"""The application's database: a short transaction of its own for each step of a job."""

import asyncio
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from windlass.errors import SourceUnsupported, TransactionUnsupported
from windlass.storage.callers import drive, wire_of
from windlass.storage.callers.drivers import class_name
from windlass.storage.callers.wire import Wire
from windlass.storage.connection.address import Address

Row = dict[str, Any]
Open = Callable[[], Any]

_PARAMETER = re.compile(r"(?<!:):([a-z_0-9]+)")


class SqlConnection:
    """An open transaction on the application's database, for blocking code.

    `database` is "postgresql", "mysql" (MariaDB too) or "sqlite".
    """

    def __init__(self, wire: Wire, run: Callable[..., Any]) -> None:
        self._wire = wire
        self._run = run
        self._style = run(wire.style())
        run(wire.begin())

    @property
    def database(self) -> str:
        return str(self._style.database)

    def rows(self, sql: str, /, **values: Any) -> list[Row]:
        """Run one statement with `:name` parameters; returns its rows, if it has any."""
        placeholder = self._style.placeholder
        if placeholder == ":name":
            bound: Any = values
        else:
            names: list[str] = []
            sql = _PARAMETER.sub(lambda found: _numbered(found[1], names, placeholder), sql)
            bound = tuple(values[name] for name in names)
        found: list[Row] = self._run(self._wire.execute(sql, bound))
        return found

    def quoted(self, name: str) -> str:
        """A name of a table or column, with its schema if it has one, quoted for the database."""
        mark = "`" if self.database == "mysql" else '"'
        return ".".join(f"{mark}{part.replace(mark, mark * 2)}{mark}" for part in name.split("."))


class Source:
    """Opens transactions on the application's database."""

    def __init__(self, transaction: Callable[[], Any]) -> None:
        self._transaction = transaction

    @classmethod
    def of(cls, given: object) -> "Source":
        """The source behind a blocking SQLAlchemy engine, a function that opens a connection of a
        driver, or a database URL. SourceUnsupported for anything else."""
        if isinstance(given, Source):
            return given
        if isinstance(given, str):
            return _by_url(given)
        kinds = {class_name(kind) for kind in given.__class__.__mro__}
        if "sqlalchemy.Engine" in kinds:
            return cls(lambda: _blocking(given.connect))  # type: ignore[attr-defined]  # an Engine
        if callable(given) and "sqlalchemy.AsyncEngine" not in kinds:
            return cls(lambda: _blocking(given))
        raise SourceUnsupported(given.__class__.__qualname__)

    @contextmanager
    def transaction(self) -> Iterator[SqlConnection]:
        """A transaction that is committed at the end of the block, or rolled back on any error."""
        with self._transaction() as connection:
            yield connection


def _by_url(url: str) -> Source:
    address = Address.parse(url)
    match address.kind:
        case "sqlite":
            from windlass.storage.sqlite.connection import plain_connection

            return Source(lambda: _blocking(lambda: plain_connection(address.name)))
        case "mysql":
            from windlass.storage.mysql.connection import plain_connection as connect_mysql

            return Source(lambda: _blocking(lambda: connect_mysql(address)))
        case _:
            return Source(lambda: _postgres(address))


@contextmanager
def _blocking(open_connection: Open) -> Iterator[SqlConnection]:
    connection = open_connection()
    try:
        try:
            wire = wire_of(connection)
        except TransactionUnsupported:
            raise SourceUnsupported(connection.__class__.__qualname__) from None
        if not wire.blocking:
            raise SourceUnsupported(wire.name)
        try:
            yield SqlConnection(wire, drive)
        except BaseException:
            connection.rollback()
            raise
        connection.commit()
    finally:
        if hasattr(connection, "close"):
            connection.close()


@contextmanager
def _postgres(address: Address) -> Iterator[SqlConnection]:
    """The driver of the base install only awaits: an event loop of this thread runs it."""
    from windlass.storage.postgres.connect import connect

    with asyncio.Runner() as runner:
        connection = runner.run(connect(address))
        try:
            transaction = connection.transaction()
            runner.run(transaction.start())
            try:
                yield SqlConnection(wire_of(connection), runner.run)
            except BaseException:
                runner.run(transaction.rollback())
                raise
            runner.run(transaction.commit())
        finally:
            runner.run(connection.close())


def _numbered(name: str, names: list[str], placeholder: str) -> str:
    names.append(name)
    return f"${len(names)}" if placeholder == "$1" else placeholder
