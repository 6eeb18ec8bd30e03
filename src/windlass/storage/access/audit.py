"""Verbs on the audit chains: append an entry with its change, list entries, read and sign ends."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from windlass.core.access import audit_signatures
from windlass.core.access.audit import (
    EMPTY_CHAIN,
    GENESIS,
    AuditEntry,
    ChainEnd,
    NewAuditEntry,
    canonical,
    chain_entry,
)
from windlass.core.access.audit_signatures import AuditKeys, SignatureState
from windlass.errors import AuditKeyMissing
from windlass.storage.access import account_rows
from windlass.storage.connection.deadlock_retry import retry_deadlocks
from windlass.storage.database import Database, Session
from windlass.storage.sql import rows
from windlass.storage.sql.statements import Rows

#: Beyond every number of a chain.
_LAST = 2**62


class RegisteredChain(NamedTuple):
    """A chain's place in the list of signed chains."""

    tenant: str
    number: int
    signature: str


class StoredChainEnd(NamedTuple):
    """The recorded end of a chain, signed or not, the number of its last entry, and its place in
    the list of signed chains; all read at one instant."""

    recorded: ChainEnd | None
    last: int
    signature: str | None = None
    listed: RegisteredChain | None = None


class ChainHead(NamedTuple):
    """The end of a chain."""

    tenant: str | None
    end: ChainEnd
    signature: str | None


class ChainRegistry(NamedTuple):
    """The number of listed chains."""

    chains: int
    signature: str | None


class AuditVerbs:
    _db: Database

    @retry_deadlocks
    async def append_audit_entry(self, entry: NewAuditEntry) -> AuditEntry:
        """Append an entry by itself: for a refusal, or a change by verbs of other nouns."""
        async with self._db.transaction() as session:
            return await append(session, entry)

    async def entries(
        self, tenant: str | None, *, before: int | None = None, most: int = 50
    ) -> list[AuditEntry]:
        """A chain's entries, newest first; `before` is the last number already seen. Tenant None
        is the installation's chain."""
        found = await self._db.run(
            "audit_entries", tenant_id=tenant or "", before=before, most=most
        )
        return [account_rows.entry(row) for row in found]

    async def audit_entries_after(
        self, tenant: str | None, after: int, *, last: int, most: int = 1000
    ) -> list[AuditEntry]:
        """A chain's entries in order, past number `after` and up to `last`."""
        found = await self._db.run(
            "audit_entries_after", tenant_id=tenant or "", after=after, last=last, most=most
        )
        return [account_rows.entry(row) for row in found]

    async def audit_chain_end(self, tenant: str | None) -> StoredChainEnd:
        [row] = await self._db.run("audit_chain_end", tenant_id=tenant or "")
        recorded = None if row["sequence"] is None else ChainEnd(row["sequence"], row["hash"])
        listed = (
            RegisteredChain(tenant or "", row["number"], row["listed"]) if row["number"] else None
        )
        return StoredChainEnd(recorded, row["last"] or 0, row["signature"], listed)

    async def audit_chains(self) -> list[str | None]:
        """The tenants that have a chain, or should have one; None is the installation."""
        return [row["tenant_id"] or None for row in await self._db.run("audit_chains")]

    async def audit_heads(self, tenant: str | None = None) -> list[ChainHead]:
        """The ends of chains: one tenant's, or all of them with the installation's first."""
        found = await self._db.run("audit_heads", tenant_id=tenant)
        return [
            ChainHead(
                row["tenant_id"] or None, ChainEnd(row["sequence"], row["hash"]), row["signature"]
            )
            for row in found
        ]

    async def audit_registry(self) -> ChainRegistry | None:
        """The number of listed chains; None if none ever was."""
        found = await self._db.run("audit_registry")
        return ChainRegistry(found[0]["chains"], found[0]["signature"]) if found else None

    async def registered_audit_chains(
        self, after: int, *, last: int, most: int = 1000
    ) -> list[RegisteredChain]:
        """Listed chains by number, past number `after` and up to `last`."""
        found = await self._db.run("registered_audit_chains", after=after, last=last, most=most)
        return [RegisteredChain(row["tenant_id"], row["number"], row["signature"]) for row in found]

    @retry_deadlocks
    async def sign_audit_head(self, tenant: str | None, end: ChainEnd, keys: AuditKeys) -> bool:
        """Sign the end of a chain; False if it has grown meanwhile."""
        async with self._db.transaction() as session:
            [row] = await session.run("lock_audit_chain", tenant_id=tenant or "", genesis=GENESIS)
            if ChainEnd(row["sequence"], row["hash"]) != end:
                return False
            await session.run(
                "sign_audit_head",
                tenant_id=tenant or "",
                signature=keys.sign(
                    audit_signatures.chain_end_statement(tenant or "", end.sequence, end.hash)
                ),
            )
            return True

    @retry_deadlocks
    async def register_audit_chains(self, keys: AuditKeys, *, forget: bool = False) -> None:
        """Rewrite and sign the list of chains, adding those that are missing. `forget` leaves out
        chains that are gone."""
        async with self._db.transaction() as session:
            await session.run("lock_audit_registry")
            before = await session.run("registered_audit_chains", after=0, last=_LAST, most=_LAST)
            heads = [row["tenant_id"] for row in await session.run("audit_heads", tenant_id=None)]
            kept = [row["tenant_id"] for row in before if not forget or row["tenant_id"] in heads]
            await session.run("clear_audit_chains")
            for number, tenant in enumerate(dict.fromkeys(kept + heads), start=1):
                await _list(session, tenant, number, keys)


