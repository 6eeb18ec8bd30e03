"""Row -> model. Accepts what each driver gives for an id, an instant, a JSON value, a flag."""

import json
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any, TypeVar
from uuid import UUID

from windlass.core.access.tenant import Tenant
from windlass.core.definitions.definition import Definition
from windlass.core.jobs.models import Attempt, Job, LogLine, Transition, WorkerRow
from windlass.core.jobs.states import JobState, Outcome
from windlass.core.leases.lease import JobPosition, Lease
from windlass.core.leases.limits import Queue
from windlass.core.leases.worker_orders import WorkerOrder
from windlass.core.payloads.encrypted_fields import SEALED
from windlass.ids import (
    DefinitionKey,
    JobId,
    QueueName,
    TenantId,
    TriggerId,
    WorkerId,
    stored_id,
)

Row = Mapping[str, Any]
Model = TypeVar("Model")

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def uuid(value: Any) -> UUID:
    return stored_id(value) if isinstance(value, str) else value


def instant(value: Any) -> datetime:
    """An aware instant from an aware or naive (UTC) datetime, or microseconds since 1970."""
    if isinstance(value, datetime):
        return value if value.tzinfo else value.replace(tzinfo=UTC)
    return _of_micros(value)


# Jobs stored or claimed together share their instants.
@lru_cache(maxsize=512)
def _of_micros(value: int) -> datetime:
    return _EPOCH + timedelta(microseconds=value)


def optional_instant(value: Any) -> datetime | None:
    return None if value is None else instant(value)


def decode_json(value: Any) -> Any:
    """A JSON value from its text; None stays None."""
    return json.loads(value) if isinstance(value, str | bytes) else value


def _decoded_or(value: Any, default: Any) -> Any:
    """The same; `default` where the text is no JSON, or JSON of another kind."""
    try:
        read = decode_json(value)
    except ValueError:
        return default
    return read if read is None or default is None or isinstance(read, type(default)) else default


def readable(read: Callable[[Row], Model], found: Iterable[Row]) -> list[Model]:
    """The models of some rows; one that cannot be read is left out and harms no other."""
    models = []
    for row in found:
        with suppress(ValueError, TypeError, OverflowError):
            models.append(read(row))
    return models


def seconds(value: Any) -> timedelta | None:
    return None if value is None else timedelta(seconds=float(value))


def job(row: Row) -> Job:
    """A job; lists leave out payload, result and traceback, which then read as None."""
    payload = decode_json(row.get("payload"))
    sealed = payload.pop(SEALED, None) if isinstance(payload, dict) else None
    return Job(
        id=JobId(uuid(row["id"])),
        tenant=TenantId(row["tenant_id"]),
        definition=DefinitionKey(row["definition"]),
        queue=QueueName(row["queue"]),
        state=JobState(row["state"]),
        priority=row["priority"],
        due_at=instant(row["due_at"]),
        attempts=row["attempts"],
        max_attempts=row["max_attempts"],
        created_at=instant(row["created_at"]),
        updated_at=instant(row["updated_at"]),
        queued_at=optional_instant(row["queued_at"]),
        started_at=optional_instant(row["started_at"]),
        last_started_at=optional_instant(row["last_started_at"]),
        finished_at=optional_instant(row["finished_at"]),
        expires_at=optional_instant(row["expires_at"]),
        payload=payload,
        metadata=decode_json(row.get("metadata")) or {},
        source=row["source"],
        source_ref=row["source_ref"],
        correlation_id=row["correlation_id"],
        created_by=row["created_by"],
        trigger_id=None if row["trigger_id"] is None else TriggerId(uuid(row["trigger_id"])),
        trigger_due_at=optional_instant(row["trigger_due_at"]),
        dedupe_key=row["dedupe_key"],
        idempotency_key=row["idempotency_key"],
        on_parent_failure=row["on_parent_failure"],
        waits=row["waits"],
        held=bool(row["held"]),
        timeout_seconds=row["timeout_seconds"],
        worker_id=row["worker_id"],
        worker_deaths=row["worker_deaths"],
        lease_token=row["lease_token"],
        lease_expires_at=optional_instant(row["lease_expires_at"]),
        cancel_requested_at=optional_instant(row["cancel_requested_at"]),
        cancel_requested_by=row["cancel_requested_by"],
        progress=float(row["progress"]),
        progress_note=row["progress_note"],
        outcome=None if row["outcome"] is None else Outcome(row["outcome"]),
        result=decode_json(row.get("result")),
        warnings=tuple(decode_json(row.get("warnings")) or ()),
        last_error=row["last_error"],
        error_type=row["error_type"],
        error_class=row["error_class"],
        error_trace=row.get("error_trace"),
        reason=row["reason"],
        fingerprint=row["fingerprint"],
        gate=row["gate"],
        sealed=sealed,
    )


def place(row: Row) -> JobPosition | None:
    """The position of the first job of a line; None from a database that does not report it."""
    if row.get("first_id") is None:
        return None
    return JobPosition(
        row["first_priority"], instant(row["first_due_at"]), JobId(uuid(row["first_id"]))
    )


