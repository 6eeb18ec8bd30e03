"""Model -> JSON: the one shape in which the command line and the API show things.

Instants are ISO 8601 in UTC with microseconds and a Z, durations seconds or what their name says. Secrets are struck
out here, because this is the way out. A field may be added; none changes its meaning.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, fields
from datetime import UTC, datetime, timedelta
from enum import Enum
from functools import cache
from types import NoneType
from typing import Any
from uuid import UUID

from windlass.core.access.tenant import Tenant
from windlass.core.definitions.activity import DefinitionTimes
from windlass.core.definitions.definition import Definition
from windlass.core.jobs.dead import DeadGroup
from windlass.core.jobs.models import Attempt, Job, JobPage, LogLine, Receipt, Transition, WorkerRow
from windlass.core.jobs.operations import Operation, OperationItem
from windlass.core.leases.gates import version_of
from windlass.core.leases.limits import Queue
from windlass.core.leases.rate_limits import Rate
from windlass.core.payloads.json_text import load_json
from windlass.core.payloads.known_secrets import NO_SECRETS, KnownSecrets
from windlass.core.payloads.redact import Redactor
from windlass.core.triggers.trigger import Event, Trigger

#: What lists leave out, because they do not read it.
LIST_LEAVES_OUT = frozenset({"payload", "metadata", "result", "warnings", "error_trace"})


def job(
    job: Job,
    *,
    now: datetime,
    redactor: Redactor,
    schema: Mapping[str, Any] | None = None,
    opened: Any = None,
    whole: bool = True,
) -> dict[str, Any]:
    """A job; `schema` is its definition's and marks what is secret in the payload. `opened` is the
    payload as it was given, if it is encrypted: its secrets are hidden in the rest of the job.

    `view` is the state as people see it at `now`. Without `whole` it is a list's entry. Errors and
    notes were redacted before they were stored.
    """
    shown = _plain(job)
    secrets = NO_SECRETS
    if whole:
        given = job.payload if opened is None else opened
        if hidden := redactor.secrets_in(given, schema):
            secrets = KnownSecrets(hidden)
        shown["payload"] = redactor.redact_value(job.payload, schema)
        shown["metadata"] = redactor.redact_value(dict(job.metadata), secrets=secrets)
        shown["result"] = redactor.redact_value(job.result, secrets=secrets)
        shown["warnings"] = [redactor.redact_text(text, secrets) for text in job.warnings]
    shown["reason"] = _redacted(redactor, job.reason, secrets)
    shown["view"] = str(job.view(now))
    shown["duration_ms"] = _milliseconds(job.duration)
    shown["payload_version"] = version_of(job.gate)
    return {name: shown[name] for name in (_JOB if whole else _LISTED)}


def _milliseconds(time: timedelta | None) -> int | None:
    return None if time is None else round(time / timedelta(milliseconds=1))


def revealed(job: Job) -> dict[str, Any]:
    """Payload and result of a job, not redacted. Only for callers with the right."""
    shown = _plain(job)
    return {name: shown[name] for name in ("id", "definition", "tenant_id", "payload", "result")}


def page(page: JobPage, *, now: datetime, redactor: Redactor) -> dict[str, Any]:
    """A page of jobs, and the cursor of the next one (null at the end)."""
    items = [job(one, now=now, redactor=redactor, whole=False) for one in page.jobs]
    return {"items": items, "next_cursor": None if page.next is None else str(page.next)}


def receipt(receipt: Receipt) -> dict[str, Any]:
    """The result of an enqueue."""
    return {name: plain(value) for name, value in receipt._asdict().items()}


def attempt(attempt: Attempt) -> dict[str, Any]:
    """One try at a job. What it left behind was redacted before it was stored."""
    shown = _plain(attempt)
    took = attempt.duration
    shown["duration_ms"] = None if took is None else round(took / timedelta(milliseconds=1))
    return shown


def transition(transition: Transition, redactor: Redactor) -> dict[str, Any]:
    """One step of a job's history."""
    shown = _plain(transition)
    shown["message"] = _redacted(redactor, shown["message"])
    return shown


def line(line: LogLine) -> dict[str, Any]:
    """One line of a job's log. It was redacted before it was stored."""
    return _plain(line)


#: Fields of a definition that are stored as text of JSON.
_JSON_TEXTS = ("payload_schema", "default_payload", "backoff")


def definition(definition: Definition, times: DefinitionTimes | None = None) -> dict[str, Any]:
    """A definition as its row stands; `edited` names what an operator changed, `code` has what the
    code says of it. Then how its jobs are made, how many run, and more of one that is shown alone."""
    shown = _plain(definition)
    for name in _JSON_TEXTS:
        shown[name] = None if shown[name] is None else load_json(shown[name])
    for name, count, seconds in (
        ("rate_limit", "rate_count", "rate_seconds"),
        ("rate_per_key", "key_rate_count", "key_rate_seconds"),
    ):
        most, time = shown.pop(count), shown.pop(seconds)
        shown[name] = None if most is None else str(Rate(most, time))
    del shown["gate"]
    if shown["code"] is not None:
        shown["code"] = {
            name: load_json(value) if name in _JSON_TEXTS and value is not None else value
            for name, value in shown["code"].items()
        }
    return shown if times is None else {**shown, **_plain(times)}


