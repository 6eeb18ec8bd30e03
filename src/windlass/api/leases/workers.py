"""`/workers`: who runs jobs, and what is wanted of them."""

from typing import Annotated, Any

from windlass.api.access.callers import CurrentCaller, ReadyEngine
from windlass.api.routing import Path, Routes, listed
from windlass.api.schema import render

routes = Routes("workers")

#: A remote worker's id has its credential's name before a slash.
Id = Annotated[
    str,
    Path(
        description="A worker's id, or its last six or more characters.",
        max_length=255,
    ),
]


@routes.get("", "workers.read", listed("Worker"), summary="List workers")
async def find(engine: ReadyEngine) -> dict[str, Any]:
    """With how long ago each was seen. It is stale after two missed beats, lost after a lease."""
    return {"items": [render.worker(worker) for worker in await engine.workers.list()]}


@routes.get("/{id:path}", "workers.read", "Worker", summary="One worker")
async def get(engine: ReadyEngine, id: Id) -> dict[str, Any]:
    return render.worker(await engine.workers.get(id))


@routes.post("/{id:path}/drain", "workers.write", "Worker", summary="Let it claim no more")
async def drain(caller: CurrentCaller, engine: ReadyEngine, id: Id) -> dict[str, Any]:
    """What it runs goes on, and it stays. It hears of an order with its next beat, a third of its
    lease, or sooner; `doing` tells what it does by now."""
    return render.worker(await engine.workers.drain(id, actor=caller.name))


@routes.post("/{id:path}/resume", "workers.write", "Worker", summary="Let it claim again")
async def resume(caller: CurrentCaller, engine: ReadyEngine, id: Id) -> dict[str, Any]:
    return render.worker(await engine.workers.resume(id, actor=caller.name))


@routes.post("/{id:path}/stop", "workers.write", "Worker", summary="End it")
async def stop(caller: CurrentCaller, engine: ReadyEngine, id: Id) -> dict[str, Any]:
    """As a signal would: what runs may finish for worker.shutdown_timeout_seconds, the rest is handed
    back. It is gone from the list then. A stop is not taken back."""
    return render.worker(await engine.workers.stop(id, actor=caller.name))
