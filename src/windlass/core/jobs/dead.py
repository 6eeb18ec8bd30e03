"""The dead letter by cause: groups of failures, mutes, edits, and the event of a failure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from windlass.ids import DefinitionKey, JobId, TenantId, WorkerId

#: The event of a job that failed for good.
DEAD_LETTERED = "windlass.job.dead_lettered"
#: Names of events that begin so are Windlass's own.
RESERVED = "windlass."

_LONGEST_MESSAGE = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadGroup:
    """Dead-lettered jobs of one definition that failed for the same cause.

    `fingerprint` names the cause, `sentence` describes it without the values of the one failure, and
    `sample_id` is the newest of the jobs. `tenants` is how many of them it has hit. Jobs of which
    no cause is known, such as those of a deleted tenant, have an empty fingerprint.

    `trend_24h` counts its jobs by the hour and `trend_7d` by six hours, the slot of now last.
    `tenant_ids` are those it hit most. `code` is the version of the code that the newest job failed
    with. It has `recovered` if a job of the definition completed after the last failure, on that code
    or a newer one: `recovered_at`, with the job and its code. `runbook_url` is the definition's.

    If it is muted, `muted_at` tells since when, and `reason` why; without `muted_until` it is until
    somebody unmutes it.
    """

    definition: DefinitionKey
    fingerprint: str
    sentence: str
    count: int
    first_at: datetime
    last_at: datetime
    tenants: int
    sample_id: JobId
    trend_24h: Sequence[int] = ()
    trend_7d: Sequence[int] = ()
    tenant_ids: Sequence[TenantId] = ()
    code: str | None = None
    recovered: bool = False
    recovered_at: datetime | None = None
    recovered_job_id: JobId | None = None
    recovered_code: str | None = None
    runbook_url: str | None = None
    muted_at: datetime | None = None
    muted_by: str | None = None
    muted_until: datetime | None = None
    reason: str | None = None
    #: The worker on which the newest job failed.
    worker_id: WorkerId | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Mute:
    """Mute of a group: it is not shown, and raises no alarm.

    `tenant` None means for all tenants. If nothing is muted, `muted_at` is None.
    """

    definition: DefinitionKey
    fingerprint: str
    tenant: TenantId | None = None
    muted_at: datetime | None = None
    muted_by: str | None = None
    muted_until: datetime | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class GroupChange:
    """Result of changing a group: how many jobs were changed, and how many could not be.

    `more` says that the limit was reached before the group's end.
    """

    changed: int
    skipped: int
    more: bool


class PayloadEdit(NamedTuple):
    """Another payload for a job dead-lettered under `token`: JSON text, the message of the edit, and the
    gate it stands behind, if not where its definition's ordinary jobs do."""

    payload: str
    message: str
    token: int
    dedupe_key: str | None = None
    gate: str | None = None


def edit_message(before: object, after: Mapping[str, Any], actor: str | None) -> str:
    """History message of an edit: by whom and which fields, without the values, which may be secret."""
    old = before if isinstance(before, Mapping) else {}
    by_kind = {
        "changed": [name for name in after if name in old and old[name] != after[name]],
        "added": [name for name in after if name not in old],
        "removed": [name for name in old if name not in after],
    }
    fields = "; ".join(
        f"{kind} {', '.join(sorted(map(str, names)))}" for kind, names in by_kind.items() if names
    )
    message = f"retry, edited{f' by {actor}' if actor else ''}: {fields or 'nothing changed'}"
    return message if len(message) <= _LONGEST_MESSAGE else message[: _LONGEST_MESSAGE - 1] + "…"


def fields_in_schema(schema: Mapping[str, Any], data: Mapping[str, Any]) -> dict[str, Any]:
    """The part of some data that a payload schema takes: the fields it names, or all if it is open."""
    if schema.get("additionalProperties") is not False:
        return dict(data)
    named = schema.get("properties", {})
    return {name: value for name, value in data.items() if name in named}
