"""The record of what people and tokens changed, or were refused: add to it, read it, check it."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from windlass.core.access import ROLES, Right, Table, bounds_of
from windlass.core.audit import (
    EMPTY,
    AuditOutcome,
    Break,
    Entry,
    Link,
    NewEntry,
    first_break,
    new_entry,
)
from windlass.core.principal import Principal
from windlass.core.redact import Redactor
from windlass.engine.redaction import off_loop_if_long
from windlass.errors import OptionInvalid
from windlass.storage.audit import append
from windlass.storage.base import Storage
from windlass.storage.database import Session

_PAGE = 1000
_MOST = 1000


@dataclass(frozen=True, slots=True)
class Target:
    """What an entry is about, such as a `job` by its id."""

    kind: str
    id: str = ""


@dataclass(frozen=True, slots=True)
class EntryPage:
    """Some entries, newest first, and the number to go on before (None at the end)."""

    entries: Sequence[Entry]
    next: int | None


@dataclass(frozen=True, slots=True)
class Verified:
    """How many entries of a chain were found whole, and where it is broken, if it is."""

    tenant: str | None
    entries: int
    broken: Break | None

    @property
    def whole(self) -> bool:
        return self.broken is None


class Audit:
    def __init__(self, storage: Storage, redactor: Redactor, table: Table = ROLES) -> None:
        self._storage = storage
        self._redactor = redactor
        self._table = table

    def entry(
        self,
        by: Principal,
        action: str,
        target: Target,
        *,
        tenant: str | None,
        outcome: AuditOutcome = "allowed",
        before: object = None,
        after: object = None,
        request_id: str | None = None,
    ) -> NewEntry:
        """An entry for a verb that stores it with its change. `tenant` None is the installation's
        chain; `before` and `after` are redacted here."""
        return new_entry(
            by,
            action,
            target_kind=target.kind,
            target_id=target.id,
            tenant=tenant,
            redactor=self._redactor,
            outcome=outcome,
            before=before,
            after=after,
            request_id=request_id,
        )

    async def record(
        self,
        by: Principal,
        action: str,
        target: Target,
        *,
        tenant: str | None,
        outcome: AuditOutcome = "allowed",
        before: object = None,
        after: object = None,
        request_id: str | None = None,
        session: Session | None = None,
    ) -> Entry:
        """Add an entry: right after a change, or as the last step of the session that makes it."""
        redacted = partial(
            self.entry,
            by,
            action,
            target,
            tenant=tenant,
            outcome=outcome,
            before=before,
            after=after,
            request_id=request_id,
        )
        entry = await off_loop_if_long(redacted, before, after)
        return await (append(session, entry) if session else self._storage.add_entry(entry))

    async def list(
        self,
        by: Principal,
        *,
        tenant: str | None = None,
        before: int | None = None,
        limit: int = 50,
    ) -> EntryPage:
        """A chain's entries, newest first: a tenant's, or without one the installation's for those
        whose right reaches all, and their own tenant's for others."""
        if not 1 <= limit <= _MOST:
            raise OptionInvalid("limit", limit, allowed=f"1 to {_MOST:,}")
        scope = bounds_of(by, Right.AUDIT_READ, tenant, table=self._table).scope
        found = await self._storage.entries(scope.tenant, before=before, most=limit + 1)
        return EntryPage(found[:limit], found[limit - 1].sequence if len(found) > limit else None)

    async def verify(self, tenant: str | None = None) -> Verified:
        """Check a whole chain; without a tenant, the installation's. Entries that are added
        meanwhile are left for the next time."""
        end = await self._storage.audit_end(tenant)
        said = end.said or EMPTY
        at: Break | Link = EMPTY
        while isinstance(at, Link) and at.sequence < said.sequence:
            page = await self._storage.entries_after(
                tenant, at.sequence, last=said.sequence, most=_PAGE
            )
            if not page:
                at = Break(at.sequence + 1, f"entry {at.sequence + 1} is missing: none comes next")
            else:
                at = first_break(page, at)
        if isinstance(at, Break):
            return Verified(tenant, at.sequence - 1, at)
        if end.last > said.sequence:
            added = said.sequence + 1
            return Verified(tenant, at.sequence, Break(added, f"entry {added} was added by hand"))
        if at != said:
            changed = Break(said.sequence, "the chain does not end as it is said to")
            return Verified(tenant, at.sequence - 1, changed)
        return Verified(tenant, at.sequence, None)

    async def verify_all(self) -> Sequence[Verified]:
        """Check every chain."""
        return [await self.verify(tenant) for tenant in await self._storage.audit_chains()]
