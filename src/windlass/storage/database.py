"""The seam between Windlass's verbs and one kind of database.

A database runs a verb with parameters, alone or in a transaction, and passes nudges on. A verb is an SQL
file, or the function that the database's table of fast paths has for it: see decision 0025. Everything
above is the same for all databases.
"""

from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from enum import Enum
from typing import Any, Protocol, runtime_checkable

from windlass.storage.sql.statements import Dialect, Rows


class Lane(Enum):
    """A group of connections for one kind of work, so that it cannot starve another.

    `STORE` enqueues, `WORK` claims and finishes, `RENEW` keeps leases alive, `GENERAL` is everything
    else.
    """

    STORE = "store"
    WORK = "work"
    RENEW = "renew"
    GENERAL = "general"


class Session(Protocol):
    """Runs verbs, each in a transaction of its own, or all in the one that is open."""

    async def run(self, verb: str, /, **params: Any) -> Rows:
        """Run a verb and return its rows."""
        ...


class Watch(Protocol):
    """Receives nudges from other processes. They save time and are never needed."""

    async def wait(self, timeout: float) -> Collection[str]:
        """Sleep until nudged, and return the names; none if `timeout` seconds have passed."""
        ...

    async def close(self) -> None: ...


class Database(Protocol):
    """One database, reached lazily: opening it never connects."""

    kind: str

    @property
    def schema(self) -> str | None:
        """The schema of the tables, if not the connection's default (PostgreSQL)."""
        ...

    def check_exists(self) -> None:
        """Raise DatabaseNotFound for a file that the first verb would create. A server's database is
        never created."""
        ...

    async def run(self, verb: str, /, *, lane: Lane = Lane.GENERAL, **params: Any) -> Rows:
        """Run a verb in a transaction of its own. Deadlocks are retried."""
        ...

    def transaction(self, lane: Lane = Lane.GENERAL) -> AbstractAsyncContextManager[Session]:
        """A transaction in which several verbs run; an exception rolls it back."""
        ...

    async def query(self, text: str, params: Mapping[str, Any]) -> Rows:
        """Run a list-and-filter query built in Python, in the style of the SQL files."""
        ...

    async def script(self, text: str) -> None:
        """Run a migration: several statements, in one transaction where the database can."""
        ...

    def migration_lock(self) -> AbstractAsyncContextManager[None]:
        """Only one process at a time migrates."""
        ...

    def caller_dialect(self, placeholder: str) -> Dialect:
        """The style of statements for a caller's own driver (`$1`, `?`, `%s`, `:name`)."""
        ...

    async def nudge(self, queues: Sequence[str]) -> None:
        """Wake the sleeping workers of these queues."""
        ...

    async def watch(self, queues: Sequence[str] | None) -> Watch:
        """Receive nudges that name these queues, or anything else that is watched (None: all)."""
        ...

    async def readable_files(self) -> Sequence[str]:
        """The database's own files that other users of this machine may read. None for a server's:
        those are not here."""
        ...

    async def stopped_writers(self) -> Sequence[str]:
        """Stopped processes that keep the others of this machine from writing. None for a server's:
        it ends what stands still."""
        ...

    async def warnings(self) -> Sequence[str]:
        """A sentence for each reason why acknowledged writes may be lost; empty if there is none."""
        ...

    async def read_only(self) -> str:
        """The reason why this database takes no writes, as a sentence; empty if it does."""
        ...

    async def close(self) -> None: ...


@runtime_checkable
class SupportsRowSecurity(Protocol):
    """A database that can keep tenants apart by itself."""

    async def secure(self, *, role: str | None = None, off: bool = False) -> None:
        """Put policies on all that belongs to tenants, or take them away. Safe to repeat."""
        ...

    def policies(self, *, role: str | None = None, off: bool = False) -> str:
        """The SQL of that."""
        ...
