"""Request models. Unknown fields are errors, never ignored."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints

from windlass.core.access.accounts import LinkPurpose
from windlass.core.definitions.definition import DefinitionKind, Isolation
from windlass.core.instants import ALLOWED, in_utc
from windlass.core.jobs.change import JobChange
from windlass.core.jobs.filter import MOST_CHARACTERS
from windlass.core.jobs.models import OnDuplicate, ParentFailure
from windlass.core.triggers.trigger import Misfire, Overlap, TriggerType
from windlass.engine.definitions.definitions import IfExists

Name = Annotated[str, StringConstraints(min_length=1, max_length=191)]
Text = Annotated[str, StringConstraints(max_length=2_000)]
Seconds = Annotated[float, Field(ge=0, le=10 * 365 * 86_400, allow_inf_nan=False)]
Integer = Annotated[int, Field(strict=True)]
Flag = Annotated[bool, Field(strict=True)]
Object = dict[str, Any]


def _bounded(at: datetime) -> datetime:
    if (instant := in_utc(at)) is None:
        raise ValueError(f"it is not {ALLOWED}")
    return instant


def _in_zone(at: datetime) -> datetime:
    return at if at.tzinfo else at.replace(tzinfo=UTC)


Instant = Annotated[datetime, AfterValidator(_bounded)]
#: Without an offset it is in UTC, as in a filter.
QueryInstant = Annotated[datetime, AfterValidator(_in_zone), AfterValidator(_bounded)]


class RequestModel(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    #: Field -> option of the Python API, where the names differ.
    OPTIONS: ClassVar[Mapping[str, str]] = {}

    def given_fields(self) -> dict[str, Any]:
        """The fields present in the request, also those that are null."""
        return {name: getattr(self, name) for name in self.model_fields_set}


class NewJob(RequestModel):
    """A job to enqueue."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"definition": "mail.send", "payload": {"to": "ada@example.com"}}]
        }
    )

    OPTIONS: ClassVar[Mapping[str, str]] = {
        "due_at": "at",
        "delay_seconds": "delay",
        "expires_seconds": "expires",
        "timeout_seconds": "timeout",
        "dedupe_window_seconds": "dedupe_window",
        "max_wait_seconds": "max_wait",
    }

    definition: Name
    """Key of the definition."""
    payload: Object = Field(default_factory=dict)
    """The handler's arguments by name."""
    tenant: Name | None = None
    """Owner of the job; by default the caller's tenant."""
    queue: Name | None = None
    """Queue of the job; by default the definition's."""
    priority: Integer | Literal["critical", "high", "normal", "low"] | None = None
    """Smaller numbers run first; by default the definition's."""
    due_at: Instant | None = None
    """Earliest start. Either this or `delay_seconds`."""
    delay_seconds: Seconds | None = None
    """Time from now to the earliest start."""
    expires_seconds: Seconds | None = None
    """The job is canceled if it has not started this long after its due time."""
    max_attempts: Integer | None = None
    """Largest number of attempts, the first included."""
    timeout_seconds: Seconds | None = None
    """Time limit of an attempt."""
    dedupe_key: Name | None = None
    """No second job is created while one with this key is open or within the window."""
    dedupe_window_seconds: Seconds | None = None
    """Time after its creation for which a job blocks its `dedupe_key`, even if it has ended."""
    idempotency_key: Name | None = None
    """Unique in the tenant for as long as the job is kept."""
    limit_key: Name | None = None
    """The key under which limits per key count the job."""
    on_duplicate: OnDuplicate | None = None
    """If an equal job exists: return it, fail, or replace it."""
    max_wait_seconds: Seconds | None = None
    """Longest total delay of a job that is replaced repeatedly."""
    after: list[Name] = Field(default_factory=list, max_length=1_000)
    """Ids of jobs that this one waits for."""
    on_parent_failure: ParentFailure | None = None
    """The job's reaction to a failed parent."""
    hold: Flag = False
    """Hold the job until it is run now."""
    correlation_id: Name | None = None
    """A common name for all jobs of one piece of work."""
    created_by: Name | None = None
    """On whose behalf: `user:<id>` of a member of the tenant, or a name of your own, kept as
    `for:<name>`. Needs the right `jobs.enqueue_for`."""
    metadata: Object = Field(default_factory=dict)
    """Your own data, stored with the job."""

    def options(self) -> dict[str, Any]:
        """The fields for `.options(...)`; the definition decides about omitted ones."""
        return {
            self.OPTIONS.get(name, name): value
            for name, value in self.given_fields().items()
            if name not in ("definition", "payload", "tenant") and value is not None
        }


