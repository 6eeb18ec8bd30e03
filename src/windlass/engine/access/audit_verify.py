"""Checks audit chains: entries follow each other, ends match their signatures, no chain is gone,
and pinned ends are still part of their chains."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from windlass.core.access import audit_signatures
from windlass.core.access.audit import EMPTY_CHAIN, ChainBreak, ChainEnd, first_break
from windlass.core.access.audit_signatures import AuditKeys, SignatureState
from windlass.errors import AuditKeyInvalid
from windlass.ids import TenantId
from windlass.settings import AuditSettings
from windlass.storage.access.audit import StoredChainEnd
from windlass.storage.storage import Storage

_PAGE = 1000
_SHORTEST_KEY = 32
#: Tries to sign a chain that grows meanwhile.
_TRIES = 5
_THE_LIST = "*"


@dataclass(frozen=True, slots=True)
class PinnedHead:
    """An earlier end of a chain, kept outside the database. `tenant` None is the installation."""

    tenant: str | None
    sequence: int
    hash: str
    signature: str | None = None


@dataclass(frozen=True, slots=True)
class ChainVerification:
    """The result for one chain: the number of whole entries, the break if there is one, and the
    state of the end's signature."""

    tenant: str | None
    entries: int
    broken: ChainBreak | None
    head: SignatureState = SignatureState.UNSIGNED

    @property
    def whole(self) -> bool:
        return self.broken is None


@dataclass(frozen=True, slots=True)
class AuditVerification:
    """The result for several chains. `problem` is about the list of chains itself; `signed` is true
    if there was a key to check signatures with."""

    chains: Sequence[ChainVerification]
    signed: bool
    problem: str | None = None

    @property
    def whole(self) -> bool:
        return self.problem is None and all(chain.whole for chain in self.chains)


@dataclass(frozen=True, slots=True)
class SigningResult:
    """The chains that were signed, by tenant ("" is the installation, "*" the list of chains).
    `accepted` were signed only because of `accept`; `refused` gives the reason for each other."""

    signed: list[str]
    accepted: list[str]
    refused: dict[str, str]


def signing_keys(settings: AuditSettings) -> AuditKeys | None:
    """The keys in the settings, or None. AuditKeyInvalid if their file is unusable."""
    key = settings.key if settings.key_file is None else _first_line(settings.key_file)
    if key is None:
        return None
    return AuditKeys(key.encode(), tuple(each.encode() for each in settings.accepted_keys))


async def verify_chains(
    storage: Storage,
    keys: AuditKeys | None,
    pinned: Sequence[PinnedHead] = (),
    *,
    only: TenantId | None = None,
) -> AuditVerification:
    """Check every chain, or only that of tenant `only`, one page of entries at a time."""
    names = [only] if only is not None else await storage.access.audit_chains()
    names += sorted({pin.tenant for pin in pinned} - set(names), key=str)
    chains = {name: await verify_chain(storage, keys, name) for name in names}
    for pin in pinned:
        chain = chains[pin.tenant]
        if chain.whole and (broken := await _pin_problem(storage, keys, pin)):
            chains[pin.tenant] = replace(chain, broken=broken)
    problem = None if keys is None or only is not None else await _list_problem(storage, keys)
    return AuditVerification(list(chains.values()), keys is not None, problem)


async def verify_chain(
    storage: Storage, keys: AuditKeys | None, tenant: str | None
) -> ChainVerification:
    """Check one chain up to its current end."""
    end = await storage.access.audit_chain_end(tenant)
    head = _head_state(keys, tenant, end)
    at = await _walk(storage, tenant, end)
    if isinstance(at, ChainBreak):
        return ChainVerification(tenant, at.sequence - 1, at, head)
    if keys is not None and (problem := _signature_problem(keys, tenant, end, head)):
        return ChainVerification(tenant, at.sequence, problem, head)
    return ChainVerification(tenant, at.sequence, None, head)


async def sign_chains(
    storage: Storage, keys: AuditKeys, *, accept: bool, dry_run: bool = False
) -> SigningResult:
    """Sign the end of every whole chain, and the list of chains; with `accept`, of every chain.
    `dry_run` signs none and returns what it would sign."""
    signing = SigningResult([], [], {})
    list_problem = await _list_problem(storage, keys)
    for tenant in await storage.access.audit_chains():
        listed = list_problem is None
        await _sign(storage, keys, tenant, signing, accept=accept, listed=listed, dry_run=dry_run)
    if list_problem is not None and not accept:
        signing.refused[_THE_LIST] = list_problem
    elif not dry_run:
        await storage.access.register_audit_chains(keys, forget=accept)
    return signing


async def _sign(
    storage: Storage,
    keys: AuditKeys,
    tenant: str | None,
    signing: SigningResult,
    *,
    accept: bool,
    listed: bool,
    dry_run: bool,
) -> None:
    name = tenant or ""
    for _ in range(_TRIES):
        end = await storage.access.audit_chain_end(tenant)
        problem = await _signing_problem(storage, keys, tenant, end, listed=listed)
        if problem is not None and not accept:
            signing.refused[name] = problem
            return
        if end.recorded is None:
            return  # nothing left to sign
        if dry_run or await storage.access.sign_audit_head(tenant, end.recorded, keys):
            signing.signed.append(name)
            if problem is not None:
                signing.accepted.append(name)
            return
    signing.refused[name] = "it grows too fast to be checked; try again"


