"""Bulk operations: preview, freeze a set of jobs, work on it in batches, stop, undo.

Any process may work on any operation; one at a time does, and another goes on if it dies.
"""

from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Protocol

from windlass.core.access.audit import Target
from windlass.core.access.principal import Principal
from windlass.core.access.roles import AccessBounds, Right
from windlass.core.jobs.change import JobChange
from windlass.core.jobs.models import Job, JobPage, Scope
from windlass.core.jobs.operations import (
    MAKES_WORK,
    RIGHTS,
    BulkAction,
    ItemState,
    Operation,
    OperationItem,
    OperationPreview,
    skip_reason,
)
from windlass.core.jobs.query import JobQuery
from windlass.core.jobs.states import JobState
from windlass.core.text import clean
from windlass.engine.access.audit import Audit
from windlass.engine.access.authorization import Access
from windlass.engine.jobs.enqueue_rights import EnqueueRights
from windlass.engine.jobs.lists import JobLists
from windlass.engine.jobs.update_time import begun
from windlass.errors import (
    OperationNotFound,
    OperationStateConflict,
    OperationTooLarge,
    OptionInvalid,
)
from windlass.ids import JobId, OperationId, TenantId, UserId, new_operation_id
from windlass.storage.storage import Storage

#: More jobs than this are several operations.
MOST = 100_000
_PAGE = 2000
_SAMPLE = 3
_QUERY_BYTES, _REASON_BYTES, _NAME_BYTES = 8192, 1024, 500
_KEPT = timedelta(days=30)


class JobSet(Protocol):
    """Which jobs are meant, page by page, newest first and within bounds."""

    async def page(self, bounds: AccessBounds, *, after: JobId | None, limit: int) -> JobPage: ...


@dataclass(frozen=True, slots=True)
class FilteredJobs:
    """The jobs that a filter finds."""

    lists: JobLists
    chosen: JobQuery

    async def page(self, bounds: AccessBounds, *, after: JobId | None, limit: int) -> JobPage:
        mine = self.chosen & JobQuery.of(created_by=bounds.owner)
        return await self.lists.page(mine, scope=bounds.scope, after=after, limit=limit)


