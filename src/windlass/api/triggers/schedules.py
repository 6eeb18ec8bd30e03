"""`/schedules`: triggers by time."""

from typing import Any

from windlass.api.access.callers import CurrentCaller, ReadyEngine
from windlass.api.triggers.triggers import Id, routes_for
from windlass.core import wire

routes = routes_for("schedules")


@routes.post("/{id}/run", "triggers.fire", "Receipt", status_code=201, summary="Run a schedule now")
async def run(caller: CurrentCaller, engine: ReadyEngine, id: Id) -> dict[str, Any]:
    receipt = await engine.triggers.run(id, caller.scope, created_by=caller.name, by=caller.by)
    return wire.receipt(receipt)
