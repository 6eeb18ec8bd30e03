"""`/workers`: who runs jobs."""

from typing import Annotated, Any

from fastapi import Path

from windlass.api import shown
from windlass.api.callers import Ready
from windlass.api.routing import Routes
from windlass.core import wire
from windlass.core.models import WorkerRow
from windlass.engine.workers import liveness

routes = Routes("workers")

Id = Annotated[
    str,
    Path(
        description="A worker's id, or its last six or more characters.",
        min_length=6,
        max_length=255,
    ),
]


@routes.get("", "workers.read", shown.listed(shown.Worker), summary="List workers")
async def find(engine: Ready) -> dict[str, Any]:
    """With how long ago each was seen. It is stale after two missed beats, lost after a lease."""
    return {"items": [_shown(worker) for worker in await engine.workers.list()]}


@routes.get("/{id}", "workers.read", shown.Worker, summary="One worker")
async def get(engine: Ready, id: Id) -> dict[str, Any]:
    return _shown(await engine.workers.get(id))


def _shown(worker: WorkerRow) -> dict[str, Any]:
    lives = liveness(worker)
    return {**wire.worker(worker), "liveness": lives, "stale": lives != "live"}
