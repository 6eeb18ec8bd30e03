"""`/operations`: one action on all jobs that match a filter; preview, begin, watch, stop, undo."""

from typing import TYPE_CHECKING, Annotated, Any

from windlass.api.access.callers import CurrentCaller, ReadyEngine
from windlass.api.jobs.jobs import job_id
from windlass.api.routing import Path, Query, Request, Routes, paged
from windlass.api.schema import render
from windlass.api.schema.paging import PageQuery
from windlass.core import wire
from windlass.core.jobs.filter import parse
from windlass.core.jobs.operations import ItemState
from windlass.core.jobs.query import JobQuery
from windlass.errors import OperationNotFound, OptionInvalid
from windlass.ids import OperationId, parse_job_id

if TYPE_CHECKING:
    from windlass.api.schema.requests import NewOperation, OperationRequest

routes = Routes("operations")

Id = Annotated[str, Path(description="An operation's id.", max_length=64)]


@routes.post("/preview", "operations.read", "Preview", summary="Preview an operation")
async def preview(
    caller: CurrentCaller, engine: ReadyEngine, body: "OperationRequest"
) -> dict[str, Any]:
    """Counts of matching jobs by state and of jobs to be skipped, with reasons and a sample."""
    operation_preview = await engine.operations.preview(
        caller.effective_principal,
        body.action,
        _jobs(body.q),
        change=body.change(),
        tenant=caller.scope.tenant,
    )
    rendered = await render.preview(engine, operation_preview)
    if not caller.reads_all:  # the right to change others' jobs does not include reading them
        rendered["sample"] = [job for job in rendered["sample"] if job["created_by"] == caller.name]
    return rendered


@routes.post(
    "",
    "operations.write",
    "Operation",
    status_code=201,
    summary="Begin an operation",
    audits=False,
)
async def begin(
    request: Request, caller: CurrentCaller, engine: ReadyEngine, body: "NewOperation"
) -> dict[str, Any]:
    """Changes the jobs that match now. The operation's counts show its progress."""
    operation = await engine.operations.create(
        caller.effective_principal,
        body.action,
        _jobs(body.q),
        query=body.q,
        change=body.change(),
        partly=body.partly,
        tenant=caller.scope.tenant,
        reason=body.reason,
        request_id=request.state.request_id,
    )
    return render.operation(engine, operation)


@routes.get("", "operations.read", paged("Operation"), summary="List operations")
async def find(caller: CurrentCaller, engine: ReadyEngine, paging: PageQuery) -> dict[str, Any]:
    """Newest first."""
    before = job_id(paging.after)
    operations = await engine.operations.list(
        caller.effective_principal,
        tenant=caller.scope.tenant,
        before=None if before is None else OperationId(before),
        limit=paging.limit + 1,
    )
    items = [render.operation(engine, each) for each in operations[: paging.limit]]
    return paging.page(
        items, operations[paging.limit - 1].id if len(operations) > paging.limit else None
    )


@routes.get("/{id}", "operations.read", "Operation", summary="Get an operation")
async def get(caller: CurrentCaller, engine: ReadyEngine, id: Id) -> dict[str, Any]:
    """Of `total` jobs, `done`, `failed` and `skipped` are settled; `left` are not."""
    operation = await engine.operations.get(
        caller.effective_principal, _id(id), tenant=caller.scope.tenant
    )
    return render.operation(engine, operation)


@routes.get(
    "/{id}/items",
    "operations.read",
    paged("OperationItemResponse"),
    summary="List an operation's jobs",
)
async def items(
    caller: CurrentCaller,
    engine: ReadyEngine,
    paging: PageQuery,
    id: Id,
    state: Annotated[ItemState, Query(description="Only those.")] = "failed",
) -> dict[str, Any]:
    """Jobs in one state of the operation, each with its new state, or why it was not changed."""
    rows = await engine.operations.items(
        caller.effective_principal,
        _id(id),
        state,
        tenant=caller.scope.tenant,
        after=int(paging.after or 0),
        limit=paging.limit + 1,
    )
    more = len(rows) > paging.limit
    page = rows[: paging.limit]
    return paging.page([wire.item(each) for each in page], page[-1].place if more else None)


@routes.post(
    "/{id}/stop", "operations.write", "Operation", summary="Stop an operation", audits=False
)
async def stop(
    request: Request, caller: CurrentCaller, engine: ReadyEngine, id: Id
) -> dict[str, Any]:
    """Takes effect after the current batch; changes made so far stay."""
    stopped = await engine.operations.stop(
        caller.effective_principal,
        _id(id),
        tenant=caller.scope.tenant,
        request_id=request.state.request_id,
    )
    return render.operation(engine, stopped)


@routes.post(
    "/{id}/undo",
    "operations.write",
    "Operation",
    status_code=201,
    summary="Undo a cancel",
    audits=False,
)
async def undo(
    request: Request, caller: CurrentCaller, engine: ReadyEngine, id: Id
) -> dict[str, Any]:
    """Begins a new operation that queues again the jobs that were waiting when canceled."""
    undoing = await engine.operations.undo(
        caller.effective_principal,
        _id(id),
        tenant=caller.scope.tenant,
        request_id=request.state.request_id,
    )
    return render.operation(engine, undoing)


def _jobs(q: str) -> JobQuery:
    chosen = parse(q)
    if not chosen.terms:  # a filter lost by mistake must not select every job
        raise OptionInvalid(
            "q", q, allowed="a filter; to select all open jobs: state:pending,queued,running"
        )
    return chosen


def _id(id: str) -> OperationId:
    whole = parse_job_id(id)
    if whole is None:
        raise OperationNotFound(id)
    return OperationId(whole)
