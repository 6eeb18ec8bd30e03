"""Values that every layer shares: jobs, receipts, attempts, transitions, log lines, workers.

Plain frozen values; those that every job passes through are tuples, which are made several times
faster. Instants are aware UTC; payload, result and metadata are JSON values.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Literal, NamedTuple

from windlass.core.jobs.states import ENDED, JobState, Outcome, View
from windlass.core.leases.worker_orders import WorkerOrder
from windlass.ids import DefinitionKey, JobId, QueueName, TenantId, TriggerId, WorkerId

DEFAULT_TENANT = TenantId("default")
SYSTEM_TENANT = TenantId("system")
DEFAULT_QUEUE = QueueName("default")
SYSTEM_QUEUE = QueueName("system")
#: How the keys of Windlass's own definitions begin.
SYSTEM_KEYS = "system."

ParentFailure = Literal["cancel", "run", "wait"]
Source = Literal["manual", "event", "schedule", "system"]
LogLevel = Literal["debug", "info", "warn", "error"]
#: Whether trying again may help. Of the last failure, of an attempt its own.
ErrorClass = Literal["transient", "permanent"]
Origin = Literal["code", "operator"]
#: What meeting an equal job means: name it, raise, or give it what the new one has.
OnDuplicate = Literal["existing", "error", "replace"]


@dataclass(frozen=True, slots=True)
class Scope:
    """Scope of a call: the data of one tenant, or (spelled out) of all of them."""

    tenant: TenantId | None

    @classmethod
    def of(cls, tenant: str) -> "Scope":
        return cls(TenantId(tenant))


ALL_TENANTS = Scope(None)


class NewJob(NamedTuple):
    """A job to be stored; what enqueue hands to storage. Everything is already checked.

    `due_at` wins over `delay`; with neither the job is due at once. Both are turned into an
    instant by the database's clock. `payload` is JSON text.
    """

    id: JobId
    definition: DefinitionKey
    payload: str
    tenant: TenantId = DEFAULT_TENANT
    queue: QueueName = DEFAULT_QUEUE
    priority: int = 100
    due_at: datetime | None = None
    delay: timedelta | None = None
    expires: timedelta | None = None
    max_attempts: int = 3
    timeout_seconds: float | None = None
    dedupe_key: str | None = None
    dedupe_window: timedelta | None = None
    idempotency_key: str | None = None
    after: tuple[JobId, ...] = ()
    on_parent_failure: ParentFailure = "cancel"
    held: bool = False
    correlation_id: str | None = None
    source: Source = "manual"
    source_ref: str | None = None
    trigger_id: TriggerId | None = None
    trigger_due_at: datetime | None = None
    created_by: str | None = None
    metadata: str | None = None
    #: The gate it stands behind, if not where its definition's ordinary jobs do: see core/leases/gates.py.
    gate: str | None = None
    #: How long a job that is replaced again and again may be put off, from when it was first made.
    max_wait: timedelta | None = None
    #: Definitions whose open jobs it waits for; who stores it adds those to `after`.
    runs_after: tuple[str, ...] = ()


class ReceiptStatus(StrEnum):
    CREATED = "created"
    EXISTING = "existing"
    REJECTED = "rejected"


class Receipt(NamedTuple):
    """Result of an enqueue: a job was created, an equal one exists, or a limit refused it.

    `job_id` is the job met when `existing`. `because` names the key or the limit.
    """

    status: ReceiptStatus
    job_id: JobId
    because: str | None = None

    @property
    def created(self) -> bool:
        return self.status is ReceiptStatus.CREATED

    @property
    def rejected(self) -> bool:
        return self.status is ReceiptStatus.REJECTED


class NotLoaded:
    """Stands in a job of a list for what lists do not read: its payload and its result."""

    def __repr__(self) -> str:
        return "not loaded"

    def __bool__(self) -> bool:
        return False

    def __getitem__(self, key: object) -> Any:
        raise LookupError(
            "it is not loaded: a list leaves it out, and `refresh()` reads the whole job"
        )


NOT_LOADED = NotLoaded()


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One request to run a definition with a payload, as it stands now."""

    id: JobId
    tenant: TenantId
    definition: DefinitionKey
    queue: QueueName
    state: JobState
    priority: int
    due_at: datetime
    attempts: int
    max_attempts: int
    created_at: datetime
    updated_at: datetime
    queued_at: datetime | None = None
    started_at: datetime | None = None
    last_started_at: datetime | None = None
    finished_at: datetime | None = None
    expires_at: datetime | None = None
    payload: Any = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    source: Source = "manual"
    source_ref: str | None = None
    correlation_id: str | None = None
    created_by: str | None = None
    trigger_id: TriggerId | None = None
    trigger_due_at: datetime | None = None
    dedupe_key: str | None = None
    idempotency_key: str | None = None
    on_parent_failure: ParentFailure = "cancel"
    waits: int = 0
    held: bool = False
    timeout_seconds: float | None = None
    worker_id: WorkerId | None = None
    worker_deaths: int = 0
    lease_token: int = 0
    lease_expires_at: datetime | None = None
    cancel_requested_at: datetime | None = None
    cancel_requested_by: str | None = None
    progress: float = 0.0
    progress_note: str | None = None
    outcome: Outcome | None = None
    result: Any = None
    warnings: Sequence[str] = ()
    last_error: str | None = None
    error_type: str | None = None
    error_class: ErrorClass | None = None
    error_trace: str | None = None
    reason: str | None = None
    #: The cause of its failure, equal for equal causes; only of a dead-lettered job.
    fingerprint: str | None = None
    gate: str = ""
    #: The ciphertext of the values that the payload shows as `•••`: see core/payloads/encrypted_fields.py.
    sealed: str | None = field(default=None, repr=False)

    @property
    def ended(self) -> bool:
        return self.state in ENDED

    @property
    def duration(self) -> timedelta | None:
        """Run time of an ended job's last attempt; None while the job is open, or if none began."""
        if self.finished_at is None or self.last_started_at is None:
            return None
        return self.finished_at - self.last_started_at

    def view(self, now: datetime) -> JobState | View:
        """The state as people see it: `queued` may be scheduled or retrying."""
        if self.state is JobState.PENDING:
            return View.WAITING
        if self.state is JobState.QUEUED and self.outcome in RETRIED_AFTER:
            return View.RETRYING
        if self.state is JobState.QUEUED and self.due_at > now:
            return View.SCHEDULED
        return self.state


