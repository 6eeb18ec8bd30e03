"""Triggers, and the events that some of them wait for."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from windlass.core.jobs.models import Origin
from windlass.ids import DefinitionKey, EventId, JobId, TenantId, TriggerId

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
    #: A template too: its jobs with an equal key count as equal.
    dedupe_key: str | None = None
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
    #: Whose right to enqueue it fires under; None is the program's own.
    saved_by: str | None = None
    created_at: datetime | None = None
    updated_at: datetime | None = None
    #: Fields of its row that cannot be read, such as JSON that was edited by hand. They have their
    #: defaults here, and the trigger does not fire until they are given again.
    unreadable: tuple[str, ...] = ()


MatchOutcome = Literal["created", "existing", "unmatched", "failed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TriggerMatch:
    """Result of a trigger for one event: its job was `created`, or is `existing` (an equal job was
    there); the condition was not met (`unmatched`), or the job could not be made (`failed`).

    `because` says why no job was created, and `job_id` names the job, also the one that was there.
    Without a trigger it is the `on_dead_letter` job of a definition.
    """

    trigger_id: str | None
    trigger: str | None
    definition: str
    outcome: MatchOutcome
    job_id: str | None = None
    because: str | None = None


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
    #: What its triggers did with it, in the order of their ids.
    matches: tuple[TriggerMatch, ...] = ()