class Operations:
    def __init__(
        self,
        storage: Storage,
        access: Access,
        audit: Audit,
        lists: JobLists,
        rights: EnqueueRights,
    ) -> None:
        self._rights = rights
        self._storage = storage
        self._lists = lists
        self._access = access
        self._audit = audit
        #: Who of this process does the work, told at once; others look every few seconds.
        self.local_listeners: set[Callable[[], object]] = set()

    async def preview(
        self,
        by: Principal,
        action: str,
        jobs: JobSet | JobQuery,
        *,
        change: JobChange | None = None,
        tenant: str | None = None,
    ) -> OperationPreview:
        """What an operation would do now: counts by state, what it would skip and why, a sample."""
        act = _action(action, change)
        bounds = await self._allow(by, Right.OPERATIONS_READ, act, tenant, None)
        states = Counter[JobState]()
        sample: list[Job] = []
        async for page in self._matching(jobs, bounds):
            await self._require_enqueue(by, act, page)
            states.update(job.state for job in page)
            sample += page[: _SAMPLE - len(sample)]
        reasons = {state: skip_reason(act, state) for state in states}
        return OperationPreview(
            action=act,
            total=min(states.total(), MOST),
            by_state={str(state): count for state, count in states.items()},
            skipped={why: states[state] for state, why in reasons.items() if why},
            sample=sample,
            more=states.total() > MOST,
        )

    async def create(
        self,
        by: Principal,
        action: str,
        jobs: JobSet | JobQuery,
        *,
        query: str,
        change: JobChange | None = None,
        partly: bool = False,
        tenant: str | None = None,
        reason: str | None = None,
        request_id: str | None = None,
    ) -> Operation:
        """Begin an operation on the jobs that match now; those that match later are not in it.

        `query` is what was asked for, as people read it, and `change` what an update changes.
        Upkeep does the work. With `partly` the newest are taken where there are too many for one.
        """
        act = _action(action, change)
        bounds = await self._allow(by, Right.OPERATIONS_WRITE, act, tenant, request_id)
        ids: list[JobId] = []
        async for page in self._matching(jobs, bounds):
            await self._require_enqueue(by, act, page)
            ids += [job.id for job in page]
        if len(ids) > MOST and not partly:
            raise OperationTooLarge(most=MOST)
        new = _new(by, act, bounds.scope.tenant, query, reason=reason)
        if change is not None:
            new = replace(new, changes=(await begun(self._storage, change)).plain())
        return await self._begin(by, new, ids[:MOST], request_id)

    async def get(self, by: Principal, id: OperationId, *, tenant: str | None = None) -> Operation:
        """An operation as it stands: its counts say how far it is."""
        target = Target("operation", str(id))
        bounds = await self._access.allow(by, Right.OPERATIONS_READ, target, tenant=tenant)
        return await self._find(bounds, id)

    async def list(
        self,
        by: Principal,
        *,
        tenant: str | None = None,
        before: OperationId | None = None,
        limit: int = 50,
    ) -> Sequence[Operation]:
        """Operations newest first; `before` is the last one already seen."""
        target = Target("operation")
        bounds = await self._access.allow(by, Right.OPERATIONS_READ, target, tenant=tenant)
        found = await self._storage.jobs.operations(bounds.scope, before=before, most=limit)
        return [each for each in found if bounds.owner in (None, each.actor)]

    async def items(
        self,
        by: Principal,
        id: OperationId,
        state: ItemState = "failed",
        *,
        tenant: str | None = None,
        after: int = 0,
        limit: int = 100,
    ) -> Sequence[OperationItem]:
        """Jobs of an operation in one state, with what became of them or why nothing did."""
        operation = await self.get(by, id, tenant=tenant)
        return await self._storage.jobs.operation_items(
            operation.id, state, after=after, most=limit
        )

    async def stop(
        self,
        by: Principal,
        id: OperationId,
        *,
        tenant: str | None = None,
        request_id: str | None = None,
    ) -> Operation:
        """Act on no further jobs. What was done stays; a batch under way is finished."""
        target = Target("operation", str(id))
        bounds = await self._access.allow(
            by, Right.OPERATIONS_WRITE, target, tenant=tenant, request_id=request_id
        )
        operation = await self._find(bounds, id)
        entry = self._audit.entry(
            by, "operations.stop", target, tenant=operation.tenant, request_id=request_id
        )
        await self._storage.jobs.stop_operation(bounds.scope, id, entry=entry)
        self._wake_runners()
        after = await self._find(bounds, id)
        if after.state == "completed":
            raise OperationStateConflict(str(id), verb="stopped", because="it is completed")
        return after

    async def undo(
        self,
        by: Principal,
        id: OperationId,
        *,
        tenant: str | None = None,
        request_id: str | None = None,
    ) -> Operation:
        """Put jobs back in line that an operation canceled while they were waiting.

        They are due at once and have fresh attempts. Running jobs that were asked to stop, and what
        was discarded, cannot be brought back.
        """
        bounds = await self._allow(by, Right.OPERATIONS_WRITE, BulkAction.RETRY, tenant, request_id)
        done = await self._find(bounds, id)
        if done.action is not BulkAction.CANCEL:
            why = f"only a cancel can be, and its action is {done.action.replace('_', ' ')}"
            raise OperationStateConflict(str(id), verb="undone", because=why)
        if done.state == "running":
            raise OperationStateConflict(str(id), verb="undone", because="it still runs")
        ids = await self._canceled(id)
        if not ids:
            raise OperationStateConflict(str(id), verb="undone", because="it canceled no job")
        for job in await self._storage.jobs.operation_definitions(id):
            await self._rights.require(
                by, job.definition, job.tenant, Right.JOBS_RETRY, Target("operation", str(id))
            )
        undoing = _new(by, BulkAction.RETRY, done.tenant, done.query, undo_of=id)
        return await self._begin(by, undoing, ids, request_id)

    async def prune(self) -> int:
        """Forget operations that ended long ago, one by one. Answers how many."""
        pruned = 0
        while gone := await self._storage.jobs.prune_operations(older=_KEPT):
            pruned += gone
        return pruned

    async def _allow(
        self,
        by: Principal,
        right: Right,
        action: BulkAction,
        tenant: str | None,
        request_id: str | None,
    ) -> AccessBounds:
        """What may be touched by who has both the right to operations and that to the action."""
        target = Target("operation", action)
        await self._access.allow(by, right, target, tenant=tenant, request_id=request_id)
        return await self._access.allow(
            by, RIGHTS[action], target, tenant=tenant, request_id=request_id
        )

    async def _require_enqueue(
        self, by: Principal, action: BulkAction, jobs: Sequence[Job]
    ) -> None:
        """Refuse to put jobs in line of a definition that `by` may not enqueue: all of them or none
        is done, so that nobody takes a part for the whole."""
        if action in MAKES_WORK:
            await self._rights.require_all(by, jobs, RIGHTS[action], Target("operation", action))

    async def _matching(
        self, jobs: JobSet | JobQuery, bounds: AccessBounds
    ) -> AsyncIterator[Sequence[Job]]:
        """The jobs that match now, the newest first; it ends a little after there are too many."""
        chosen = FilteredJobs(self._lists, jobs) if isinstance(jobs, JobQuery) else jobs
        seen, after = 0, None
        while seen <= MOST:
            page = await chosen.page(bounds, after=after, limit=_PAGE)
            # Whoever made the set: nothing out of bounds gets in.
            within = [job for job in page.jobs if bounds.holds(job)]
            yield within
            seen, after = seen + len(within), page.next
            if after is None:
                return

    async def _begin(
        self, by: Principal, operation: Operation, ids: Sequence[JobId], request_id: str | None
    ) -> Operation:
        entry = self._audit.entry(
            by,
            f"operations.{operation.action}",
            Target("operation", str(operation.id)),
            tenant=operation.tenant,
            after={
                "query": operation.query,
                "total": len(ids),
                "reason": operation.reason,
                "changes": operation.changes,
                "undo_of": operation.undo_of and str(operation.undo_of),
            },
            request_id=request_id,
        )
        # In the order of ids, so that batches lock jobs as everybody else does.
        await self._storage.jobs.create_operation(operation, sorted(set(ids)), entry=entry)
        self._wake_runners()
        return await self._find(AccessBounds(Scope(operation.tenant)), operation.id)

    def _wake_runners(self) -> None:
        for told in self.local_listeners:
            told()

    async def _find(self, bounds: AccessBounds, id: OperationId) -> Operation:
        found = await self._storage.jobs.operation(bounds.scope, id)
        if found is None or bounds.owner not in (None, found.actor):
            raise OperationNotFound(str(id))
        return found

    async def _canceled(self, id: OperationId) -> Sequence[JobId]:
        ids: list[JobId] = []
        place = 0
        while page := await self._storage.jobs.operation_items(id, "done", after=place, most=_PAGE):
            ids += [item.job_id for item in page if item.note == "canceled"]
            place = page[-1].place
        return ids


def _action(action: str, change: JobChange | None) -> BulkAction:
    try:
        act = BulkAction(action)
    except ValueError:
        raise OptionInvalid("action", action, allowed=f"one of {', '.join(BulkAction)}") from None
    if (act is BulkAction.UPDATE) != (change is not None):
        raise OptionInvalid("action", action, allowed="update with changes, any other without")
    return act


def _new(
    by: Principal,
    action: BulkAction,
    tenant: TenantId | None,
    query: str,
    *,
    reason: str | None = None,
    undo_of: OperationId | None = None,
) -> Operation:
    return Operation(
        id=new_operation_id(),
        tenant=tenant,
        action=action,
        query=clean(query, _QUERY_BYTES),
        reason=None if reason is None else clean(reason, _REASON_BYTES),
        total=0,
        actor=by.actor,
        actor_kind=by.kind,
        actor_name=clean(by.name, _NAME_BYTES),
        created_by=None if by.user_id is None else UserId(by.user_id),
        undo_of=undo_of,
    )
