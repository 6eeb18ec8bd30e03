"""Response models for the reference, generated from the core models so that they cannot differ."""

import inspect
import types
import typing
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import datetime, timedelta
from enum import Enum
from typing import Any, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, create_model

from windlass.core.access import accounts, audit, tenant
from windlass.core.definitions import definition
from windlass.core.definitions.activity import DefinitionActivity, DefinitionTimes
from windlass.core.jobs import models, operations
from windlass.core.jobs.dead import DeadGroup
from windlass.core.jobs.dead import Mute as _Mute
from windlass.core.jobs.states import View
from windlass.core.leases.lease import Lease
from windlass.core.triggers import trigger
from windlass.core.triggers.trigger import MatchOutcome
from windlass.core.wire import INTERNAL_FIELDS, LIST_LEAVES_OUT
from windlass.engine.leases.queues import QueueCounts


class _ResponseModel(BaseModel):
    """Later versions may add fields; no field changes its meaning."""

    model_config = ConfigDict(extra="allow", defer_build=True)


def _shape(name: str, model: type, *, without: Sequence[str] = (), **more: Any) -> type[BaseModel]:
    """The response model of a core model, as `core/wire.py` renders it."""
    hints = typing.get_type_hints(model)
    names = [field.name for field in fields(model)] if is_dataclass(model) else list(hints)
    types: dict[str, Any] = {
        ("tenant_id" if each == "tenant" else each): (_json(hints[each]), ...)
        for each in names
        if each not in without
    }
    types |= {each: (type, ...) for each, type in more.items()}
    return create_model(name, __base__=_ResponseModel, __doc__=model.__doc__, **types)


def _types(model: type) -> dict[str, Any]:
    """The types of a model's fields in JSON."""
    hints = typing.get_type_hints(model)
    return {field.name: _json(hints[field.name]) for field in fields(model)}


def _json(type: Any) -> Any:
    """The JSON type of a Python type."""
    origin, inner = typing.get_origin(type), typing.get_args(type)
    if origin in (typing.Union, types.UnionType):
        return typing.Union[tuple(_json(each) for each in inner)]  # noqa: UP007  made at run time
    if origin is Literal:
        return type
    if origin in (Sequence, tuple, frozenset):
        return list[_json(inner[0])] if inner else list[Any]  # type: ignore[misc]  # made at run time
    if origin is Mapping:
        return dict[str, _json(inner[1])]  # type: ignore[misc]  # made at run time
    base = getattr(type, "__supertype__", type)
    if base is timedelta:
        return float
    if base is Any or base in (str, int, float, bool, UUID, datetime, types.NoneType):
        return base
    if inspect.isclass(base) and issubclass(base, Enum):
        return Literal[tuple(str(each) for each in base)]  # made at run time
    return Any


_STATE = Literal["pending", "queued", "running", "completed", "canceled", "dead_letter"]
_VIEW = typing.Union[_STATE, Literal[tuple(View)]]  # type: ignore[valid-type]  # noqa: UP007

_JOB: dict[str, Any] = {"view": _VIEW, "duration_ms": int | None, "payload_version": int}
Job = _shape("Job", models.Job, without=INTERNAL_FIELDS, **_JOB)
JobEntry = _shape(
    "JobEntry",
    models.Job,
    without=(*INTERNAL_FIELDS, *LIST_LEAVES_OUT),
    **_JOB,
)
Attempt = _shape("Attempt", models.Attempt, duration_ms=int | None)
Transition = _shape("Transition", models.Transition)
LogLine = _shape("LogLine", models.LogLine)
_DEFINITION: dict[str, Any] = {
    "payload_schema": dict[str, Any],
    "default_payload": dict[str, Any],
    "backoff": dict[str, Any] | None,
    "rate_limit": str | None,
    "rate_per_key": str | None,
}
_NOT_OF_DEFINITIONS = (
    "gate", "payload_schema", "default_payload", "backoff",
    "rate_count", "rate_seconds", "key_rate_count", "key_rate_seconds",
)  # fmt: skip
DefinitionEntry = _shape(
    "DefinitionEntry",
    definition.Definition,
    without=_NOT_OF_DEFINITIONS,
    **_DEFINITION,
    **_types(DefinitionTimes),
)
Definition = _shape(
    "Definition",
    definition.Definition,
    without=_NOT_OF_DEFINITIONS,
    **_DEFINITION,
    **_types(DefinitionActivity),
)
Trigger = _shape("Trigger", trigger.Trigger, without=("unreadable",))


