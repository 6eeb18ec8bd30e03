"""Response models, for the reference: generated from the models themselves, so that they cannot differ."""

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
    """A field may be added to an answer; none changes its meaning."""

    model_config = ConfigDict(extra="allow", defer_build=True)


def _shape(name: str, model: type, *, without: Sequence[str] = (), **more: Any) -> type[BaseModel]:
    """The shape of a model as `core/wire.py` shows it."""
    hints = typing.get_type_hints(model)
    names = [field.name for field in fields(model)] if is_dataclass(model) else list(hints)
    shown: dict[str, Any] = {
        ("tenant_id" if each == "tenant" else each): (_json(hints[each]), ...)
        for each in names
        if each not in without
    }
    shown |= {each: (type, ...) for each, type in more.items()}
    return create_model(name, __base__=_ResponseModel, __doc__=model.__doc__, **shown)


def _types(model: type) -> dict[str, Any]:
    """The types of a model's fields in JSON."""
    hints = typing.get_type_hints(model)
    return {field.name: _json(hints[field.name]) for field in fields(model)}


def _json(type: Any) -> Any:
    """The JSON type of a type."""
    origin, inner = typing.get_origin(type), typing.get_args(type)
    if origin in (typing.Union, types.UnionType):
        return typing.Union[tuple(_json(each) for each in inner)]  # noqa: UP007  made at run time
    if origin is Literal:
        return type
    if origin in (Sequence, tuple, frozenset):
        return list[_json(inner[0])] if inner else list[Any]  # type: ignore[misc]  # made at run time
    if origin is Mapping:
        return dict[str, Any]
    base = getattr(type, "__supertype__", type)
    if base is timedelta:
        return float
    if base is Any or base in (str, int, float, bool, UUID, datetime, types.NoneType):
        return base
    return str if inspect.isclass(base) and issubclass(base, Enum) else Any


_STATE = Literal["pending", "queued", "running", "completed", "canceled", "dead_letter"]
_VIEW = typing.Union[_STATE, Literal[tuple(View)]]  # type: ignore[valid-type]  # noqa: UP007