#: A queued job whose last attempt ended so is `retrying`.
RETRIED_AFTER = frozenset({Outcome.FAILED, Outcome.TIMED_OUT, Outcome.LOST})


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One try at a job. `number` is its lease token, so it only rises; `outcome` is empty while
    it runs."""

    job_id: JobId
    number: int
    worker_id: WorkerId | None
    started_at: datetime
    finished_at: datetime | None = None
    outcome: Outcome | None = None
    error: str | None = None
    error_type: str | None = None
    error_class: ErrorClass | None = None
    error_trace: str | None = None
    pid: int | None = None
    exit_code: int | None = None
    stdout_tail: str | None = None
    stderr_tail: str | None = None

    @property
    def duration(self) -> timedelta | None:
        return self.finished_at - self.started_at if self.finished_at else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Transition:
    """One step of a job's history. `from_state` is empty on creation; a step through a failed
    attempt names its outcome (`running -> failed -> queued`). No actor means the system."""

    at: datetime
    from_state: JobState | Outcome | None
    to_state: JobState | Outcome
    actor: str | None = None
    message: str | None = None
    attempt: int | None = None


class LogPlace(NamedTuple):
    """Position of a log line among all lines, in their order."""

    at: datetime
    job_id: JobId
    sequence: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LogLine:
    """One line of a job's log. `sequence` rises over the whole job; storage numbers new lines."""

    job_id: JobId
    attempt: int
    level: LogLevel
    message: str
    at: datetime
    fields: Mapping[str, Any] = field(default_factory=dict)
    sequence: int = 0
    tenant: TenantId = DEFAULT_TENANT
    definition: DefinitionKey = DefinitionKey("")

    @property
    def place(self) -> LogPlace:
        return LogPlace(self.at, self.job_id, self.sequence)


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerRow:
    """A worker's own report; it informs people and never decides ownership.

    `wanted` is the operators' order, and `doing` the one it follows by now: a worker gets an order
    with its heartbeat, and follows it once no claim of its own is under way.
    """

    id: WorkerId
    hostname: str
    pid: int
    version: str
    queues: Sequence[str]
    definitions: Sequence[str]
    slots: int
    slots_used: int = 0
    lease_seconds: float = 30.0
    started_at: datetime | None = None
    last_seen_at: datetime | None = None
    age: timedelta | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    #: Resident memory of its process, at its last heartbeat.
    memory_mb: int | None = None
    #: Version of the code it runs: two workers with the same definitions and other values differ.
    code: str | None = None
    wanted: WorkerOrder = WorkerOrder.RUN
    wanted_by: str | None = None
    wanted_at: datetime | None = None
    doing: WorkerOrder = WorkerOrder.RUN

    @property
    def claims(self) -> bool:
        """True if it claims jobs, and no order says otherwise."""
        return self.wanted is self.doing is WorkerOrder.RUN


@dataclass(frozen=True, slots=True)
class JobPage:
    """A page of jobs, newest first, and the id that the next page starts after (None at the end).

    A page may have fewer jobs than were asked for, even none, before the end: where no index has what
    is meant, only so many jobs are looked through for it at a time.
    """

    jobs: Sequence[Job]
    next: JobId | None
