"""The seam to a caller's connection: how to write for it, and how to run a statement on it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from windlass.errors import TransactionUnsupported
from windlass.storage.sql.statements import Rows

#: A statement's values, by place or by name as its placeholders ask.
Values = Sequence[Any] | Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Style:
    """The style of a caller's statements: a kind of database, and a placeholder."""

    database: str
    placeholder: str


class Wire(Protocol):
    """One caller's connection. `name` is what messages call it.

    Where it is `blocking`, no method really awaits.
    """

    name: str
    blocking: bool

    async def style(self) -> Style:
        """Look at the connection without touching it."""
        ...

    async def begin(self) -> None:
        """See that a transaction is open, or refuse: a statement that is committed by itself
        would be there even if the caller's work is not."""
        ...

    async def execute(self, text: str, values: Values = ()) -> Rows:
        """Run one statement in the open transaction. No rows where it has none to give."""
        ...


def outside(name: str, advice: str) -> TransactionUnsupported:
    """The error for a connection that has no transaction open."""
    return TransactionUnsupported(
        name,
        problem="It is not in a transaction, so the job would be there "
        f"even if your work is rolled back: {advice}.",
    )


def named(description: Sequence[Sequence[Any]], rows: Sequence[Sequence[Any]]) -> Rows:
    """Rows by column name, as a cursor describes them."""
    names = [column[0] for column in description]
    return [dict(zip(names, row, strict=True)) for row in rows]
