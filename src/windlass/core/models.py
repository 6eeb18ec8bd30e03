"""What Windlass speaks of: jobs, attempts, leases, definitions, tenants, workers.

Plain frozen values; those that every job passes through are tuples, which are made several times
faster. Instants are aware UTC; payload, result and metadata are JSON values.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Literal, NamedTuple

from windlass.core.states import ENDED, JobState, Outcome, View
from windlass.ids import (
    DefinitionKey,
    EventId,
    JobId,
    QueueName,
    TenantId,
    TriggerId,
    WorkerId,
)

DEFAULT_TENANT = TenantId("default")
SYSTEM_TENANT = TenantId("system")
DEFAULT_QUEUE = QueueName("default")
SYSTEM_QUEUE = QueueName("system")
#: How the keys of Windlass's own definitions begin.
SYSTEM_KEYS = "system."

#: Days of retention that mean: keep for ever.
FOREVER = -1.0

ParentFailure = Literal["cancel", "run", "wait"]
Source = Literal["manual", "event", "schedule", "system"]
Level = Literal["debug", "info", "warn", "error"]
Origin = Literal["code", "operator"]
#: What meeting an equal job means: name it, raise, or give it what the new one has.
OnDuplicate = Literal["existing", "error", "replace"]


@dataclass(frozen=True, slots=True)
class Scope:
    """Whose data a call may touch: one tenant, or (spelled out) all of them."""

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
    #: The gate it stands behind, if not where its definition's ordinary jobs do: see core/gates.py.
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
    """What enqueue answers: a job was created, an equal one exists, or a limit refused it.

    `job_id` is the job met when `existing`. `because` names the key or the limit.
    """

    status: ReceiptStatus
    job_id: JobId
    because: str | None = None

    @property
    def created(self) -> bool:
        return self.status is ReceiptStatus.CREATED


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
    error_trace: str | None = None
    reason: str | None = None
    #: The cause of its failure, equal for equal causes; only of a dead-lettered job.
    fingerprint: str | None = None
    gate: str = ""

    @property
    def ended(self) -> bool:
        return self.state in ENDED

    @property
    def attempts_left(self) -> int:
        return max(0, self.max_attempts - self.attempts)

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


class Place(NamedTuple):
    """Where a job stands in its line."""

    priority: int
    due_at: datetime
    id: JobId


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One of the lines a claim may draw from: the jobs of one tenant in one queue behind one
    gate. The gate is empty for ordinary definitions; those with a limit, or not open to all
    workers, have a gate of their own so that nobody stands behind them."""

    queue: QueueName
    tenant: TenantId
    gate: str
    weight: int = 1
    limits: tuple[str, ...] = ()
    #: Where its first job stands that the asker may take, if the database tells.
    first: Place | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """What a worker sees before it claims: lines with jobs in them, and when more come due."""

    lines: Sequence[Line]
    next_due_in: timedelta | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Quota:
    """How many jobs a claim may take from a line, and from its tenant's lines together.

    Jobs before the place to `begin` at may be left out, unless their priority is higher.
    """

    line: Line
    line_limit: int
    tenant_limit: int
    begin: Place | None = None


class Held(NamedTuple):
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
    def held(self) -> Held:
        return Held(self.job_id, self.token)

    @property
    def attempts_left(self) -> int:
        return max(0, self.max_attempts - self.attempts)


@dataclass(frozen=True, slots=True)
class Renewal:
    """A lease that was extended, and whether its job is asked to stop."""

    job_id: JobId
    token: int
    cancel_requested: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Leased:
    """What an end is judged by: of a job that is leased right now."""

    definition: DefinitionKey
    attempts: int
    max_attempts: int
    cancel_requested: bool


