"""Definitions: the kinds of work that may run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from windlass.core.jobs.models import DEFAULT_QUEUE, OnDuplicate, Origin, ParentFailure
from windlass.ids import DefinitionKey, QueueName

#: Where the handler is: a function in code, one by dotted path, a command of the settings, or a worker
#: without this code, such as one in another language.
DefinitionKind = Literal["code", "path", "command", "remote"]
Isolation = Literal["thread", "process"]
#: Days of retention that mean: keep for ever.
FOREVER = -1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """A kind of work that may run, as its row stands. `None` limits and retention mean unset."""

    key: DefinitionKey
    title: str
    description: str = ""
    kind: DefinitionKind = "code"
    queue: QueueName = DEFAULT_QUEUE
    priority: int = 100
    max_attempts: int = 3
    backoff: str | None = None
    timeout_seconds: float | None = None
    isolation: Isolation = "thread"
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
    #: A page that says what to do when its jobs fail.
    runbook_url: str | None = None
    origin: Origin = "code"
    #: What an operator changed of what the code says, and what the code says.
    edited: tuple[str, ...] = ()
    code: Mapping[str, Any] | None = None
    missing_from_code: bool = False
    code_hash: str = ""
    gate: str = ""
    #: Of the row: two definitions that say the same are equal, whenever they were stored.
    created_at: datetime | None = field(default=None, compare=False)
    updated_at: datetime | None = field(default=None, compare=False)

    @property
    def restricted(self) -> bool:
        """True if a role in the job's tenant is not enough to enqueue it."""
        return self.system or self.requires_permission is not None