class NewJobs(RequestModel):
    """Jobs to enqueue in one transaction."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "jobs": [
                        {"definition": "mail.send", "payload": {"to": "ada@example.com"}},
                        {"definition": "mail.send", "payload": {"to": "grace@example.com"}},
                    ]
                }
            ]
        }
    )

    jobs: list[NewJob] = Field(min_length=1, max_length=1_000)
    """The receipts have the same order."""


class Reason(RequestModel):
    """The reason for a change, recorded and shown later."""

    reason: Text | None = None


class NewPayload(RequestModel):
    """Another payload."""

    payload: Object


class JobEdit(RequestModel):
    """Changes to a waiting job; null or omitted fields stay. Metadata is replaced as a whole."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"priority": "high", "queue": "mail"}]}
    )
    OPTIONS: ClassVar[Mapping[str, str]] = {"due_at": "at", "delay_seconds": "delay"}

    priority: Integer | Literal["critical", "high", "normal", "low"] | None = None
    queue: Name | None = None
    due_at: Instant | None = None
    delay_seconds: Seconds | None = None
    metadata: Object | None = None

    def change(self) -> JobChange:
        return JobChange.of(
            priority=self.priority,
            queue=self.queue,
            at=self.due_at,
            delay=self.delay_seconds,
            metadata=self.metadata,
        )


class GroupSelection(RequestModel):
    """Dead-lettered jobs with one cause."""

    definition: Name
    fingerprint: Annotated[str, StringConstraints(max_length=64)]


class GroupMute(GroupSelection, Reason):
    """Mutes the dead-lettered jobs with one cause: for how long, and why."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "definition": "mail.send",
                    "fingerprint": "9f86d081884c7d65",
                    "for_seconds": 604_800,
                    "reason": "the relay moves",
                }
            ]
        }
    )

    OPTIONS: ClassVar[Mapping[str, str]] = {"for_seconds": "lasts"}

    for_seconds: Annotated[float, Field(gt=0, le=10 * 365 * 86_400, allow_inf_nan=False)] | None = (
        None
    )


class GroupBatch(GroupSelection):
    """Some of the dead-lettered jobs with one cause."""

    limit: Annotated[int, Field(ge=1, le=100_000)] = 1_000


class OperationRequest(RequestModel):
    """One action on all jobs that match a filter."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"action": "retry", "q": "state:dead_letter definition:mail.*"}]
        }
    )

    action: Literal["cancel", "retry", "run_now", "discard", "update"]
    q: Annotated[str, StringConstraints(max_length=MOST_CHARACTERS)]
    changes: JobEdit | None = Field(default=None, description="The changes of an `update`.")

    def change(self) -> JobChange | None:
        return None if self.changes is None else self.changes.change()


class NewOperation(OperationRequest, Reason):
    """An operation to begin, and its reason."""

    partly: Flag = Field(
        default=False,
        description="If more jobs match than an operation may change, begin with the newest.",
    )


