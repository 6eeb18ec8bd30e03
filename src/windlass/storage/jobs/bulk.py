"""One action on some jobs inside a transaction: what became of each, or why nothing did."""

from collections.abc import Awaitable, Callable, Mapping, Sequence

from windlass.core.jobs.change import JobChange
from windlass.core.jobs.models import Job, Scope
from windlass.core.jobs.operations import BulkAction, Operation, OperationItem, skip_reason
from windlass.core.jobs.states import JobState
from windlass.ids import JobId
from windlass.storage.database import Session
from windlass.storage.jobs.dead import retry_params
from windlass.storage.jobs.jobs import states_in, update_params
from windlass.storage.sql import rows
from windlass.storage.sql.statements import Batch

Placed = Sequence[tuple[int, JobId]]


async def apply(session: Session, operation: Operation, items: Placed) -> list[OperationItem]:
    """Act on jobs. One that moved meanwhile, and could be acted on yet, is not in the answer."""
    act = _ACTS[operation.action]
    became = await act(session, operation, [id for _, id in items])
    settled = []
    for place, id in items:
        if id in became:
            settled.append(OperationItem(place, id, "done", became[id]))
        elif why := await _why_not(session, operation, id):
            settled.append(OperationItem(place, id, "skipped", why))
    return settled


async def _cancel(
    session: Session, operation: Operation, ids: Sequence[JobId]
) -> Mapping[JobId, str]:
    changed = await session.run(
        "cancel",
        ids=Batch(id=ids),
        tenant_id=operation.tenant,
        actor=operation.actor,
        reason=operation.reason,
        to_state=JobState.CANCELED,
    )
    return states_in(changed)


async def _retry(
    session: Session, operation: Operation, ids: Sequence[JobId]
) -> Mapping[JobId, str]:
    scope = Scope(operation.tenant)
    became = {}
    for id in ids:
        answer = await session.run("retry", **retry_params(scope, id, operation.actor))
        if answer and answer[0]["state"] == "queued":
            became[id] = "queued"
    return became


async def _run_now(
    session: Session, operation: Operation, ids: Sequence[JobId]
) -> Mapping[JobId, str]:
    return {
        id: "queued"
        for id in ids
        if await session.run("run_now", id=id, tenant_id=operation.tenant, actor=operation.actor)
    }


async def _discard(
    session: Session, operation: Operation, ids: Sequence[JobId]
) -> Mapping[JobId, str]:
    return {
        id: "discarded"
        for id in ids
        if await session.run("discard", id=id, tenant_id=operation.tenant, only=None)
    }


async def _update(
    session: Session, operation: Operation, ids: Sequence[JobId]
) -> Mapping[JobId, str]:
    change = JobChange.read(operation.changes or {})
    scope = Scope(operation.tenant)
    return states_in(
        await session.run("update", **update_params(scope, ids, change, operation.actor))
    )


async def _why_not(session: Session, operation: Operation, id: JobId) -> str | None:
    """The reason why an action skipped a job; None if it may still be done."""
    found = await session.run("get_job", id=id, tenant_id=operation.tenant)
    if not found:
        return "it is no longer there"
    job: Job = rows.job(found[0])
    if why := skip_reason(operation.action, job.state):
        return why
    match operation.action:
        case BulkAction.RETRY:
            return "an open job has its dedupe key"
        case BulkAction.DISCARD:
            return "another job waits for it"
        case BulkAction.RUN_NOW if job.waits:
            return "it waits for other jobs"
        case _:
            return None


_Act = Callable[[Session, Operation, Sequence[JobId]], Awaitable[Mapping[JobId, str]]]
_ACTS: Mapping[BulkAction, _Act] = {
    BulkAction.CANCEL: _cancel,
    BulkAction.RETRY: _retry,
    BulkAction.RUN_NOW: _run_now,
    BulkAction.DISCARD: _discard,
    BulkAction.UPDATE: _update,
}