class DatabaseResponse(_ResponseModel):
    kind: Literal["sqlite", "postgresql", "mysql"]
    version: str


class RetentionResponse(_ResponseModel):
    """How long ended jobs and logs are kept; null means for ever, or any number."""

    days: float | None
    log_days: float | None
    count: int | None


class RedactionResponse(_ResponseModel):
    """Parts of names whose values are hidden, and the number of patterns that hide texts."""

    names: list[str]
    patterns: int


class ReceiverResponse(_ResponseModel):
    """A receiver of alerts, masked."""

    kind: Literal["mail", "webhook"]
    to: str


class InstallationSettings(_ResponseModel):
    """What people may know about an installation. The last four are null for callers bound to a
    tenant."""

    environment: str
    version: str
    development: bool
    authentication: bool
    single_tenant: bool
    database: DatabaseResponse | None
    retention: RetentionResponse | None
    redaction: RedactionResponse | None
    notifications: list[ReceiverResponse] | None


class ImportErrorResponse(_ResponseModel):
    """Why saved code could not be imported; the code before it keeps running, if there was any."""

    message: str
    traceback: str


class DevelopmentState(_ResponseModel):
    error: ImportErrorResponse | None


class NotificationTest(_ResponseModel):
    """The result of a test message to a receiver."""

    receiver: str
    sent: bool
    error: str | None


class LogVolumePointResponse(_ResponseModel):
    """Numbers of log lines by level in a time slot that began `at`."""

    at: datetime
    debug: int
    info: int
    warn: int
    error: int


class LogVolumeResponse(_ResponseModel):
    """Numbers of log lines over time; if not `exact`, of the newest lines only."""

    since: datetime
    until: datetime
    slot_seconds: int
    total: int
    exact: bool
    points: list[LogVolumePointResponse]


class FiringOutcomeResponse(_ResponseModel):
    """A job that a schedule made for a due time, and its state."""

    job_id: UUID
    state: _STATE
    due_at: datetime


ScheduleEntry = _shape(
    "ScheduleEntry",
    trigger.Trigger,
    without=("unreadable",),
    last_outcomes=list[FiringOutcomeResponse],
)
TriggerAnswer = _shape(
    "TriggerAnswer", trigger.Trigger, without=("unreadable",), warnings=list[str]
)


class Match(_ResponseModel):
    """The result of a trigger for an event, and why it created no job; without a trigger, the
    result of a definition's `on_dead_letter`."""

    trigger_id: UUID | None
    trigger: str | None
    definition: str
    outcome: MatchOutcome
    job_id: UUID | None
    because: str | None


Event = _shape("Event", trigger.Event, without=("matches",), matches=list[Match])
Queue = _shape("Queue", QueueCounts)
Tenant = _shape("Tenant", tenant.Tenant)


class RunningJobResponse(_ResponseModel):
    """A job that a worker runs now, with the number of its attempt."""

    id: UUID
    tenant_id: str
    definition: str
    attempt: int
    started_at: datetime
    elapsed_seconds: float
    progress: float
    progress_note: str | None


Worker = _shape(
    "Worker",
    models.WorkerRow,
    without=("age",),
    age_seconds=float | None,
    liveness=Literal["live", "stale", "lost"],
    stale=bool,
    jobs=list[RunningJobResponse],
)
Group = _shape("Group", DeadGroup, without=("worker_id",))
Mute = _shape("Mute", _Mute)
Operation = _shape("Operation", operations.Operation, without=("token",), left=int)
User = _shape("User", accounts.User)
Token = _shape("Token", accounts.Token)
Session = _shape("Session", accounts.LoginSession)
Member = _shape("Member", accounts.Member)


