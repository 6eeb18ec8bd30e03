"""A driver's own connection as a wire."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from contextlib import closing
from typing import Any

from windlass.storage.callers.drivers import Driver
from windlass.storage.callers.wire import Style, Values, Wire, named, outside
from windlass.storage.sql.statements import Rows


def direct_wire(connection: object, driver: Driver) -> Wire:
    """The wire for a driver's connection."""
    if driver.cursor is None:
        return _WithoutCursor(connection, driver)
    return (_Blocking if driver.blocking else _Awaiting)(connection, driver)


class _Direct(ABC):
    def __init__(self, connection: Any, driver: Driver) -> None:
        self.name = driver.name
        self.blocking = driver.blocking
        self._connection = connection
        self._driver = driver

    async def style(self) -> Style:
        return self._driver.style

    async def begin(self) -> None:
        if self._driver.alone(self._connection):
            raise outside(self.name, self._driver.advice)
        if opening := self._driver.opening(self._connection):
            await self.execute(opening)

    @abstractmethod
    async def execute(self, text: str, values: Values = ()) -> Rows: ...

    def _cursor(self) -> Any:
        assert self._driver.cursor is not None
        return self._driver.cursor(self._connection)


class _Blocking(_Direct):
    def _adapted(self, values: Values) -> Values:
        adapted = self._driver.adapted
        if isinstance(values, Mapping):
            return {name: adapted(value) for name, value in values.items()}
        return [adapted(value) for value in values]

    async def execute(self, text: str, values: Values = ()) -> Rows:
        with closing(self._cursor()) as cursor:
            cursor.execute(text, self._adapted(values))
            return named(cursor.description, cursor.fetchall()) if cursor.description else []


class _Awaiting(_Direct):
    async def execute(self, text: str, values: Values = ()) -> Rows:
        async with self._cursor() as cursor:
            await cursor.execute(text, values)
            return named(cursor.description, await cursor.fetchall()) if cursor.description else []


class _WithoutCursor(_Direct):
    async def execute(self, text: str, values: Values = ()) -> Rows:
        return [dict(row) for row in await self._connection.fetch(text, *values)]