class DefinitionEdit(RequestModel):
    """An operator's edit of a definition. Null unsets an optional value."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"max_attempts": 5, "rate_limit": "100/min"}]}
    )

    enabled: Flag | None = None
    title: Name | None = None
    description: Annotated[str, StringConstraints(max_length=10_000)] | None = None
    queue: Name | None = None
    priority: Integer | Literal["critical", "high", "normal", "low"] | None = None
    max_attempts: Integer | None = None
    backoff: Object | None = None
    timeout_seconds: Seconds | None = None
    max_concurrency: Integer | None = None
    limit_key: Name | None = Field(
        default=None,
        description="The payload field whose value limits per key count by: `args.id`.",
    )
    max_per_key: Integer | None = None
    rate_limit: Name | None = Field(default=None, description="Starts per period: `100/min`.")
    rate_per_key: Name | None = None
    dedupe: Literal["payload"] | None = None
    dedupe_window_seconds: Seconds | None = None
    on_duplicate: OnDuplicate | None = None
    isolation: Isolation | None = None
    memory_limit_mb: Integer | None = None
    idempotent: Flag | None = None
    requires_permission: Name | None = None
    on_parent_failure: ParentFailure | None = None
    on_dead_letter: Name | None = Field(
        default=None,
        description="The definition that gets a job when a job of this one is dead-lettered.",
    )
    after: list[Name] | None = Field(
        default=None, description="Definitions whose open jobs a new job waits for."
    )
    retention_days: Seconds | Literal["forever"] | None = None
    log_retention_days: Seconds | Literal["forever"] | None = None
    retention_count: Integer | None = None
    tags: list[Name] | None = None
    default_payload: Object | None = None
    metadata: Object | None = None
    runbook_url: Annotated[str, Field(max_length=2_000)] | None = Field(
        default=None, description="A page that says what to do when its jobs fail."
    )
    path: Name | None = Field(
        default=None, description="A function, under a prefix of worker.handler_paths."
    )
    command: Name | None = Field(
        default=None, description="A command of the settings, `[commands.<name>]`, by its name."
    )
    kind: DefinitionKind | None = Field(
        default=None,
        description="`remote` for a worker over HTTP; by default derived from the handler.",
    )
    payload_schema: Object | None = None

    def changes(self) -> dict[str, Any]:
        return self.given_fields()


class NewDefinition(DefinitionEdit):
    """A definition without code: its handler is a function by `path`, a `command` of the settings,
    or, with the kind `remote`, a worker over HTTP. Null fields have their default."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "key": "report.daily",
                    "path": "shop.jobs.report",
                    "payload_schema": {"properties": {"day": {"type": "string", "format": "date"}}},
                    "max_attempts": 5,
                    "if_exists": "keep",
                }
            ]
        }
    )

    key: Name
    if_exists: IfExists = Field(
        default="error", description="How to treat an existing definition with this key."
    )

    def changes(self) -> dict[str, Any]:
        return {
            name: value
            for name, value in self.given_fields().items()
            if value is not None and name != "key"
        }


class TriggerEdit(RequestModel):
    """Changes to a trigger."""

    OPTIONS: ClassVar[Mapping[str, str]] = {
        "delay_seconds": "delay",
        "dedupe_window_seconds": "dedupe_window",
        "event_name": "event",
        "interval_seconds": "interval",
    }

    name: Name | None = None
    type: TriggerType | None = None
    enabled: Flag | None = None
    payload: Object | None = None
    cron: Annotated[str, StringConstraints(min_length=1, max_length=255)] | None = None
    interval_seconds: Seconds | None = None
    at: Instant | None = None
    run_once: Flag | None = None
    timezone: Name | None = None
    misfire: Misfire | None = None
    overlap: Overlap | None = None
    event_name: Name | None = None
    condition: Object | None = None
    delay_seconds: Seconds | None = None
    dedupe_window_seconds: Seconds | None = None
    dedupe_key: Annotated[str, StringConstraints(min_length=1, max_length=500)] | None = None
    max_attempts: Integer | None = None


class NewTrigger(TriggerEdit):
    """A trigger: its name, its definition, and the fields of its type. The type may be omitted if
    `cron`, `interval_seconds`, `at`, `run_once` or `event_name` implies it."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "name": "nightly",
                    "type": "cron",
                    "definition": "report",
                    "cron": "0 2 * * *",
                    "timezone": "Europe/Berlin",
                }
            ]
        }
    )

    name: Name
    definition: Name
    tenant: Name | None = None


class NewEvent(RequestModel):
    """Something that has happened."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"name": "folder.changed", "data": {"path": "/in"}}]}
    )

    name: Name
    data: Object = Field(default_factory=dict)
    tenant: Name | None = None
    correlation_id: Name | None = None