class TokenWithSecret(Token):  # type: ignore[misc,valid-type]  # made at run time
    """A new token with its secret, which is shown only once."""

    secret: str


class SignedIn(_ResponseModel):
    """The user that signed in. The session is in the response's cookie."""

    name: str


class SetupStatus(_ResponseModel):
    """`needed` until an administrator has signed in."""

    needed: bool


class Receipt(_ResponseModel):
    """Result of enqueue: a job was created, an equal one exists, or a limit refused it."""

    status: Literal["created", "existing", "rejected", "valid"]
    job_id: UUID | None
    because: str | None


class Receipts(_ResponseModel):
    """A receipt for each job of a batch, in its order."""

    items: list[Receipt]


class Enqueued(_ResponseModel):
    receipt: Receipt
    job: Job | None  # type: ignore[valid-type]  # made at run time


class RevealedJob(_ResponseModel):
    """A job's original payload and result, secrets included."""

    id: UUID
    definition: str
    tenant_id: str
    payload: Any
    result: Any


class ExplanationResponse(_ResponseModel):
    """Why a job is not running."""

    code: str
    sentence: str
    hint: str


class GroupChangeResponse(_ResponseModel):
    """Numbers of changed and unchanged jobs of a group; `more` if some remain."""

    changed: int
    skipped: int
    more: bool


class SkipCount(_ResponseModel):
    """Number of jobs that would be skipped, and the reason."""

    reason: str
    count: int


class Preview(_ResponseModel):
    """Effect of an operation: the number of jobs, and `more` if there are too many for one."""

    action: str
    total: int
    more: bool
    by_state: dict[str, int]
    skipped: list[SkipCount]
    sample: list[JobEntry]  # type: ignore[valid-type]  # made at run time


class OperationItemResponse(_ResponseModel):
    """A job of an operation, with its new state, or why it was not changed."""

    place: int
    job_id: UUID
    state: operations.ItemState
    note: str | None


class _States(_ResponseModel):
    pending: int
    queued: int
    running: int
    completed: int
    canceled: int
    dead_letter: int


class QueueStateCounts(_States):
    """The jobs of a queue by state, and how long the oldest queued one has been due."""

    name: str
    oldest_queued_seconds: float | None


class ViewCount(_ResponseModel):
    """A count; a lower bound if not all jobs were read."""

    count: int
    exact: bool


class SummaryResponse(_States):
    """Numbers of jobs by state and by view. The view `queued` excludes `scheduled` and
    `retrying`."""

    views: dict[str, ViewCount]
    oldest_queued_seconds: float | None
    queues: list[QueueStateCounts]
    at: datetime


class FilterSuggestion(_ResponseModel):
    """A way to go on with a filter. `insert` is the whole filter with it, with a space at its end if
    the term is complete; `count` is null where jobs are not counted."""

    insert: str
    label: str
    kind: Literal["field", "value"]
    means: str
    count: int | None
    exact: bool


class _Statistics(_ResponseModel):
    enqueued: int
    started: int
    succeeded: int
    failed: int
    completed: int
    canceled: int
    dead_letter: int
    run_ms: int
    wait_ms: int
    mean_run_seconds: float | None
    mean_wait_seconds: float | None
    p50_wait_seconds: float | None
    p95_wait_seconds: float | None
    p99_wait_seconds: float | None
    p50_run_seconds: float | None
    p95_run_seconds: float | None


class StatsPointResponse(_Statistics):
    """Counts and latencies of a time slot that began `at`. Half of its jobs waited no longer than
    `p50_wait_seconds`, 95 % and 99 % no longer than the next two; null if none began."""

    at: datetime


class DefinitionStatsResponse(_Statistics):
    """Counts and latencies of a definition's jobs in a time window, and the share of its attempts
    that succeeded."""

    definition: str
    success_rate: float | None


class FailingDefinitionResponse(_ResponseModel):
    definition: str
    failed: int
    dead_letter: int
    succeeded: int


