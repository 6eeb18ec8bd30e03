"""The audit chain: what an entry is, what its hash covers, and where a chain is broken.

Each entry's hash covers all it says and the hash before it, so that nobody can change, drop, add
or reorder entries without every later hash telling.
"""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal

from windlass.core.access.audit_signatures import AuditKeys
from windlass.core.access.principal import Principal
from windlass.core.payloads.redact import Redactor
from windlass.core.text import clean, storable
from windlass.ids import TenantId

#: What stands before the first entry.
GENESIS = "0" * 64

AuditOutcome = Literal["allowed", "refused"]

_LONGEST_TEXT = 500
_LONGEST_VALUE = 16 * 1024


@dataclass(frozen=True, slots=True)
class Target:
    """The object of an entry, such as a `job` with its id."""

    kind: str
    id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRecord:
    """Something a person or token changed, or was refused. Everything is already redacted.

    `tenant` None is the chain of the installation. `actor` is `Principal.actor`, `actor_name` what
    it was called then; `before` and `after` are JSON values.
    """

    tenant: TenantId | None
    actor: str
    actor_kind: str
    actor_name: str
    action: str
    target_kind: str
    target_id: str
    outcome: AuditOutcome = "allowed"
    before: Any = None
    after: Any = None
    request_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NewAuditEntry(AuditRecord):
    """An entry to be added. With `keys`, the end of the chain that it makes is signed."""

    keys: AuditKeys | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEntry(AuditRecord):
    """An entry in its chain."""

    sequence: int
    at: datetime
    previous_hash: str
    hash: str


@dataclass(frozen=True, slots=True)
class ChainBreak:
    """A break in a chain, by the number of the first entry that shows it."""

    sequence: int
    problem: str


@dataclass(frozen=True, slots=True)
class ChainEnd:
    """The end of a chain: its last number and hash."""

    sequence: int
    hash: str


EMPTY_CHAIN = ChainEnd(0, GENESIS)


def new_entry(
    by: Principal,
    action: str,
    *,
    target_kind: str,
    target_id: str,
    tenant: str | None,
    redactor: Redactor,
    outcome: AuditOutcome = "allowed",
    before: object = None,
    after: object = None,
    request_id: str | None = None,
    keys: AuditKeys | None = None,
) -> NewAuditEntry:
    """An entry as it may be stored: secrets hidden, sizes bounded."""
    return NewAuditEntry(
        tenant=None if tenant is None else TenantId(tenant),
        actor=_text(by.actor),
        actor_kind=by.kind,
        actor_name=_text(redactor.redact_text(by.name)),
        action=action,
        target_kind=target_kind,
        target_id=_text(redactor.redact_text(target_id)),
        outcome=outcome,
        before=_value(before, redactor),
        after=_value(after, redactor),
        request_id=None if request_id is None else _text(request_id),
        keys=keys,
    )


def chain_entry(new: NewAuditEntry, after: ChainEnd, at: datetime) -> AuditEntry:
    """The entry that follows the end of a chain."""
    fields = {name: getattr(new, name) for name in AuditRecord.__dataclass_fields__}
    unsealed = AuditEntry(
        **fields, sequence=after.sequence + 1, at=at, previous_hash=after.hash, hash=""
    )
    return AuditEntry(
        **fields,
        sequence=unsealed.sequence,
        at=at,
        previous_hash=after.hash,
        hash=hash_of(unsealed),
    )


def hash_of(entry: AuditEntry) -> str:
    """The hash that an entry must have."""
    said = {
        "tenant": entry.tenant,
        "sequence": entry.sequence,
        "at": entry.at.astimezone(UTC).isoformat(timespec="microseconds"),
        "actor": entry.actor,
        "actor_kind": entry.actor_kind,
        "actor_name": entry.actor_name,
        "action": entry.action,
        "target_kind": entry.target_kind,
        "target_id": entry.target_id,
        "outcome": entry.outcome,
        "before": entry.before,
        "after": entry.after,
        "request_id": entry.request_id,
        "previous_hash": entry.previous_hash,
    }
    return hashlib.sha256(canonical(said).encode()).hexdigest()


def canonical(value: object) -> str:
    """The one JSON text of a value: keys in order, no spaces, ASCII only."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def first_break(
    entries: Iterable[AuditEntry], after: ChainEnd = EMPTY_CHAIN
) -> ChainBreak | ChainEnd:
    """The first entry that does not follow the one before; where the entries end, if all do."""
    for entry in entries:
        expected = after.sequence + 1
        if entry.sequence != expected:
            return ChainBreak(expected, f"entry {expected} is missing: {entry.sequence} comes next")
        if entry.previous_hash != after.hash:
            return ChainBreak(expected, f"entry {expected} does not follow the one before it")
        if entry.hash != hash_of(entry):
            return ChainBreak(expected, f"entry {expected} was changed")
        after = ChainEnd(entry.sequence, entry.hash)
    return after


def _text(text: str) -> str:
    return clean(text, _LONGEST_TEXT)


def _value(value: object, redactor: Redactor) -> Any:
    """A JSON value with its secrets hidden; of one too large only that it was, and its hash."""
    if value is None:
        return None
    # Through text once: what is read back must be what was hashed, to the last key.
    plain = json.loads(storable(json.dumps(value, default=str)))
    shown = redactor.redact_value(plain)
    text = canonical(shown)
    if len(text) <= _LONGEST_VALUE:
        return shown
    return {"too_large": len(text), "sha256": hashlib.sha256(text.encode()).hexdigest()}
