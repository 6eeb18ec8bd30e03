"""The audit log: add, read and verify entries about changes and refusals."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from windlass.core.access.audit import AuditEntry, AuditOutcome, NewAuditEntry, Target, new_entry
from windlass.core.access.audit_signatures import AuditKeys
from windlass.core.access.principal import Principal
from windlass.core.access.roles import ROLES, Right, RoleTable, bounds_of
from windlass.core.payloads.redact import Redactor
from windlass.engine.access.audit_verify import (
    AuditVerification,
    ChainVerification,
    PinnedHead,
    SigningResult,
    sign_chains,
    verify_chain,
    verify_chains,
)
from windlass.engine.redaction import run_in_thread_if_long
from windlass.errors import AuditKeyInvalid, OptionInvalid, TenantNotFound
from windlass.ids import TenantId
from windlass.storage.access.audit import ChainHead, append
from windlass.storage.database import Session
from windlass.storage.storage import Storage

_MOST = 1000
#: Limit of chain names listed in an entry about many chains.
_NAMED = 100


@dataclass(frozen=True, slots=True)
class EntryPage:
    """A page of entries, newest first. `next` is the `before` of the next page, None at the end."""

    entries: Sequence[AuditEntry]
    next: int | None


class Audit:
    """The audit chains. `keys` sign the ends of chains; None leaves them unsigned."""

    def __init__(
        self,
        storage: Storage,
        redactor: Redactor,
        table: RoleTable = ROLES,
        keys: AuditKeys | None = None,
    ) -> None:
        self.keys = keys
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
    ) -> NewAuditEntry:
        """Build an entry for a verb that stores it together with its change. `tenant` None is the
        installation's chain; `before` and `after` are redacted here."""
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
            keys=self.keys,
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
    ) -> AuditEntry:
        """Add an entry right after a change, or as the last step of the session that changes."""
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
        entry = await run_in_thread_if_long(redacted, before, after)
        return await (
            append(session, entry) if session else self._storage.access.append_audit_entry(entry)
        )

    async def list(
        self,
        by: Principal,
        *,
        tenant: str | None = None,
        before: int | None = None,
        limit: int = 50,
    ) -> EntryPage:
        """Return a chain's entries, newest first. Without `tenant` it is the installation's chain
        for principals with rights in all tenants, and the own tenant's for others."""
        if not 1 <= limit <= _MOST:
            raise OptionInvalid("limit", limit, allowed=f"1 to {_MOST:,}")
        scope = bounds_of(by, Right.AUDIT_READ, tenant, table=self._table).scope
        found = await self._storage.access.entries(scope.tenant, before=before, most=limit + 1)
        return EntryPage(found[:limit], found[limit - 1].sequence if len(found) > limit else None)

    async def verify(self, tenant: str | None = None) -> ChainVerification:
        """Check a whole chain; without a tenant, the installation's. Entries added during the check
        are left for the next one."""
        return await verify_chain(self._storage, self.keys, tenant)

    async def verify_all(self, pinned: Sequence[PinnedHead] = ()) -> AuditVerification:
        """Check every chain, and that none is gone. `pinned` are ends of chains kept outside the
        database: each must still be part of its chain."""
        return await verify_chains(self._storage, self.keys, pinned)

    async def verify_own(self, tenant: str, pinned: Sequence[PinnedHead] = ()) -> AuditVerification:
        """Check one tenant's chain; TenantNotFound if `pinned` names another tenant."""
        foreign = next((pin for pin in pinned if pin.tenant != tenant), None)
        if foreign is not None:
            raise TenantNotFound(foreign.tenant or "")
        return await verify_chains(self._storage, self.keys, pinned, only=TenantId(tenant))

    async def heads(self, tenant: str | None = None) -> Sequence[ChainHead]:
        """The ends of all chains, or of one tenant's; signed if there is a key."""
        return await self._storage.access.audit_heads(tenant)

    async def sign(
        self, by: Principal, *, accept: bool = False, dry_run: bool = False
    ) -> SigningResult:
        """Sign the ends of all chains and their list with the current key.

        For chains that are older than the key, and after a change of keys. A chain that is broken,
        or whose end has an invalid signature, is signed only with `accept`: it states that an
        operator has investigated. `dry_run` signs none.
        """
        if self.keys is None:
            raise AuditKeyInvalid("no key is set")
        signing = await sign_chains(self._storage, self.keys, accept=accept, dry_run=dry_run)
        if signing.signed and not dry_run:
            await self.record(
                by,
                "audit.sign",
                Target("audit"),
                tenant=None,
                after={"chains": len(signing.signed), "accepted": list(signing.accepted[:_NAMED])},
            )
        return signing