class StatsResponse(_ResponseModel):
    """Counts of a time window: per slot, in total, and the definitions that failed most. 95 % of
    the jobs waited and ran no longer than `p95_…_seconds`."""

    window: str
    since: datetime
    until: datetime
    slot_seconds: float
    points: list[StatsPointResponse]
    total: StatsPointResponse
    per_second: dict[str, float]
    failing: list[FailingDefinitionResponse]
    p95_wait_seconds: float | None
    p95_run_seconds: float | None


class TenantStatsResponse(_States):
    """A tenant's jobs by state, and its counts in a time window. `worker_seconds` is how long its
    attempts ran that ended in the window, `share` its part of all jobs that run now."""

    tenant_id: str
    oldest_queued_seconds: float | None
    worker_seconds: float
    weight: int
    share: float | None
    noisy: bool | None
    total: StatsPointResponse


class _WindowResponse(_ResponseModel):
    window: str
    since: datetime
    until: datetime
    slot_seconds: float


class SharePointResponse(_ResponseModel):
    """A time slot of one or more tenants: how long their attempts ran that ended in it, and the
    jobs that ran at its end."""

    at: datetime
    worker_seconds: float
    running: int


class OtherTenantsResponse(_ResponseModel):
    """What tenants took of the workers over time."""

    worker_seconds: float
    points: list[SharePointResponse]


class TenantSeriesResponse(OtherTenantsResponse):
    """What one tenant took of the workers over time."""

    tenant_id: str


class TenantSharesResponse(_WindowResponse):
    """The tenants that took most of the workers, the largest first, and the rest together."""

    tenants: list[TenantSeriesResponse]
    rest: OtherTenantsResponse


class QueuePointResponse(_ResponseModel):
    """A time slot of a queue: the jobs that waited at its end, those that came in and went out."""

    at: datetime
    depth: int
    in_per_second: float
    out_per_second: float


class QueueSeriesResponse(_ResponseModel):
    """A queue now and over time. `depth` counts the jobs that wait, pending ones included; the
    rates are of the whole window: jobs enqueued, and jobs that came to their end."""

    name: str
    pending: int
    queued: int
    running: int
    depth: int
    oldest_queued_seconds: float | None
    max_concurrency: int | None
    paused: bool
    workers: int | None
    in_per_second: float
    out_per_second: float
    points: list[QueuePointResponse]


class WorkerPointResponse(_ResponseModel):
    """A time slot of the live workers: means of what was noted once a minute."""

    at: datetime
    workers: float | None
    slots: float | None
    slots_used: float | None


class WorkerUseResponse(_WindowResponse):
    """Slots of the live workers over time."""

    points: list[WorkerPointResponse]


class Edge(_ResponseModel):
    child_id: UUID
    parent_id: UUID
    policy: str
    settled: bool
    child_state: str | None
    parent_state: str | None


class Graph(_ResponseModel):
    edges: list[Edge]


class ScheduledRunResponse(_ResponseModel):
    """A future due time; `note` describes the effect of a clock change."""

    at: datetime
    local: str
    note: str


class SchedulePreviewResponse(_ResponseModel):
    """A schedule in words, its next runs, and warnings."""

    words: str
    timezone: str
    runs: list[ScheduledRunResponse]
    warnings: list[str]


class TriggerTestResult(_ResponseModel):
    """Result of a trigger test."""

    matches: bool
    because: str
    payload: Any
    error: str | None


class OneTimeLinkResponse(_ResponseModel):
    """A one-time link; its secret is shown only once."""

    purpose: Literal["login", "password", "invitation"]
    secret: str
    path: str
    expires_seconds: int


class PendingInvitation(_ResponseModel):
    """A pending member, and the link by which they accept the role."""

    member: Member  # type: ignore[valid-type]  # made at run time
    link: OneTimeLinkResponse


class AcceptedRole(_ResponseModel):
    """The accepted role; without a tenant it applies to the whole installation."""

    name: str
    tenant_id: str | None
    role: str


