"""`/operations`: one action on all jobs that match; preview, begin, watch, stop, undo."""

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


@routes.post("/preview", "operations.read", "Preview", summary="What would it do?")
async def preview(
    caller: CurrentCaller, engine: ReadyEngine, body: "OperationRequest"
) -> dict[str, Any]:
    """How many jobs match, by state, how many would be skipped and why, and a few of them."""
    found = await engine.operations.preview(
        caller.effective_principal,
        body.action,
        _jobs(body.q),
        change=body.change(),
        tenant=caller.scope.tenant,
    )
    told = await render.preview(engine, found)
    if not caller.reads_all:  # who may change another's job need not be one who may look at it
        told["sample"] = [job for job in told["sample"] if job["created_by"] == caller.name]
    return told


@routes.post(
    "",
    "operations.write",
    "Operation",
    status_code=201,
    summary="Begin one",
    audits=False,
)
async def begin(
    request: Request, caller: CurrentCaller, engine: ReadyEngine, body: "NewOperation"
) -> dict[str, Any]:
    """On the jobs that match now. Its counts tell how far it is."""
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
    found = await engine.operations.list(
        caller.effective_principal,
        tenant=caller.scope.tenant,
        before=None if before is None else OperationId(before),
        limit=paging.limit + 1,
    )
    shown = [render.operation(engine, each) for each in found[: paging.limit]]
    return paging.page(shown, found[paging.limit - 1].id if len(found) > paging.limit else None)


@routes.get("/{id}", "operations.read", "Operation", summary="One operation")
async def get(caller: CurrentCaller, engine: ReadyEngine, id: Id) -> dict[str, Any]:
    """`done`, `failed` and `skipped` of `total` are settled; `left` are not."""
    found = await engine.operations.get(
        caller.effective_principal, _id(id), tenant=caller.scope.tenant
    )
    return render.operation(engine, found)


@routes.get(
    "/{id}/items",
    "operations.read",
    paged("OperationItemResponse"),
    summary="What became of its jobs",
)
async def items(
    caller: CurrentCaller,
    engine: ReadyEngine,
    paging: PageQuery,
    id: Id,
    state: Annotated[ItemState, Query(description="Only those.")] = "failed",
) -> dict[str, Any]:
    """In one state, with the state a job was brought to, or why it was left alone."""
    found = await engine.operations.items(
        caller.effective_principal,
        _id(id),
        state,
        tenant=caller.scope.tenant,
        after=int(paging.after or 0),
        limit=paging.limit + 1,
    )
    more = len(found) > paging.limit
    page = found[: paging.limit]
    return paging.page([wire.item(each) for each in page], page[-1].place if more else None)


@routes.post("/{id}/stop", "operations.write", "Operation", summary="Stop it", audits=False)
async def stop(
    request: Request, caller: CurrentCaller, engine: ReadyEngine, id: Id
) -> dict[str, Any]:
    """Between two batches; what was done stays done."""
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
    """An operation of its own, which puts the jobs in line again that were waiting."""
    undoing = await engine.operations.undo(
        caller.effective_principal,
        _id(id),
        tenant=caller.scope.tenant,
        request_id=request.state.request_id,
    )
    return render.operation(engine, undoing)


def _jobs(q: str) -> JobQuery:
    chosen = parse(q)
    if not chosen.terms:  # a filter that was lost on the way must not mean everything
        raise OptionInvalid(
            "q", q, allowed="a filter; for all jobs say so: state:pending,queued,running"
        )
    return chosen


def _id(id: str) -> OperationId:
    whole = parse_job_id(id)
    if whole is None:
        raise OperationNotFound(id)
    return OperationId(whole)
