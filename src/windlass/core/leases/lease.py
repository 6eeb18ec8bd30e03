"""Leases: how a worker finds jobs, holds them, and lets them go.

Those that every job passes through are tuples, which are made several times faster.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import NamedTuple

from windlass.core.jobs.models import Source
from windlass.ids import DefinitionKey, JobId, QueueName, TenantId, WorkerId

#: No worker may ask for a longer one.
LONGEST_LEASE = timedelta(hours=1)


class JobPosition(NamedTuple):
    """Position of a job in its line."""

    priority: int
    due_at: datetime
    id: JobId


@dataclass(frozen=True, slots=True, kw_only=True)
class JobLine:
    """One of the lines a claim may take from: the jobs of one tenant in one queue behind one
    gate. The gate is empty for ordinary definitions; those with a limit, or not open to all
    workers, have a gate of their own so that no other job waits behind them."""

    queue: QueueName
    tenant: TenantId
    gate: str
    weight: int = 1
    limits: tuple[str, ...] = ()
    #: Position of the first job that the worker may take, if the database reports it.
    first: JobPosition | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueSurvey:
    """Survey before a claim: lines with jobs in them, and when more come due."""

    lines: Sequence[JobLine]
    next_due_in: timedelta | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Quota:
    """Quota of a claim: how many jobs it may take from a line, and from its tenant's lines together.

    Jobs before the place to `begin` at may be left out, unless their priority is higher.
    """

    line: JobLine
    line_limit: int
    tenant_limit: int
    begin: JobPosition | None = None


class LeaseRef(NamedTuple):
    """A lease by its two numbers: enough to renew, report on and end it."""

    job_id: JobId
    token: int


class Lease(NamedTuple):
    """A worker's time-limited hold on a job, with what it needs to run it."""

    job_id: JobId
    token: int
    tenant: TenantId
    definition: DefinitionKey
    queue: QueueName
    payload: str
    priority: int
    attempts: int
    max_attempts: int
    worker_deaths: int
    created_at: datetime
    queued_at: datetime
    due_at: datetime
    started_at: datetime
    source: Source = "manual"
    source_ref: str | None = None
    correlation_id: str | None = None
    created_by: str | None = None
    trigger_due_at: datetime | None = None
    timeout_seconds: float | None = None
    metadata: str | None = None
    gate: str = ""
    worker: WorkerId | None = None

    @property
    def held(self) -> LeaseRef:
        return LeaseRef(self.job_id, self.token)


@dataclass(frozen=True, slots=True)
class RenewedLease:
    """A lease that was extended, and whether its job is asked to stop."""

    job_id: JobId
    token: int
    cancel_requested: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class LeasedJob:
    """The fields of a leased job that decide what its end means and under whom it is counted."""

    tenant: TenantId
    definition: DefinitionKey
    queue: QueueName
    attempts: int
    max_attempts: int
    #: Since the attempt began, by the database's clock.
    ran_seconds: float
    cancel_requested: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgressReport:
    job_id: JobId
    token: int
    fraction: float
    note: str | None