Job = _shape("Job", models.Job, without=INTERNAL_FIELDS, view=_VIEW, payload_version=int)
JobEntry = _shape(
    "JobEntry",
    models.Job,
    without=(*INTERNAL_FIELDS, *LIST_LEAVES_OUT),
    view=_VIEW,
    payload_version=int,
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
TriggerAnswer = _shape(
    "TriggerAnswer", trigger.Trigger, without=("unreadable",), warnings=list[str]
)


class Match(_ResponseModel):
    """What a trigger did with an event, and why it created no job; without a trigger, what a
    definition's `on_dead_letter` did."""

    trigger_id: UUID | None
    trigger: str | None
    definition: str
    outcome: MatchOutcome
    job_id: UUID | None
    because: str | None


Event = _shape("Event", trigger.Event, without=("matches",), matches=list[Match])
Queue = _shape("Queue", QueueCounts)
Tenant = _shape("Tenant", tenant.Tenant)
Worker = _shape(
    "Worker",
    models.WorkerRow,
    without=("age",),
    age_seconds=float | None,
    liveness=Literal["live", "stale", "lost"],
    stale=bool,
)
Group = _shape("Group", DeadGroup)
Mute = _shape("Mute", _Mute)
Operation = _shape("Operation", operations.Operation, without=("token",), left=int)
User = _shape("User", accounts.User)
Token = _shape("Token", accounts.Token)
Session = _shape("Session", accounts.LoginSession)
Member = _shape("Member", accounts.Member)


class TokenWithSecret(Token):  # type: ignore[misc,valid-type]  # made at run time
    """A token that was just made, with its secret, which is shown this once."""

    secret: str


class SignedIn(_ResponseModel):
    """Who signed in. The session is in the cookie that comes with it."""

    name: str


class Receipt(_ResponseModel):
    """What enqueue answers: a job was created, an equal one exists, or a limit refused it."""

    status: Literal["created", "existing", "rejected", "valid"]
    job_id: UUID | None
    because: str | None


class Receipts(_ResponseModel):
    """What became of each job of a batch, in its order."""

    items: list[Receipt]


class Enqueued(_ResponseModel):
    receipt: Receipt
    job: Job | None  # type: ignore[valid-type]  # made at run time


class RevealedJob(_ResponseModel):
    """A job's payload and result as they were given, secrets included."""

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
    """How many of a group were changed and how many were not; whether there are more."""

    changed: int
    skipped: int
    more: bool


class SkipCount(_ResponseModel):
    """How many jobs would be left alone, and why."""

    reason: str
    count: int


class Preview(_ResponseModel):
    """What an operation would do: to how many jobs, and `more` if there are too many for one."""

    action: str
    total: int
    more: bool
    by_state: dict[str, int]
    skipped: list[SkipCount]
    sample: list[JobEntry]  # type: ignore[valid-type]  # made at run time


class OperationItemResponse(_ResponseModel):
    """A job of an operation, with the state it was brought to, or why it was left alone."""

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
    """The jobs of a queue by state, and for how long the oldest in line is due."""

    name: str
    oldest_queued_seconds: float | None


class ViewCount(_ResponseModel):
    """How many there are; at least so many where not all were looked at."""

    count: int
    exact: bool


class SummaryResponse(_States):
    """How many jobs there are in each state, and in each view. The view `queued` are those in line:
    neither `scheduled` nor `retrying`."""

    views: dict[str, ViewCount]
    oldest_queued_seconds: float | None
    queues: list[QueueStateCounts]
    at: datetime


class StatsPointResponse(_ResponseModel):
    """What happened in a slot of time that began `at`."""

    at: datetime
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


class FailingDefinitionResponse(_ResponseModel):
    definition: str
    failed: int
    dead_letter: int
    succeeded: int


class StatsResponse(_ResponseModel):
    """What happened in a window of time: slot by slot, together, and what failed most. All but one in
    twenty jobs waited and ran for no longer than `p95_…_seconds`."""

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
    """A tenant's jobs by state, and what happened to them in a window of time."""

    tenant_id: str
    total: StatsPointResponse


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
    """A coming due time; `note` tells what the clocks do to it."""

    at: datetime
    local: str
    note: str


class SchedulePreviewResponse(_ResponseModel):
    """What a schedule will do: in words, its next runs, and what may surprise."""

    words: str
    timezone: str
    runs: list[ScheduledRunResponse]
    warnings: list[str]


class TriggerTestResult(_ResponseModel):
    """What a trigger would do."""

    matches: bool
    because: str
    payload: Any
    error: str | None


class OneTimeLinkResponse(_ResponseModel):
    """A link that works once; its secret is shown this once."""

    purpose: Literal["login", "password", "invitation"]
    secret: str
    path: str
    expires_seconds: int


class PendingInvitation(_ResponseModel):
    """A pending member, and the link to send to them. By it they accept the role."""

    member: Member  # type: ignore[valid-type]  # made at run time
    link: OneTimeLinkResponse


class AcceptedRole(_ResponseModel):
    """The role that was accepted; without a tenant it is in the whole installation."""

    name: str
    tenant_id: str | None
    role: str


class MembershipResponse(_ResponseModel):
    """What somebody is and may do in a tenant; without a tenant, in the installation."""

    tenant_id: str | None
    role: str
    permissions: list[str]
    rights: list[str]


class CallerIdentity(_ResponseModel):
    """Who asks. `rights` are those in `tenant_id`, or in all tenants; null means every one."""

    name: str
    kind: Literal["session", "token", "none"]
    id: UUID | None
    tenant_id: str | None
    rights: list[str] | None
    memberships: list[MembershipResponse]


class TenantDeletion(_ResponseModel):
    """How many open jobs ended. After a purge also how many rows of each kind were removed, how
    many jobs still run, and whether another purge is needed to remove the rest."""

    closed: int
    rows: dict[str, int] | None = None
    open: int | None = None
    more: bool | None = None


class HealthStatus(_ResponseModel):
    status: Literal["ok"]


AuditEntry = _shape("AuditEntry", audit.AuditEntry)


class AuditEntries(_ResponseModel):
    """Entries of one chain, and the number to go on before; null at the end."""

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
    """Leases that were taken, and in how many seconds another job becomes due; null means none."""

    leases: list[ClaimedLease]  # type: ignore[valid-type]  # made at run time
    next_due_seconds: float | None


class StopRequest(_ResponseModel):
    """Whether a run has to stop: because its job is canceled, or its lease lost."""

    stop: Literal["canceled", "lost"] | None


class HeldLease(StopRequest):
    """A lease, and whether its run has to stop."""

    job_id: UUID
    token: int


class RenewedLeases(_ResponseModel):
    leases: list[HeldLease]


class LeaseResult(_ResponseModel):
    """Where a job went after a run; null where its lease was lost, and nothing was changed."""

    job_id: UUID
    token: int
    state: _STATE | None


class LeaseResults(_ResponseModel):
    ends: list[LeaseResult]


class WorkerOrderResponse(_ResponseModel):
    """What operators want of a worker, and which of its definitions are not known here."""

    wanted: Literal["run", "drain", "stop"]
    unknown_definitions: list[str]


class Problem(_ResponseModel):
    """What happened, why, what to do, and a code that never changes."""

    type: str
    title: str
    status: int
    code: str
    detail: str
    hint: str
    errors: list[dict[str, str]]
    request_id: str


def listed(item: Any) -> type[BaseModel]:
    """All of a list."""
    return create_model(f"{item.__name__}s", __base__=_ResponseModel, items=(list[item], ...))


def paged(item: Any) -> type[BaseModel]:
    """Some of a list, and where it goes on."""
    about = Field(description="Pass it as `cursor` to go on; null at the end.")
    return create_model(
        f"{item.__name__}Page",
        __base__=_ResponseModel,
        items=(list[item], ...),
        next_cursor=(str | None, about),
    )


class AuditHeadResponse(_ResponseModel):
    """Where an audit chain ends; without a tenant, the installation's."""

    tenant_id: str | None
    sequence: int
    hash: str
    signature: str | None


class AuditHeads(_ResponseModel):
    items: list[AuditHeadResponse]


class AuditBreak(_ResponseModel):
    """The first entry that shows that a chain is not what was written."""

    sequence: int
    problem: str


class AuditChain(_ResponseModel):
    """What was found of one audit chain; without a tenant, the installation's."""

    tenant_id: str | None
    entries: int
    whole: bool
    head: Literal["valid", "missing", "invalid", "unknown_key", "unchecked", "unsigned"]
    broken: AuditBreak | None


class AuditReport(_ResponseModel):
    """What was found of all chains that the caller may see. `problem` is about the list of chains."""

    whole: bool
    signed: bool
    entries: int
    problem: str | None
    chains: list[AuditChain]
