"""List-and-filter queries: the only SQL built in Python.

Each table of jobs is asked apart, newest first and capped, so that a page costs the same however
long the history is; values are always parameters.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from windlass.core.models import RETRIED_AFTER, JobFilter, Scope
from windlass.core.states import JobState, View
from windlass.ids import JobId

#: What a list shows: everything but payload, metadata, result and traceback.
COLUMNS = (
    "id, tenant_id, definition, queue, state, priority, due_at, source, source_ref, "
    "correlation_id, created_by, trigger_id, trigger_due_at, dedupe_key, idempotency_key, "
    "on_parent_failure, waits, held, expires_at, attempts, max_attempts, worker_deaths, "
    "lease_token, lease_expires_at, worker_id, timeout_seconds, cancel_requested_at, "
    "cancel_requested_by, created_at, queued_at, started_at, last_started_at, finished_at, "
    "updated_at, progress, progress_note, outcome, last_error, error_type, reason, fingerprint, gate"
)

_OPEN: Sequence[tuple[str, frozenset[str]]] = (
    ("windlass_live", frozenset({"queued", "running"})),
    ("windlass_later", frozenset({"pending", "queued"})),
)
_ENDED = ("completed", "canceled", "dead_letter")
_RETRIED = ", ".join(f"'{outcome}'" for outcome in sorted(RETRIED_AFTER))

#: The condition of each view over the state it looks at.
VIEWS: Mapping[str, tuple[JobState, str]] = {
    View.WAITING: (JobState.PENDING, "state = 'pending'"),
    View.RETRYING: (JobState.QUEUED, f"state = 'queued' and outcome in ({_RETRIED})"),
    View.SCHEDULED: (
        JobState.QUEUED,
        f"state = 'queued' and due_at > {{now}} and (outcome is null or outcome not in ({_RETRIED}))",
    ),
}


def jobs(
    scope: Scope, chosen: JobFilter, *, after: JobId | None, limit: int
) -> tuple[str, dict[str, Any]]:
    """The query for one page of jobs and its parameters."""
    params: dict[str, Any] = {"most": limit}
    where = list(_conditions(scope, chosen, after, params))
    # The history's indexes by tenant and by definition are ordered by id only within a state.
    ended = [(state,) for state in _ENDED] if scope.tenant or chosen.definition else [_ENDED]
    rests = [*_OPEN, *(("windlass_ended", frozenset(states)) for states in ended)]
    arms = [
        f"select * from (select {COLUMNS} from {table} where "
        f"{' and '.join([*where, condition])} order by id desc limit :most) arm_{number}"
        for number, (table, states) in enumerate(rests)
        if (condition := _of_state(chosen, states))
    ]
    return f"{' union all '.join(arms)} order by id desc limit :most", params


def _of_state(chosen: JobFilter, states: frozenset[str]) -> str | None:
    """The condition on a table that rests these states; None if it holds none of the chosen."""
    if not chosen.states and len(states) > 1:
        return "1 = 1"
    plain = sorted(chosen.states & states if chosen.states else states)
    conditions = [f"state = '{state}'" for state in plain]
    conditions += [
        condition
        for view, (state, condition) in VIEWS.items()
        if view in chosen.states and state in states
    ]
    return f"({' or '.join(conditions)})" if conditions else None


def _conditions(
    scope: Scope, chosen: JobFilter, after: JobId | None, params: dict[str, Any]
) -> Iterator[str]:
    wanted = {
        "tenant_id": scope.tenant,
        "definition": chosen.definition,
        "queue": chosen.queue,
        "source": chosen.source,
        "correlation_id": chosen.correlation_id,
        "created_by": chosen.created_by,
    }
    for column, value in wanted.items():
        if value is not None:
            params[column] = value
            yield f"{column} = :{column}"
    if chosen.fingerprint == "":
        yield "fingerprint is null"
    elif chosen.fingerprint is not None:
        params["fingerprint"] = chosen.fingerprint
        yield "fingerprint = :fingerprint"
    if chosen.created_after is not None:
        params["created_after"] = chosen.created_after
        yield "created_at > :created_after"
    if chosen.created_before is not None:
        params["created_before"] = chosen.created_before
        yield "created_at < :created_before"
    if after is not None:
        params["after"] = after
        yield "id < :after"
