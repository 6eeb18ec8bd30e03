"""Rows of the database at the end of a chaos run, read without the product."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from tests.databases.connect import execute

STATES = ("pending", "queued", "running", "completed", "canceled", "dead_letter")
_JOB = (
    "id, definition, state, attempts, max_attempts, worker_deaths, lease_token, outcome, "
    "idempotency_key, dedupe_key, trigger_id, trigger_due_at, result, tenant_id, queue, "
    "worker_id, last_started_at, finished_at, last_error"
)
_ATTEMPT = "job_id, number, outcome, worker_id, started_at, finished_at, error"
_SUMS = ", ".join(f"sum({state})" for state in STATES)

Counts = Mapping[tuple[str, str, str], tuple[int, ...]]


@dataclass(frozen=True, kw_only=True)
class JobRow:
    id: str
    definition: str
    state: str
    attempts: int = 1
    max_attempts: int = 3
    worker_deaths: int = 0
    lease_token: int = 1
    #: How its last attempt ended.
    outcome: str | None = None
    idempotency_key: str | None = None
    dedupe_key: str | None = None
    trigger_id: str | None = None
    trigger_due_at: float | None = None
    result: Any = None
    tenant: str = "default"
    queue: str = "default"
    #: Of its last attempt.
    worker: str | None = None
    started_at: float | None = None
    finished_at: float | None = None
    error: str | None = None


@dataclass(frozen=True)
class AttemptRow:
    job: str
    number: int
    outcome: str
    worker: str | None = None
    started_at: float = 0.0
    finished_at: float = 0.0
    error: str | None = None


@dataclass(frozen=True)
class ScheduleRow:
    id: str
    interval: float


@dataclass(frozen=True, kw_only=True)
class Records:
    """The rows; `jobs` may have one id twice."""

    jobs: list[JobRow]
    attempts: list[AttemptRow] = field(default_factory=list)
    schedules: list[ScheduleRow] = field(default_factory=list)
    #: Jobs that still hold a place under a limit.
    holds: list[str] = field(default_factory=list)
    #: By tenant, queue and definition: what the counters say, one number for each of STATES.
    counts: Counts = field(default_factory=dict)


def read(url: str) -> Records:
    """Everything the checker needs, from the database at `url`."""
    return Records(
        jobs=[_job(row) for row in execute(url, f"select {_JOB} from windlass_jobs")],
        attempts=[
            _attempt(row) for row in execute(url, f"select {_ATTEMPT} from windlass_attempts")
        ],
        schedules=[
            ScheduleRow(_id(id), float(interval))
            for id, interval in execute(
                url,
                "select id, interval_seconds from windlass_triggers where interval_seconds is not null and definition = 'beat'",
            )
        ],
        holds=[_id(job) for (job,) in execute(url, "select distinct job_id from windlass_holds")],
        counts=_counts(url),
    )


def _counts(url: str) -> Counts:
    # Both parts by one statement: upkeep moves numbers from one to the other at any time.
    rows = execute(
        url,
        f"select tenant_id, queue, definition, {_SUMS} from ("
        f" select tenant_id, queue, definition, {', '.join(STATES)} from windlass_counts union all"
        f" select tenant_id, queue, definition, {', '.join(STATES)} from windlass_deltas"
        ") as parts group by tenant_id, queue, definition",
    )
    return {
        (tenant, queue, definition): tuple(int(number) for number in numbers)
        for tenant, queue, definition, *numbers in rows
    }


def _job(row: tuple[Any, ...]) -> JobRow:
    (
        id, definition, state, attempts, max_attempts, deaths, token, outcome,
        idempotency, dedupe, trigger, due, result, tenant, queue,
        worker, started, finished, error,
    ) = row  # fmt: skip
    return JobRow(
        id=_id(id),
        definition=definition,
        state=state,
        attempts=attempts,
        max_attempts=max_attempts,
        worker_deaths=deaths,
        lease_token=token,
        outcome=outcome,
        idempotency_key=idempotency,
        dedupe_key=dedupe,
        trigger_id=_id(trigger) if trigger else None,
        trigger_due_at=_instant(due),
        result=_json(result),
        tenant=tenant,
        queue=queue,
        worker=worker,
        started_at=_instant(started),
        finished_at=_instant(finished),
        error=error,
    )


def _attempt(row: tuple[Any, ...]) -> AttemptRow:
    job, number, outcome, worker, started, finished, error = row
    return AttemptRow(
        job=_id(job),
        number=int(number),
        outcome=outcome,
        worker=worker,
        started_at=_instant(started) or 0.0,
        finished_at=_instant(finished) or 0.0,
        error=error,
    )


def _json(value: Any) -> Any:
    if not isinstance(value, str | bytes):
        return value
    try:
        return json.loads(value)
    except ValueError:
        return value


def _id(value: Any) -> str:
    return str(UUID(bytes=value)) if isinstance(value, bytes) else str(value)


def _instant(value: Any) -> float | None:
    if value is None:
        return None
    if isinstance(value, datetime):
        aware = value if value.tzinfo else value.replace(tzinfo=UTC)
        return aware.timestamp()
    return float(Decimal(value) / 1_000_000)
