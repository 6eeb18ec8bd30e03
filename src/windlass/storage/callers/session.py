"""Caller sessions: run Windlass's verbs in the caller's transaction.

Nothing here imports a driver; a connection is recognized by the name of its class. A caller's
connection is never committed, rolled back or closed, and its errors are not translated.
"""

from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Any, TypeVar

from windlass.errors import TransactionUnsupported
from windlass.storage.callers import django, sqlalchemy
from windlass.storage.callers.direct import direct_wire
from windlass.storage.callers.drivers import class_name, driver_of
from windlass.storage.callers.wire import Values, Wire
from windlass.storage.database import Database
from windlass.storage.sql.statements import Rows, Scripts, Statement, split

T = TypeVar("T")

_PRODUCTS = {"postgresql": "PostgreSQL", "mysql": "MariaDB or MySQL", "sqlite": "SQLite"}
_FRAMEWORKS: Mapping[str, Callable[[Any], Wire]] = {**sqlalchemy.KINDS, **django.KINDS}
_SAVEPOINT = "windlass_verb"


def caller_session(tx: object, database: Database) -> "CallerSession":
    """A session in the open transaction of `tx`.

    `tx` is a connection of a driver, SQLAlchemy or Django to the database of Windlass, or the alias
    of a Django database. Anything else raises TransactionUnsupported here; another kind of database
    or a connection without a transaction raises it with the first verb.
    """
    return CallerSession(wire_of(tx), database)


class CallerSession:
    """Runs verbs inside a caller's transaction. If it is `blocking`, they never really await.

    `name` stands for the caller's connection in messages.
    """

    def __init__(self, wire: Wire, database: Database) -> None:
        self.name = wire.name
        self.blocking = wire.blocking
        self._wire = wire
        self._database = database

    async def run(self, verb: str, /, **params: Any) -> Rows:
        """Run a verb atomically: if it raises, nothing of it stays."""
        scripts = await self._scripts()
        await self._wire.begin()
        statements = scripts[verb]
        bound = scripts.bind(params)
        steps = [(s, _values(scripts, s, bound)) for s in statements]
        if len(steps) == 1:
            return await self._steps(steps)
        await self._wire.execute(f"savepoint {_SAVEPOINT}")
        try:
            result = await self._steps(steps)
        except Exception:
            # Otherwise a caller who continues after an error would commit half a verb.
            with suppress(Exception):  # a deadlock has rolled back everything, the savepoint too
                await self._wire.execute(f"rollback to savepoint {_SAVEPOINT}")
            raise
        await self._wire.execute(f"release savepoint {_SAVEPOINT}")
        return result

    async def script(self, text: str) -> Rows:
        """Run statements as they are written; returns the rows of the last one."""
        await self._scripts()
        await self._wire.begin()
        result: Rows = []
        for part in split(text):
            result = await self._wire.execute(part)
        return result

    async def _scripts(self) -> Scripts:
        style = await self._wire.style()
        if style.database != self._database.kind:
            product = _PRODUCTS.get(style.database, style.database)
            raise TransactionUnsupported(
                self._wire.name,
                problem=f"It leads to {product}, but the database of Windlass is "
                f"{_PRODUCTS[self._database.kind]}.",
            )
        return _scripts(self._database, style.placeholder)  # type: ignore[arg-type]  # mypy: a Protocol is not Hashable

    async def _steps(self, steps: Sequence[tuple[Statement, Values]]) -> Rows:
        result: Rows = []
        for statement, values in steps:
            rows = await self._wire.execute(statement.text, values)
            if statement.answers:
                result = rows
        return result


def drive(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine over a blocking session to its end, in this thread, without an event loop."""
    try:
        coroutine.send(None)
    except StopIteration as end:
        result: T = end.value
        return result
    coroutine.close()
    raise RuntimeError("a coroutine that was to run without an event loop has to wait for one")


def wire_of(tx: object) -> Wire:
    """The wire to a caller's connection; TransactionUnsupported for anything else."""
    if isinstance(tx, str):
        return django.by_alias(tx)
    if driver := driver_of(tx):
        return direct_wire(tx, driver)
    for kind in tx.__class__.__mro__:
        if make := _FRAMEWORKS.get(class_name(kind)):
            return make(tx)
    raise TransactionUnsupported(tx.__class__.__qualname__)


@lru_cache(maxsize=32)
def _scripts(database: Database, placeholder: str) -> Scripts:
    return Scripts(database.caller_dialect(placeholder), database.schema)


def _values(scripts: Scripts, statement: Statement, bound: Mapping[str, Any]) -> Values:
    by_name = "name" in scripts.dialect.placeholder(1, "name")
    if by_name:
        return {name: bound[name] for name in statement.names}
    return tuple(bound[name] for name in statement.names)
