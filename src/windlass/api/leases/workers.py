"""`/workers`: the processes that run jobs, and operators' orders to them."""

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
    """Includes the time since each was last seen. A worker is stale after two missed heartbeats,
    lost after a lease time."""
    return {"items": [render.worker(worker) for worker in await engine.workers.list()]}


@routes.get("/{id:path}", "workers.read", "Worker", summary="Get a worker")
async def get(engine: ReadyEngine, id: Id) -> dict[str, Any]:
    return render.worker(await engine.workers.get(id))


@routes.post("/{id:path}/drain", "workers.write", "Worker", summary="Drain a worker")
async def drain(caller: CurrentCaller, engine: ReadyEngine, id: Id) -> dict[str, Any]:
    """The worker claims no more; running jobs continue and the process stays. It receives an order
    with its next heartbeat, after a third of its lease or sooner; `doing` is its current state."""
    return render.worker(await engine.workers.drain(id, actor=caller.name))


@routes.post("/{id:path}/resume", "workers.write", "Worker", summary="Resume a worker")
async def resume(caller: CurrentCaller, engine: ReadyEngine, id: Id) -> dict[str, Any]:
    return render.worker(await engine.workers.resume(id, actor=caller.name))


@routes.post("/{id:path}/stop", "workers.write", "Worker", summary="Stop a worker")
async def stop(caller: CurrentCaller, engine: ReadyEngine, id: Id) -> dict[str, Any]:
    """Like a signal: running jobs may finish within worker.shutdown_timeout_seconds, the rest are
    released. The worker then leaves the list. A stop cannot be revoked."""
    return render.worker(await engine.workers.stop(id, actor=caller.name))
