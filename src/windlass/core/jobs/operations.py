"""Bulk operations: one action on a frozen set of jobs, what it skips, and what became of each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Literal, NamedTuple

from windlass.core.access.roles import Right
from windlass.core.jobs.models import Job
from windlass.core.jobs.states import ENDED, JobState, Verb, states_for
from windlass.ids import JobId, OperationId, TenantId, UserId

OperationState = Literal["running", "completed", "stopped"]
ItemState = Literal["waiting", "done", "failed", "skipped"]


class BulkAction(StrEnum):
    """An action on many jobs at once."""

    CANCEL = "cancel"
    RETRY = "retry"
    RUN_NOW = "run_now"
    DISCARD = "discard"
    UPDATE = "update"


#: BulkAction -> the right it needs besides `operations.write`.
RIGHTS: Mapping[BulkAction, Right] = {
    BulkAction.CANCEL: Right.JOBS_CANCEL,
    BulkAction.RETRY: Right.JOBS_RETRY,
    BulkAction.RUN_NOW: Right.JOBS_RUN_NOW,
    BulkAction.DISCARD: Right.JOBS_DISCARD,
    BulkAction.UPDATE: Right.JOBS_UPDATE,
}

#: Actions that let jobs run which would not have, or not yet: they need the right to enqueue as well.
MAKES_WORK = frozenset({BulkAction.RETRY, BulkAction.RUN_NOW, BulkAction.UPDATE})

#: BulkAction -> states in which it does anything; a job in another one is skipped.
STATES: Mapping[BulkAction, frozenset[JobState]] = {
    BulkAction.CANCEL: states_for(Verb.CANCEL),
    BulkAction.RETRY: states_for(Verb.RETRY),
    BulkAction.RUN_NOW: states_for(Verb.RUN_NOW),
    BulkAction.DISCARD: ENDED,
    BulkAction.UPDATE: states_for(Verb.UPDATE),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One action on a frozen set of jobs, and how far it is. `tenant` None means all tenants.

    `query` is what the person asked for, as text, and `changes` what an update changes. Items that are neither done, failed nor skipped
    are still waiting, or were left when it was stopped.
    """

    id: OperationId
    tenant: TenantId | None
    action: BulkAction
    query: str
    total: int
    actor: str
    actor_kind: str
    actor_name: str
    reason: str | None = None
    state: OperationState = "running"
    done: int = 0
    failed: int = 0
    skipped: int = 0
    created_by: UserId | None = None
    undo_of: OperationId | None = None
    changes: Mapping[str, Any] | None = None
    created_at: datetime | None = None
    stop_requested_at: datetime | None = None
    finished_at: datetime | None = None
    token: int = 0

    @property
    def left(self) -> int:
        return self.total - self.done - self.failed - self.skipped


class OperationTarget(NamedTuple):
    """Definition and tenant of an operation's jobs."""

    definition: str
    tenant: str


class OperationItem(NamedTuple):
    """One job of an operation. `note` is the state it was brought to, or why it was left alone."""

    place: int
    job_id: JobId
    state: ItemState
    note: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationPreview:
    """Preview of an operation: jobs by state, how many would be skipped and why, a few of them.

    `more` says that further jobs match than were counted, and than one operation may take.
    """

    action: BulkAction
    total: int
    by_state: Mapping[str, int]
    skipped: Mapping[str, int]
    sample: Sequence[Job] = field(default=())
    more: bool = False


def skip_reason(action: BulkAction, state: JobState) -> str | None:
    """Why a job in a state is skipped; None if it is not."""
    if state in STATES[action]:
        return None
    allowed = " or ".join(sorted(STATES[action]))
    return f"it is {state}; only {allowed} jobs can be {_PAST[action]}"


_PAST: Mapping[BulkAction, str] = {
    BulkAction.CANCEL: "canceled",
    BulkAction.RETRY: "retried",
    BulkAction.RUN_NOW: "run now",
    BulkAction.DISCARD: "discarded",
    BulkAction.UPDATE: "changed",
}