def lease(row: Row, worker: WorkerId) -> Lease:
    return Lease(  # by place: one for every job that is run
        JobId(uuid(row["id"])),
        row["lease_token"],
        row["tenant_id"],
        row["definition"],
        row["queue"],
        row["payload"],
        row["priority"],
        row["attempts"],
        row["max_attempts"],
        row["worker_deaths"],
        instant(row["created_at"]),
        instant(row["queued_at"]),
        instant(row["due_at"]),
        instant(row["last_started_at"]),
        row["source"],
        row["source_ref"],
        row["correlation_id"],
        row["created_by"],
        optional_instant(row["trigger_due_at"]),
        row["timeout_seconds"],
        row["metadata"],
        row["gate"],
        worker,
    )


def attempt(row: Row) -> Attempt:
    return Attempt(
        job_id=JobId(uuid(row["job_id"])),
        number=row["number"],
        worker_id=row["worker_id"],
        started_at=instant(row["started_at"]),
        finished_at=instant(row["finished_at"]),
        outcome=Outcome(row["outcome"]),
        error=row["error"],
        error_type=row["error_type"],
        error_class=row["error_class"],
        error_trace=row["error_trace"],
        pid=row["pid"],
        exit_code=row["exit_code"],
        stdout_tail=row["stdout_tail"],
        stderr_tail=row["stderr_tail"],
    )


def transition(row: Row) -> Transition:
    return Transition(
        at=instant(row["at"]),
        from_state=JobState(row["from_state"]),
        to_state=JobState(row["to_state"]),
        actor=row["actor"],
        message=row["message"],
    )


def log_line(row: Row) -> LogLine:
    return LogLine(
        job_id=JobId(uuid(row["job_id"])),
        attempt=row["attempt"],
        level=row["level"],
        message=row["message"],
        at=instant(row["created_at"]),
        fields=decode_json(row["fields"]) or {},
        sequence=row["sequence"],
        tenant=TenantId(row["tenant_id"]),
        definition=DefinitionKey(row["definition"]),
    )


def definition(row: Row) -> Definition:
    """A definition. JSON that cannot be read, because somebody edited it by hand, reads as empty:
    all who work read all definitions, and the next sync or edit writes the row anew."""
    return Definition(
        key=DefinitionKey(row["key"]),
        title=row["title"],
        description=row["description"],
        kind=row["kind"],
        queue=QueueName(row["queue"]),
        priority=row["priority"],
        max_attempts=row["max_attempts"],
        backoff=row["backoff"],
        timeout_seconds=row["timeout_seconds"],
        isolation=row["isolation"],
        max_concurrency=row["max_concurrency"],
        payload_schema=row["payload_schema"],
        default_payload=row["default_payload"],
        tags=tuple(_decoded_or(row["tags"], [])),
        enabled=bool(row["enabled"]),
        system=bool(row["system"]),
        idempotent=bool(row["idempotent"]),
        requires_permission=row["requires_permission"],
        dedupe=row["dedupe"],
        dedupe_window_seconds=row["dedupe_window_seconds"],
        on_duplicate=row["on_duplicate"],
        on_parent_failure=row["on_parent_failure"],
        retention_days=row["retention_days"],
        log_retention_days=row["log_retention_days"],
        retention_count=row["retention_count"],
        handler=row["handler"],
        limit_key=row["limit_key"],
        max_per_key=row["max_per_key"],
        rate_count=row["rate_count"],
        rate_seconds=row["rate_seconds"],
        key_rate_count=row["key_rate_count"],
        key_rate_seconds=row["key_rate_seconds"],
        runs_after=tuple(_decoded_or(row["runs_after"], [])),
        on_dead_letter=row["on_dead_letter"],
        memory_limit_mb=row["memory_limit_mb"],
        version=row["version"],
        metadata=_decoded_or(row["metadata"], {}),
        runbook_url=row["runbook_url"],
        origin=row["origin"],
        edited=tuple(_decoded_or(row["edited"], [])),
        code=_decoded_or(row["code"], None),
        missing_from_code=bool(row["missing_from_code"]),
        code_hash=row["code_hash"],
        gate=row["gate"],
        created_at=instant(row["created_at"]),
        updated_at=instant(row["updated_at"]),
    )


def tenant(row: Row) -> Tenant:
    return Tenant(
        id=TenantId(row["id"]),
        name=row["name"],
        state=row["state"],
        weight=row["weight"],
        max_running=row["max_running"],
        max_open=row["max_open"],
        timezone=row["timezone"],
    )


def queue(row: Row) -> Queue:
    return Queue(
        name=QueueName(row["name"]),
        paused_at=optional_instant(row["paused_at"]),
        paused_by=row["paused_by"],
        pause_reason=row["pause_reason"],
        max_concurrency=row["max_concurrency"],
    )


def worker(row: Row) -> WorkerRow:
    return WorkerRow(
        id=WorkerId(row["id"]),
        hostname=row["hostname"],
        pid=row["pid"],
        version=row["version"],
        queues=tuple(decode_json(row["queues"])),
        definitions=tuple(decode_json(row["definitions"])),
        slots=row["slots"],
        slots_used=row["slots_used"],
        lease_seconds=row["lease_seconds"],
        started_at=instant(row["started_at"]),
        last_seen_at=instant(row["last_seen_at"]),
        age=seconds(row["age"]),
        metadata=decode_json(row["metadata"]) or {},
        memory_mb=row["memory_mb"],
        code=row["code"],
        wanted=WorkerOrder(row["wanted"]),
        wanted_by=row["wanted_by"],
        wanted_at=optional_instant(row["wanted_at"]),
        doing=WorkerOrder(row["doing"]),
    )
