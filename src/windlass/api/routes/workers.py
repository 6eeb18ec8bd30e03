"""`/workers`: who runs jobs."""

from typing import Any

from windlass.api import shown
from windlass.api.callers import Ready
from windlass.api.routing import Routes
from windlass.core import wire
from windlass.engine.workers import liveness

routes = Routes("workers")


@routes.get("", "workers.read", shown.listed(shown.Worker), summary="List workers")
async def find(engine: Ready) -> dict[str, Any]:
    """With how long ago each was seen, and whether that is too long."""
    found = await engine.workers.list()
    return {"items": [{**wire.worker(each), "liveness": liveness(each)} for each in found]}