async def _walk(storage: Storage, tenant: str | None, end: StoredChainEnd) -> ChainBreak | ChainEnd:
    """The first entry that was tampered with, or the end of the entries if none was."""
    recorded = end.recorded or EMPTY_CHAIN
    at: ChainBreak | ChainEnd = EMPTY_CHAIN
    while isinstance(at, ChainEnd) and at.sequence < recorded.sequence:
        page = await storage.access.audit_entries_after(
            tenant, at.sequence, last=recorded.sequence, most=_PAGE
        )
        if not page:
            missing = at.sequence + 1
            at = ChainBreak(missing, f"entry {missing} is missing: none comes next")
        else:
            at = first_break(page, at)
    if isinstance(at, ChainBreak):
        return at
    if end.last > recorded.sequence:
        added = recorded.sequence + 1
        return ChainBreak(added, f"entry {added} was added by hand")
    if at != recorded:
        return ChainBreak(recorded.sequence, "the chain does not end as it is said to")
    return at


def _head_state(keys: AuditKeys | None, tenant: str | None, end: StoredChainEnd) -> SignatureState:
    if keys is None:
        return SignatureState.UNSIGNED if end.signature is None else SignatureState.UNCHECKED
    recorded = end.recorded or EMPTY_CHAIN
    return keys.check(
        end.signature,
        audit_signatures.chain_end_statement(tenant or "", recorded.sequence, recorded.hash),
    )


def _signature_problem(
    keys: AuditKeys, tenant: str | None, end: StoredChainEnd, head: SignatureState
) -> ChainBreak | None:
    """The reason not to trust the end of a chain whose entries follow each other."""
    if end.recorded is None and end.listed is None:
        return None  # it was never started
    last = (end.recorded or EMPTY_CHAIN).sequence
    if end.recorded is None:
        return ChainBreak(1, "the whole chain is gone: it is listed, and has no entry")
    if (since := audit_signatures.untrusted_since(end.signature)) is not None:
        return ChainBreak(
            since, f"the signature before entry {since} did not fit when that was added"
        )
    if head is not SignatureState.VALID:
        return ChainBreak(last, _HEAD_PROBLEMS[head])
    if end.listed is None:
        return ChainBreak(last, "the chain is not in the list of chains")
    place = audit_signatures.chain_list_statement(end.listed.number, tenant or "")
    if keys.check(end.listed.signature, place) is not SignatureState.VALID:
        return ChainBreak(last, "its place in the list of chains was changed")
    return None


_HEAD_PROBLEMS = {
    SignatureState.MISSING: "the end of the chain is not signed",
    SignatureState.INVALID: "the end of the chain is not the one that was signed: entries were cut "
    "off, added or replaced",
    SignatureState.UNKNOWN_KEY: "the end of the chain is signed with a key that is not known here",
}


async def _list_problem(storage: Storage, keys: AuditKeys) -> str | None:
    """Check the list of chains, one page at a time; returns the problem."""
    registry = await storage.access.audit_registry()
    if registry is None:
        first = await storage.access.registered_audit_chains(0, last=2**62, most=1)
        return "the number of chains is gone" if first else None
    if keys.check(
        registry.signature, audit_signatures.chain_count_statement(registry.chains)
    ) is not (SignatureState.VALID):
        return "the number of chains is not the one that was signed"
    number = 0
    while number < registry.chains:
        page = await storage.access.registered_audit_chains(
            number, last=registry.chains, most=_PAGE
        )
        for each in page:
            number += 1
            if each.number != number:
                break
            if keys.check(
                each.signature, audit_signatures.chain_list_statement(number, each.tenant)
            ) is not (SignatureState.VALID):
                return f"chain {number} of the list was changed"
        else:
            if page:
                continue
            number += 1
        return f"chain {number} of {registry.chains} is missing from the list"
    return None


async def _pin_problem(
    storage: Storage, keys: AuditKeys | None, pin: PinnedHead
) -> ChainBreak | None:
    """The reason why a pinned end is no longer part of its chain."""
    if keys is not None and pin.signature is not None:
        statement = audit_signatures.chain_end_statement(pin.tenant or "", pin.sequence, pin.hash)
        if keys.check(pin.signature, statement) is not SignatureState.VALID:
            return ChainBreak(pin.sequence, "the pinned head itself is not as it was signed")
    found = await storage.access.audit_entries_after(
        pin.tenant, pin.sequence - 1, last=pin.sequence, most=1
    )
    if not found:
        return ChainBreak(
            pin.sequence,
            f"the chain was rolled back: entry {pin.sequence} was there when its head was pinned",
        )
    if found[0].hash != pin.hash:
        return ChainBreak(
            pin.sequence,
            f"the chain was rewritten: entry {pin.sequence} is not the one that was pinned",
        )
    return None


async def _signing_problem(
    storage: Storage, keys: AuditKeys, tenant: str | None, end: StoredChainEnd, *, listed: bool
) -> str | None:
    """The reason why a chain must be investigated before it is signed. A chain that is neither
    signed nor listed is older than the key, if the list is whole (`listed`)."""
    at = await _walk(storage, tenant, end)
    if isinstance(at, ChainBreak):
        return at.problem
    head = _head_state(keys, tenant, end)
    if head is SignatureState.MISSING and end.listed is None and listed:
        return None
    problem = _signature_problem(keys, tenant, end, head)
    return None if problem is None else problem.problem


def _first_line(path: str) -> str:
    try:
        text = Path(path).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not text"
        raise AuditKeyInvalid(f"{path} cannot be read: {why}") from None
    key = text.partition("\n")[0].strip()
    if len(key) < _SHORTEST_KEY:
        raise AuditKeyInvalid(f"the first line of {path} has fewer than 32 characters")
    return key