def trigger(trigger: Trigger) -> dict[str, Any]:
    """A trigger, with the fields of its type."""
    shown = _plain(trigger)
    del shown["unreadable"]  # `last_error` says it in words
    return shown


def event(event: Event, redactor: Redactor) -> dict[str, Any]:
    """An event, and what its triggers did with it."""
    shown = _plain(event)
    shown["data"] = redactor.redact_value(event.data)
    shown["matches"] = [
        {**asdict(match), "because": _redacted(redactor, match.because)} for match in event.matches
    ]
    return shown


def queue(queue: Queue) -> dict[str, Any]:
    """A queue, with its settings."""
    return _plain(queue)


def tenant(tenant: Tenant) -> dict[str, Any]:
    """A tenant."""
    return _plain(tenant)


def worker(worker: WorkerRow) -> dict[str, Any]:
    """A worker, with how long ago it was seen."""
    shown = _plain(worker)
    age = shown.pop("age")
    return {**shown, "age_seconds": age}


def running_job(job: Any, redactor: Redactor) -> dict[str, Any]:
    """A job that a worker runs now."""
    shown = {name: plain(value) for name, value in job._asdict().items() if name != "worker_id"}
    shown["tenant_id"] = shown.pop("tenant")
    shown["elapsed_seconds"] = shown.pop("elapsed")
    shown["progress_note"] = _redacted(redactor, job.progress_note)
    return shown


def dead_group(group: DeadGroup) -> dict[str, Any]:
    """A group of dead-lettered jobs."""
    shown = fields_of(group)
    del shown["worker_id"]
    return {**shown, "tenant_ids": list(group.tenant_ids)}


def operation(operation: Operation, redactor: Redactor) -> dict[str, Any]:
    """A bulk operation, and how far it is."""
    shown = _plain(operation)
    del shown["token"]
    for name in ("query", "reason"):
        shown[name] = _redacted(redactor, shown[name])
    shown["changes"] = redactor.redact_value(shown["changes"])
    return {**shown, "left": operation.left}


def item(item: OperationItem) -> dict[str, Any]:
    """A job of a bulk operation, and what became of it."""
    return {name: plain(value) for name, value in item._asdict().items()}


def instant(at: datetime) -> str:
    """An instant as it is written everywhere outside of Python: UTC, always of the same width, so
    that text sorts as the instants do."""
    utc = at if at.tzinfo is UTC else at.astimezone(UTC)
    return utc.isoformat(timespec="microseconds")[: -len("+00:00")] + "Z"


def plain(value: object) -> Any:
    """A value as JSON knows it; what it does not know is left alone."""
    kind = type(value)
    if kind in _KNOWN:
        return value
    for known, turned in _TURNED.items():
        if isinstance(value, known):
            return turned(value)
    return value


#: What is JSON already: most of what is shown.
_KNOWN = frozenset({str, int, float, bool, NoneType, list})
_TURNED: Mapping[type, Callable[[Any], Any]] = {
    datetime: instant,
    UUID: str,
    Enum: str,
    timedelta: timedelta.total_seconds,
    Mapping: dict,
    tuple: list,
    frozenset: list,
}


def fields_of(model: Any) -> dict[str, Any]:
    """Any other record, as it is."""
    return _plain(model)


def _plain(model: Any) -> dict[str, Any]:
    return {name: plain(getattr(model, field)) for name, field in _fields(type(model))}  # type: ignore[arg-type]  # a class is hashable


@cache
def _fields(kind: Any) -> tuple[tuple[str, str], ...]:
    """The names that a record's fields are shown by, and their own."""
    return tuple(("tenant_id" if f.name == "tenant" else f.name, f.name) for f in fields(kind))


def _redacted(
    redactor: Redactor, text: str | None, secrets: KnownSecrets = NO_SECRETS
) -> str | None:
    return None if text is None else redactor.redact_text(text, secrets)


#: The fields of a job in the order people look for them: what, where it stands, when, why.
_FIRST = (
    "id", "definition", "state", "view", "tenant_id", "queue", "priority", "attempts",
    "max_attempts", "progress", "progress_note", "payload", "result", "warnings", "last_error",
    "error_type", "error_class",
)  # fmt: skip
#: Fields of a job that are never shown.
INTERNAL_FIELDS = ("gate", "sealed")
_JOB = (
    *_FIRST,
    *(name for name, _ in _fields(Job) if name not in (*_FIRST, *INTERNAL_FIELDS)),
    "duration_ms",
    "payload_version",
)
_LISTED = tuple(name for name in _JOB if name not in LIST_LEAVES_OUT)