class TriggerTest(RequestModel):
    """Input of a trigger test: a past event, or data."""

    event_id: Name | None = None
    data: Object | None = None


class QueueLimit(RequestModel):
    max_concurrency: Integer | None


class NewToken(RequestModel):
    """A program's credential: a role in a tenant, or in the whole installation."""

    name: Name
    role: Name = "user"
    tenant: Name | None = None
    rights: list[Name] | None = None
    permissions: list[Name] = Field(default_factory=list)
    expires_seconds: Seconds | None = None

    OPTIONS: ClassVar[Mapping[str, str]] = {"expires_seconds": "expires"}


class NewUser(RequestModel):
    """A user, who can sign in after setting a password by a link."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"name": "ada@example.com"}]})

    name: Name
    superadmin: Flag = False


class NewSuperadmin(RequestModel):
    """An invitation to administer the whole installation."""

    name: Name


class UserEdit(RequestModel):
    """Changes to a user. Superadmin can only be taken away here; an invitation grants it."""

    superadmin: Flag | None = None
    disabled: Flag | None = None


class NewLink(RequestModel):
    """A one-time link to set a password or to sign in."""

    purpose: LinkPurpose = "password"
    expires_seconds: Annotated[int, Field(strict=True, ge=60, le=30 * 86_400)] | None = None


class NewMember(RequestModel):
    """An offer of a role in a tenant."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"name": "ada@example.com", "role": "tenant_admin"}]}
    )

    name: Name
    role: Name = "user"
    permissions: list[Name] = Field(default_factory=list, max_length=100)
    tenant: Name | None = None


class MemberEdit(RequestModel):
    """Changes to a member."""

    role: Name | None = None
    permissions: Annotated[list[Name], Field(max_length=100)] | None = None


class Login(RequestModel):
    """A user's name and password."""

    name: Name
    password: Annotated[str, StringConstraints(max_length=1_000)]


class LinkLogin(RequestModel):
    """The secret of a one-time link."""

    link: Annotated[str, StringConstraints(max_length=200)]


class PasswordByLink(LinkLogin):
    """A new password, and the link to set it: of an account or of an invitation."""

    password: Annotated[str, StringConstraints(max_length=1_000)]


class Setup(RequestModel):
    """Name and password of the first administrator, and the key of the link to set it up."""

    key: Annotated[str, StringConstraints(max_length=200)]
    name: Name
    password: Annotated[str, StringConstraints(max_length=1_000)]


class PasswordChange(RequestModel):
    """The current password and the new one."""

    OPTIONS: ClassVar[Mapping[str, str]] = {"after": "password"}

    before: Annotated[str, StringConstraints(max_length=1_000)]
    after: Annotated[str, StringConstraints(max_length=1_000)]


class NewTenant(RequestModel):
    """A tenant."""

    id: Name
    name: Name | None = None
    weight: Integer = 1
    max_running: Integer | None = None
    max_open: Integer | None = None
    timezone: Name = "UTC"


class TenantEdit(RequestModel):
    """Changes to a tenant. Null unsets a limit."""

    name: Name | None = None
    weight: Integer | None = None
    max_running: Integer | None = None
    max_open: Integer | None = None
    timezone: Name | None = None


class AuditHead(RequestModel):
    """A former end of an audit chain, as returned by `GET /audit/heads`."""

    tenant_id: Name | None = Field(description="None is the installation.")
    sequence: Annotated[int, Field(strict=True, ge=1, lt=2**63)]
    hash: Annotated[str, StringConstraints(pattern="^[0-9a-f]{64}$")]
    signature: Annotated[str, StringConstraints(max_length=191)] | None = None


class PinnedHeads(RequestModel):
    """Heads that were saved outside the database."""

    heads: Annotated[list[AuditHead], Field(max_length=10_000)]
