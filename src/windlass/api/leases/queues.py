"""`/queues`: pause, resume, limit."""

from typing import TYPE_CHECKING, Annotated, Any

from windlass.api.access.callers import CurrentCaller, ReadyEngine
from windlass.api.routing import Path, Routes, paged
from windlass.api.schema.paging import PageQuery
from windlass.core import wire

if TYPE_CHECKING:
    from windlass.api.schema.requests import QueueLimit, Reason

routes = Routes("queues")

Name = Annotated[str, Path(min_length=1, max_length=191)]


@routes.get("", "queues.read", paged("Queue"), summary="List queues")
async def find(caller: CurrentCaller, engine: ReadyEngine, paging: PageQuery) -> dict[str, Any]:
    page = paging.cut(await engine.queues.list(caller.scope), lambda queue: queue.name)
    return {**page, "items": [wire.queue(each) for each in page["items"]]}


@routes.get("/{name}", "queues.read", "Queue", summary="Get a queue")
async def get(caller: CurrentCaller, engine: ReadyEngine, name: Name) -> dict[str, Any]:
    return wire.queue(await engine.queues.get(name, caller.scope))


@routes.patch("/{name}", "queues.write", "Queue", summary="Limit a queue")
async def limit(
    caller: CurrentCaller, engine: ReadyEngine, name: Name, body: "QueueLimit"
) -> dict[str, Any]:
    await engine.queues.limit(name, body.max_concurrency)
    return wire.queue(await engine.queues.get(name, caller.scope))


@routes.post("/{name}/pause", "queues.pause", "Queue", summary="Pause a queue")
async def pause(
    caller: CurrentCaller, engine: ReadyEngine, name: Name, body: "Reason | None" = None
) -> dict[str, Any]:
    """Stops claims; running jobs continue."""
    await engine.queues.pause(name, reason=body.reason if body else None, actor=caller.name)
    return wire.queue(await engine.queues.get(name, caller.scope))


@routes.post("/{name}/resume", "queues.pause", "Queue", summary="Resume a queue")
async def resume(caller: CurrentCaller, engine: ReadyEngine, name: Name) -> dict[str, Any]:
    await engine.queues.resume(name)
    return wire.queue(await engine.queues.get(name, caller.scope))
