"""The seam to a caller's connection: its statement style, and running a statement on it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from windlass.errors import TransactionUnsupported
from windlass.storage.sql.statements import Rows

#: A statement's values, by position or by name, as its placeholders require.
Values = Sequence[Any] | Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Style:
    """The style of a caller's statements: a kind of database, and a placeholder."""

    database: str
    placeholder: str


class Wire(Protocol):
    """One caller's connection. `name` stands for it in messages.

    If it is `blocking`, no method really awaits.
    """

    name: str
    blocking: bool

    async def style(self) -> Style:
        """The statement style, found without using the connection."""
        ...

    async def begin(self) -> None:
        """Ensure that a transaction is open, or refuse: an autocommitted statement would stay even
        if the caller rolls back."""
        ...

    async def execute(self, text: str, values: Values = ()) -> Rows:
        """Run one statement in the open transaction; returns its rows, if it has any."""
        ...


def outside(name: str, advice: str) -> TransactionUnsupported:
    """The error for a connection that has no transaction open."""
    return TransactionUnsupported(
        name,
        problem="It is not in a transaction, so the job would be there "
        f"even if your work is rolled back: {advice}.",
    )


def named(description: Sequence[Sequence[Any]], rows: Sequence[Sequence[Any]]) -> Rows:
    """Rows as mappings by the column names of a cursor's description."""
    names = [column[0] for column in description]
    return [dict(zip(names, row, strict=True)) for row in rows]
