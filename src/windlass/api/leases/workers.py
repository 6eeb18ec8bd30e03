"""`/workers`: the processes that run jobs, and operators' orders to them."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

from windlass.api.access.callers import Caller, CurrentCaller, ReadyEngine
from windlass.api.routing import Path, Routes, listed
from windlass.api.schema import render
from windlass.core.jobs.models import WorkerRow
from windlass.ids import WorkerId

if TYPE_CHECKING:
    from windlass.engine.engine import Engine
    from windlass.engine.leases.workers import RunningJob

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
async def find(caller: CurrentCaller, engine: ReadyEngine) -> dict[str, Any]:
    """Includes the time since each was last seen, and the jobs it runs that the caller may see, up
    to 50 each. A worker is stale after two missed heartbeats, lost after a lease time."""
    workers = await engine.workers.list()
    jobs = await _running_jobs(caller, engine)
    return {"items": [render.worker(engine, each, jobs.get(each.id, ())) for each in workers]}


@routes.get("/{id:path}", "workers.read", "Worker", summary="Get a worker")
async def get(caller: CurrentCaller, engine: ReadyEngine, id: Id) -> dict[str, Any]:
    return await _shown(caller, engine, await engine.workers.get(id))


@routes.post("/{id:path}/drain", "workers.write", "Worker", summary="Drain a worker")
async def drain(caller: CurrentCaller, engine: ReadyEngine, id: Id) -> dict[str, Any]:
    """The worker claims no more; running jobs continue and the process stays. It receives an order
    with its next heartbeat, after a third of its lease or sooner; `doing` is its current state."""
    return await _shown(caller, engine, await engine.workers.drain(id, actor=caller.name))


@routes.post("/{id:path}/resume", "workers.write", "Worker", summary="Resume a worker")
async def resume(caller: CurrentCaller, engine: ReadyEngine, id: Id) -> dict[str, Any]:
    return await _shown(caller, engine, await engine.workers.resume(id, actor=caller.name))


@routes.post("/{id:path}/stop", "workers.write", "Worker", summary="Stop a worker")
async def stop(caller: CurrentCaller, engine: ReadyEngine, id: Id) -> dict[str, Any]:
    """Like a signal: running jobs may finish within worker.shutdown_timeout_seconds, the rest are
    released. The worker then leaves the list. A stop cannot be revoked."""
    return await _shown(caller, engine, await engine.workers.stop(id, actor=caller.name))


async def _shown(caller: Caller, engine: "Engine", worker: WorkerRow) -> dict[str, Any]:
    jobs = await _running_jobs(caller, engine, worker.id)
    return render.worker(engine, worker, jobs.get(worker.id, ()))


async def _running_jobs(
    caller: Caller, engine: "Engine", worker: WorkerId | None = None
) -> "Mapping[WorkerId, Sequence[RunningJob]]":
    """Running jobs that the caller may see, by worker."""
    if not caller.may("jobs.read"):
        return {}
    own = None if caller.owner is None and caller.reads_all else caller.name
    return await engine.workers.running_jobs(worker, created_by=own, scope=caller.scope)