async def append(session: Session, entry: NewAuditEntry) -> AuditEntry:
    """Append an entry to its chain in the open transaction, as its last step: other writers of the
    chain wait until it ends."""
    tenant = entry.tenant or ""
    [row] = await session.run("lock_audit_chain", tenant_id=tenant, genesis=GENESIS)
    end = ChainEnd(row["sequence"], row["hash"])
    # Read after the lock is held, so that times are in the order of numbers.
    [clock] = await session.run("database_time")
    made = chain_entry(entry, end, rows.instant(clock["now"]))
    signature = await _signature(session, row["signature"], end, made, entry.keys)
    await session.run(
        "append_audit_entry",
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
        signature=signature,
    )
    return made


async def _signature(
    session: Session, before: str | None, end: ChainEnd, made: AuditEntry, keys: AuditKeys | None
) -> str | None:
    """The signature of a chain's new end. It is signed if the end before was, or if the chain
    starts here; signing any other would hide tampering."""
    tenant = made.tenant or ""
    if keys is None:
        if before is not None:
            raise AuditKeyMissing(made.tenant)
        return None
    if end == EMPTY_CHAIN and before is None:
        good = await _start(session, tenant, keys)
    else:
        state = keys.check(
            before, audit_signatures.chain_end_statement(tenant, end.sequence, end.hash)
        )
        if state is SignatureState.MISSING:
            return None
        if state is SignatureState.UNKNOWN_KEY:
            raise AuditKeyMissing(made.tenant)
        good = state is SignatureState.VALID
    if good:
        return keys.sign(audit_signatures.chain_end_statement(tenant, made.sequence, made.hash))
    if audit_signatures.untrusted_since(before) is not None:
        return before
    return audit_signatures.untrusted_signature(made.sequence)


async def _start(session: Session, tenant: str, keys: AuditKeys) -> bool:
    """List a new chain; False if it is listed already, so it existed before."""
    [row] = await session.run("lock_audit_registry")
    if await session.run("registered_audit_chain", tenant_id=tenant):
        return False
    count, signature = row["chains"], row["signature"]
    fresh = count == 0 and signature is None
    good = (
        fresh
        or keys.check(signature, audit_signatures.chain_count_statement(count))
        is SignatureState.VALID
    )
    await _list(session, tenant, count + 1, keys, sign=good)
    return True


async def _list(
    session: Session, tenant: str, number: int, keys: AuditKeys, *, sign: bool = True
) -> None:
    """Add the next chain to the locked list. Without `sign` the list stays unsigned."""
    await session.run(
        "register_audit_chain",
        tenant_id=tenant,
        number=number,
        signature=keys.sign(audit_signatures.chain_list_statement(number, tenant)),
    )
    signature = (
        keys.sign(audit_signatures.chain_count_statement(number))
        if sign
        else audit_signatures.untrusted_signature(number)
    )
    await session.run("sign_audit_registry", chains=number, signature=signature)


@retry_deadlocks
async def run_audited(
    database: Database,
    verb: str,
    /,
    *,
    entry: NewAuditEntry | None,
    also: Sequence[tuple[str, dict[str, Any]]] = (),
    **params: Any,
) -> Rows:
    """Run a verb; if it returns rows, also run `also` and append the entry. All or nothing."""
    async with database.transaction() as session:
        found = await session.run(verb, **params)
        if found:
            for other, values in also:
                await session.run(other, **values)
            if entry is not None:
                await append(session, entry)
        return found


def _text(value: Any) -> str | None:
    return None if value is None else canonical(value)
