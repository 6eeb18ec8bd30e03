"""Verbs on the audit chains: add an entry with the change it is about, tell them, find the end."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from windlass.core.audit import GENESIS, Entry, Link, NewEntry, canonical, chained
from windlass.storage import account_rows, rows
from windlass.storage.again import again
from windlass.storage.database import Database, Session
from windlass.storage.sql import Rows


class End(NamedTuple):
    """Where a chain is said to end, and the number of its last entry, seen at one instant."""

    said: Link | None
    last: int


class AuditVerbs:
    _db: Database

    @again
    async def add_entry(self, entry: NewEntry) -> Entry:
        """Add an entry by itself: for what was refused, or changed by verbs of other nouns."""
        async with self._db.transaction() as session:
            return await append(session, entry)

    async def entries(
        self, tenant: str | None, *, before: int | None = None, most: int = 50
    ) -> list[Entry]:
        """A chain's entries, newest first; `before` is the last number already seen. Tenant None
        is the installation's chain."""
        found = await self._db.run("entries", tenant_id=tenant or "", before=before, most=most)
        return [account_rows.entry(row) for row in found]

    async def entries_after(
        self, tenant: str | None, after: int, *, last: int, most: int = 1000
    ) -> list[Entry]:
        """A chain's entries in their order, past number `after` and up to `last`."""
        found = await self._db.run(
            "entries_after", tenant_id=tenant or "", after=after, last=last, most=most
        )
        return [account_rows.entry(row) for row in found]

    async def audit_end(self, tenant: str | None) -> End:
        [row] = await self._db.run("audit_end", tenant_id=tenant or "")
        said = None if row["sequence"] is None else Link(row["sequence"], row["hash"])
        return End(said, row["last"] or 0)

    async def audit_chains(self) -> list[str | None]:
        """The tenants that have a chain; None is the installation."""
        return [row["tenant_id"] or None for row in await self._db.run("audit_chains")]


async def append(session: Session, entry: NewEntry) -> Entry:
    """Add an entry to its chain inside a transaction that is open, as its last step: others who
    add to the chain wait until it ends."""
    tenant = entry.tenant or ""
    [end] = await session.run("lock_audit", tenant_id=tenant, genesis=GENESIS)
    # Asked for after the lock is held, so that times follow each other as numbers do.
    [clock] = await session.run("clock")
    made = chained(entry, Link(end["sequence"], end["hash"]), rows.instant(clock["now"]))
    await session.run(
        "add_entry",
        tenant_id=tenant,
        sequence=made.sequence,
        at=made.at,
        actor=made.actor,
        actor_kind=made.actor_kind,
        actor_name=made.actor_name,
        action=made.action,
        target_kind=made.target_kind,
        target_id=made.target_id,
        outcome=made.outcome,
        value_before=_text(made.before),
        value_after=_text(made.after),
        request_id=made.request_id,
        previous_hash=made.previous_hash,
        hash=made.hash,
    )
    return made


@again
async def changed(
    database: Database,
    verb: str,
    /,
    *,
    entry: NewEntry | None,
    also: Sequence[tuple[str, dict[str, Any]]] = (),
    **params: Any,
) -> Rows:
    """Run a verb; if it answers rows, run what goes with it and add the entry. All or nothing."""
    async with database.transaction() as session:
        answer = await session.run(verb, **params)
        if answer:
            for other, its in also:
                await session.run(other, **its)
            if entry is not None:
                await append(session, entry)
        return answer


def _text(value: Any) -> str | None:
    return None if value is None else canonical(value)
