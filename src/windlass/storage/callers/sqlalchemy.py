"""SQLAlchemy's sessions and connections as a wire, blocking and async."""

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from windlass.errors import TransactionUnsupported
from windlass.storage.callers.drivers import ASYNCPG, Driver, driver_of
from windlass.storage.callers.wire import Style, Values, outside
from windlass.storage.sql.statements import Rows

T = TypeVar("T")

#: Runs a step with SQLAlchemy's blocking Connection below the caller's object.
_Within = Callable[[Any, Callable[[Any], Any]], Awaitable[Any]]


class SqlAlchemyWire:
    """Runs statements through SQLAlchemy, so that its events, log and errors are as usual."""

    def __init__(self, tx: Any, *, name: str, blocking: bool, within: _Within) -> None:
        self.name = f"SQLAlchemy {name}"
        self.blocking = blocking
        self._tx = tx
        self._within = within

    async def style(self) -> Style:
        driver: Driver = await self._within(self._tx, self._driver)
        return driver.style

    async def begin(self) -> None:
        await self._within(self._tx, self._begin)

    async def execute(self, text: str, values: Values = ()) -> Rows:
        rows: Rows = await self._within(self._tx, lambda inner: _execute(inner, text, values))
        return rows

    def _driver(self, inner: Any) -> Driver:
        driver = driver_of(inner.connection.driver_connection)
        if driver is None:
            raise TransactionUnsupported(
                self.name, problem=f"Its driver {inner.dialect.driver} is none that Windlass knows."
            )
        return driver

    def _begin(self, inner: Any) -> None:
        if not inner.in_transaction():
            # As its first statement would, with listeners that begin in their own way.
            inner.begin()
        pooled = inner.connection
        driver = self._driver(inner)
        if driver is ASYNCPG:
            # The transaction begins with the first statement, which may not have run yet.
            alone = pooled.dbapi_connection.autocommit and driver.alone(pooled.driver_connection)
        else:
            alone = driver.alone(pooled.driver_connection)
        if alone:
            raise outside(self.name, "its isolation level must not be AUTOCOMMIT")
        if opening := driver.opening(pooled.driver_connection):
            _execute(inner, opening, ())


def _execute(inner: Any, text: str, values: Values) -> Rows:
    result = inner.exec_driver_sql(text, values)
    return [dict(row) for row in result.mappings()] if result.returns_rows else []


async def _in_connection(tx: Any, step: Callable[[Any], T]) -> T:
    return step(tx)


async def _in_session(tx: Any, step: Callable[[Any], T]) -> T:
    return step(tx.connection())


async def _in_async_connection(tx: Any, step: Callable[[Any], T]) -> T:
    result: T = await tx.run_sync(step)
    return result


async def _in_async_session(tx: Any, step: Callable[[Any], T]) -> T:
    return await _in_async_connection(await tx.connection(), step)


def _kind(name: str, within: _Within, *, blocking: bool) -> Callable[[Any], SqlAlchemyWire]:
    return lambda tx: SqlAlchemyWire(tx, name=name, blocking=blocking, within=within)


#: The wire of each kind of object, by the name of its class.
KINDS = {
    "sqlalchemy.Session": _kind("Session", _in_session, blocking=True),
    "sqlalchemy.scoped_session": _kind("Session", _in_session, blocking=True),
    "sqlalchemy.Connection": _kind("Connection", _in_connection, blocking=True),
    "sqlalchemy.AsyncSession": _kind("AsyncSession", _in_async_session, blocking=False),
    "sqlalchemy.async_scoped_session": _kind("AsyncSession", _in_async_session, blocking=False),
    "sqlalchemy.AsyncConnection": _kind("AsyncConnection", _in_async_connection, blocking=False),
}