class MembershipResponse(_ResponseModel):
    """Role and rights in a tenant; without a tenant, in the installation."""

    tenant_id: str | None
    role: str
    permissions: list[str]
    rights: list[str]


class CallerIdentity(_ResponseModel):
    """The caller. `rights` apply in `tenant_id`, or in all tenants; null means all rights."""

    name: str
    kind: Literal["session", "token", "none"]
    id: UUID | None
    tenant_id: str | None
    rights: list[str] | None
    memberships: list[MembershipResponse]


class TenantDeletion(_ResponseModel):
    """Number of open jobs that were closed. After a purge also the removed rows by kind, the jobs
    still running, and `more` if another purge is needed."""

    closed: int
    rows: dict[str, int] | None = None
    open: int | None = None
    more: bool | None = None


class HealthStatus(_ResponseModel):
    status: Literal["ok"]


AuditEntry = _shape("AuditEntry", audit.AuditEntry)


class AuditEntries(_ResponseModel):
    """Entries of one chain, and the number to continue before; null at the end."""

    items: list[AuditEntry]  # type: ignore[valid-type]  # made at run time
    next: int | None


ClaimedLease = _shape(
    "ClaimedLease",
    Lease,
    without=("payload", "metadata"),
    payload=Any,
    metadata=dict[str, Any],
    payload_version=int,
)


class Claimed(_ResponseModel):
    """New leases, and the seconds until another job becomes due; null if none will."""

    leases: list[ClaimedLease]  # type: ignore[valid-type]  # made at run time
    next_due_seconds: float | None


class StopRequest(_ResponseModel):
    """The reason why a run must stop: its job is canceled, or its lease is lost."""

    stop: Literal["canceled", "lost"] | None


class HeldLease(StopRequest):
    """A lease, and the reason if its run must stop."""

    job_id: UUID
    token: int


class RenewedLeases(_ResponseModel):
    leases: list[HeldLease]


class LeaseResult(_ResponseModel):
    """State of a job after a run; null if the lease was lost and nothing was changed."""

    job_id: UUID
    token: int
    state: _STATE | None


class LeaseResults(_ResponseModel):
    ends: list[LeaseResult]


class WorkerOrderResponse(_ResponseModel):
    """The operators' order to a worker, and its definitions that are unknown here."""

    wanted: Literal["run", "drain", "stop"]
    unknown_definitions: list[str]


class Problem(_ResponseModel):
    """An error: title, detail, hint, and a stable code."""

    type: str
    title: str
    status: int
    code: str
    detail: str
    hint: str
    errors: list[dict[str, str]]
    request_id: str


def listed(item: Any) -> type[BaseModel]:
    """Model of a complete list."""
    return create_model(f"{item.__name__}s", __base__=_ResponseModel, items=(list[item], ...))


def paged(item: Any) -> type[BaseModel]:
    """Model of a page of a list."""
    about = Field(description="The `cursor` of the next page; null at the end.")
    return create_model(
        f"{item.__name__}Page",
        __base__=_ResponseModel,
        items=(list[item], ...),
        next_cursor=(str | None, about),
    )


class AuditHeadResponse(_ResponseModel):
    """The end of an audit chain; without a tenant, the installation's."""

    tenant_id: str | None
    sequence: int
    hash: str
    signature: str | None


class AuditHeads(_ResponseModel):
    items: list[AuditHeadResponse]


class AuditBreak(_ResponseModel):
    """The first entry that proves a change to a chain."""

    sequence: int
    problem: str


class AuditChain(_ResponseModel):
    """Result of verifying an audit chain; without a tenant, the installation's."""

    tenant_id: str | None
    entries: int
    whole: bool
    head: Literal["valid", "missing", "invalid", "unknown_key", "unchecked", "unsigned"]
    broken: AuditBreak | None


class AuditReport(_ResponseModel):
    """Results for all chains visible to the caller. `problem` concerns the list of chains."""

    whole: bool
    signed: bool
    entries: int
    problem: str | None
    chains: list[AuditChain]