class Finish(NamedTuple):
    """The recorded end of an attempt and where its job goes.

    `state` queued means another try after `delay`. An end asked for meanwhile wins over every
    state but completed. `keep=False` deletes the job, at the latest when it is next pruned,
    instead of keeping it among the ended ones; dead-lettered jobs are always kept.
    `perhaps_ended`: the handler's own transaction may have recorded the end already.
    `permanent`: what happened ruled out another try, however many were left.
    """

    job_id: JobId
    token: int
    outcome: Outcome
    state: JobState
    delay: timedelta = timedelta()
    result: str | None = None
    warnings: str | None = None
    error: str | None = None
    error_type: str | None = None
    error_trace: str | None = None
    progress: float | None = None
    pid: int | None = None
    exit_code: int | None = None
    stdout_tail: str | None = None
    stderr_tail: str | None = None
    fingerprint: str | None = None
    keep: bool = True
    perhaps_ended: bool = False
    permanent: bool = False

    @property
    def held(self) -> Held:
        return Held(self.job_id, self.token)


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    job_id: JobId
    token: int
    fraction: float
    note: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LogLine:
    """One line of a job's log. `sequence` rises over the whole job; storage numbers new lines."""

    job_id: JobId
    attempt: int
    level: Level
    message: str
    at: datetime
    fields: Mapping[str, Any] = field(default_factory=dict)
    sequence: int = 0
    tenant: TenantId = DEFAULT_TENANT
    definition: DefinitionKey = DefinitionKey("")


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """A kind of work that may run, as its row stands. `None` limits and retention mean unset."""

    key: DefinitionKey
    title: str
    description: str = ""
    kind: Literal["code", "path", "command"] = "code"
    queue: QueueName = DEFAULT_QUEUE
    priority: int = 100
    max_attempts: int = 3
    backoff: str | None = None
    timeout_seconds: float | None = None
    isolation: Literal["thread", "process"] = "thread"
    max_concurrency: int | None = None
    payload_schema: str = "{}"
    default_payload: str = "{}"
    tags: Sequence[str] = ()
    enabled: bool = True
    system: bool = False
    idempotent: bool = False
    requires_permission: str | None = None
    dedupe: str | None = None
    dedupe_window_seconds: float | None = None
    on_duplicate: OnDuplicate = "existing"
    on_parent_failure: ParentFailure = "cancel"
    retention_days: float | None = None
    log_retention_days: float | None = None
    retention_count: int | None = None
    #: Where the code is (`module:name`), the dotted path to call, or the words of a command.
    handler: str = ""
    #: The field of the payload whose values are limited one by one, such as `args.account_id`.
    limit_key: str | None = None
    max_per_key: int | None = None
    #: No more attempts than `rate_count` begin in any `rate_seconds`; the same for each key.
    rate_count: int | None = None
    rate_seconds: float | None = None
    key_rate_count: int | None = None
    key_rate_seconds: float | None = None
    #: Keys of definitions whose open jobs a new job waits for.
    runs_after: Sequence[str] = ()
    #: The definition that gets a job when one of this definition is dead-lettered.
    on_dead_letter: str | None = None
    memory_limit_mb: int | None = None
    #: Of the payload's shape; payloads of older versions are brought up to it before they run.
    version: int = 1
    metadata: Mapping[str, Any] = field(default_factory=dict)
    origin: Origin = "code"
    #: What an operator changed of what the code says, and what the code says.
    edited: tuple[str, ...] = ()
    code: Mapping[str, Any] | None = None
    missing_from_code: bool = False
    code_hash: str = ""
    gate: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tenant:
    """The owner of jobs. `weight` is its share of workers, `max_running` its cap, `max_open` how many
    of its jobs may be open before more are rejected. Its schedules are in its `timezone`."""

    id: TenantId
    name: str
    state: Literal["active", "suspended", "deleted"] = "active"
    weight: int = 1
    max_running: int | None = None
    max_open: int | None = None
    timezone: str = "UTC"


@dataclass(frozen=True, slots=True, kw_only=True)
class Queue:
    """What was said about a queue: whether it is paused, by whom and why, and its limit."""

    name: QueueName
    paused_at: datetime | None = None
    paused_by: str | None = None
    pause_reason: str | None = None
    max_concurrency: int | None = None


TriggerType = Literal["cron", "interval", "once", "init", "event"]
Misfire = Literal["fire_once", "skip", "all"]
Overlap = Literal["allow", "skip", "queue_one"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Trigger:
    """A rule that makes jobs of a definition: at certain times, or when an event comes.

    `payload` is a template. Declared in code (`origin`), it follows the code but for the fields an
    operator `edited`; `code` has what the code says.
    """

    id: TriggerId
    tenant: TenantId
    name: str
    type: TriggerType
    definition: DefinitionKey
    payload: Any = field(default_factory=dict)
    enabled: bool = True
    cron: str | None = None
    interval_seconds: float | None = None
    at: datetime | None = None
    timezone: str = "UTC"
    misfire: Misfire = "fire_once"
    overlap: Overlap = "allow"
    run_once: bool = False
    event_name: str | None = None
    condition: Mapping[str, Any] | None = None
    delay_seconds: float | None = None
    dedupe_window_seconds: float | None = None
    max_attempts: int | None = None
    origin: Origin = "operator"
    edited: tuple[str, ...] = ()
    code: Mapping[str, Any] | None = None
    code_hash: str = ""
    missing_from_code: bool = False
    next_run_at: datetime | None = None
    last_run_at: datetime | None = None
    last_job_id: JobId | None = None
    last_error: str | None = None
    last_error_at: datetime | None = None
    created_by: str | None = None
    created_at: datetime | None = None
    updated_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something an application says has happened; its tenant's triggers turn it into jobs."""

    id: EventId
    tenant: TenantId
    name: str
    data: Any
    correlation_id: str | None = None
    created_by: str | None = None
    depth: int = 0
    created_at: datetime | None = None
    matched_at: datetime | None = None
    jobs: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerRow:
    """What a worker tells of itself; it informs people and never decides ownership."""

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


@dataclass(frozen=True, slots=True)
class Page:
    """Some of a list, newest first, and the id to go on after (None at the end).

    A page may have fewer jobs than were asked for, even none, before the end: where no index has what
    is meant, only so many jobs are looked through for it at a time.
    """

    jobs: Sequence[Job]
    next: JobId | None
