"""`/events`: emit, list, get, replay."""

from typing import TYPE_CHECKING, Annotated, Any

from windlass.api.access.callers import CurrentCaller, ReadyEngine
from windlass.api.jobs.jobs import job_id, target_tenant
from windlass.api.routing import Path, Query, Routes, paged
from windlass.api.schema import render
from windlass.api.schema.paging import PageQuery
from windlass.ids import EventId

if TYPE_CHECKING:
    from windlass.api.schema.requests import NewEvent, QueryInstant

routes = Routes("events")

Id = Annotated[str, Path(max_length=64)]


@routes.post("", "events.emit", "Event", status_code=201, summary="Emit an event")
async def emit(caller: CurrentCaller, engine: ReadyEngine, body: "NewEvent") -> dict[str, Any]:
    prepared = engine.events.make(
        body.name,
        dict(body.data),
        tenant=target_tenant(caller, body.tenant),
        created_by=caller.name,
        correlation_id=body.correlation_id or None,
    )
    event = await engine.events.emit(prepared)
    return await render.event(engine, event)


@routes.get("", "events.read", paged("Event"), summary="List events")
async def find(
    caller: CurrentCaller,
    engine: ReadyEngine,
    paging: PageQuery,
    name: Annotated[str | None, Query(max_length=191)] = None,
    correlation_id: Annotated[str | None, Query(max_length=191)] = None,
    created_after: Annotated["QueryInstant | None", Query()] = None,
    created_before: Annotated["QueryInstant | None", Query()] = None,
) -> dict[str, Any]:
    before = job_id(paging.after)
    events = await engine.events.list(
        name=name,
        correlation_id=correlation_id,
        created_after=created_after,
        created_before=created_before,
        before=None if before is None else EventId(before),
        limit=paging.limit + 1,
        scope=caller.scope,
    )
    shown = await render.events(engine, events[: paging.limit])
    return paging.page(shown, events[paging.limit - 1].id if len(events) > paging.limit else None)


@routes.get("/{id}", "events.read", "Event", summary="Get an event")
async def get(caller: CurrentCaller, engine: ReadyEngine, id: Id) -> dict[str, Any]:
    """Its data, and for each trigger the result: matched, created a job, met an equal one, or
    failed, and why."""
    return await render.event(engine, await engine.events.get(id, caller.scope))


@routes.post("/{id}/replay", "events.emit", "Event", status_code=201, summary="Replay an event")
async def replay(caller: CurrentCaller, engine: ReadyEngine, id: Id) -> dict[str, Any]:
    return await render.event(
        engine, await engine.events.replay(id, caller.scope, created_by=caller.name)
    )
