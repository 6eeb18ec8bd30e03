"""Verbs of the live feed. Each is one bounded read; nothing is written.

Callers read repeatedly and compare with what they read before.
"""

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from windlass.core.jobs.models import LogLine
from windlass.core.jobs.states import JobState
from windlass.ids import JobId
from windlass.storage.database import Database
from windlass.storage.sql import rows
from windlass.storage.sql.statements import Batch


class Activity(NamedTuple):
    """The number of jobs of a tenant, queue and definition in each state.

    `moves` counts enqueues and starts within the last minutes: it changes when jobs left a state
    and came back to it between two reads.
    """

    tenant: str
    queue: str
    definition: str
    counts: Mapping[JobState, int]
    moves: int


class JobSnapshot(NamedTuple):
    """The current values of a job; `log_sequence` is the number of its last log line."""

    id: JobId
    tenant: str
    state: JobState
    outcome: str | None
    attempts: int
    due_at: datetime
    progress: float
    progress_note: str | None
    log_sequence: int
    cancel_requested_at: datetime | None
    finished_at: datetime | None
    updated_at: datetime


class LogRange(NamedTuple):
    """Lines of a job's log, by the sequence numbers of the first and the last."""

    first: int
    last: int


class EventStatus(NamedTuple):
    """An event, without its data."""

    id: UUID
    tenant: str
    name: str
    created_at: datetime
    matched_at: datetime | None
    jobs: int


class TriggerStatus(NamedTuple):
    """The current values of a trigger, without its rule."""

    id: UUID
    tenant: str
    name: str
    type: str
    definition: str
    enabled: bool
    next_run_at: datetime | None
    last_run_at: datetime | None
    last_job_id: UUID | None
    last_error: str | None
    updated_at: datetime


class StreamVerbs:
    _db: Database

    async def stream_activity(self) -> list[Activity]:
        """The counts by tenant, queue and definition, with their recent moves."""
        return [
            Activity(
                row["tenant_id"],
                row["queue"],
                row["definition"],
                {state: int(row[state]) for state in JobState},
                int(row["moves"]),
            )
            for row in await self._db.run("stream_activity")
        ]

    async def stream_jobs(self, ids: Collection[JobId]) -> dict[JobId, JobSnapshot]:
        """Snapshots of these jobs, without payloads; one that does not exist is left out."""
        found: dict[JobId, JobSnapshot] = {}
        for _ in range(2):  # again for a job that moved between two tables during the first read
            if missing := [id for id in ids if id not in found]:
                seen = await self._db.run("stream_jobs", ids=Batch(id=missing))
                found |= {each.id: each for each in map(_glance, seen)}
        return found

    async def stream_log_lines(self, ranges: Mapping[JobId, LogRange]) -> list[LogLine]:
        """These lines of each job's log, in order; those that were pruned are left out."""
        batch = Batch(
            id=list(ranges),
            first_line=[each.first for each in ranges.values()],
            last_line=[each.last for each in ranges.values()],
        )
        return [
            rows.log_line(row) for row in await self._db.run("stream_log_lines", log_ranges=batch)
        ]

    async def stream_events(self, *, most: int) -> list[EventStatus]:
        """The newest events of all tenants, newest first."""
        return [
            EventStatus(
                rows.uuid(row["id"]),
                row["tenant_id"],
                row["name"],
                rows.instant(row["created_at"]),
                rows.optional_instant(row["matched_at"]),
                row["jobs"],
            )
            for row in await self._db.run("stream_events", most=most)
        ]

    async def stream_triggers(self, *, most: int) -> list[TriggerStatus]:
        """Triggers of all tenants, the most recently active first."""
        return [_trigger(row) for row in await self._db.run("stream_triggers", most=most)]


def _glance(row: Mapping[str, Any]) -> JobSnapshot:
    return JobSnapshot(
        id=JobId(rows.uuid(row["id"])),
        tenant=row["tenant_id"],
        state=JobState(row["state"]),
        outcome=row["outcome"],
        attempts=row["attempts"],
        due_at=rows.instant(row["due_at"]),
        progress=row["progress"],
        progress_note=row["progress_note"],
        log_sequence=row["log_sequence"],
        cancel_requested_at=rows.optional_instant(row["cancel_requested_at"]),
        finished_at=rows.optional_instant(row["finished_at"]),
        updated_at=rows.instant(row["updated_at"]),
    )


def _trigger(row: Mapping[str, Any]) -> TriggerStatus:
    return TriggerStatus(
        id=rows.uuid(row["id"]),
        tenant=row["tenant_id"],
        name=row["name"],
        type=row["type"],
        definition=row["definition"],
        enabled=bool(row["enabled"]),
        next_run_at=rows.optional_instant(row["next_run_at"]),
        last_run_at=rows.optional_instant(row["last_run_at"]),
        last_job_id=rows.uuid(row["last_job_id"]) if row["last_job_id"] else None,
        last_error=row["last_error"],
        updated_at=rows.instant(row["updated_at"]),
    )
