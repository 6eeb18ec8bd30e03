"""`/healthz`: the process is alive. `/readyz`: its database is reachable and migrated, and it is
not shutting down."""

from typing import Any

from fastapi import APIRouter, Request

from windlass import clock
from windlass.api.access.callers import ReadyEngine
from windlass.api.http_routes import PROBLEMS, SafeRoute
from windlass.api.schema import responses
from windlass.errors import ServerDraining

#: Least time between two database checks, because these routes have no rate limit.
_READY_SECONDS = 1.0

router = APIRouter(route_class=SafeRoute, tags=["health"], responses=PROBLEMS)


_OK: dict[int | str, dict[str, Any]] = {200: {"model": responses.HealthStatus}}


@router.get(
    "/healthz", summary="Check that the process is alive", response_model=None, responses=_OK
)
async def healthz(request: Request) -> dict[str, str]:
    return {"status": "ok"}


@router.get("/readyz", summary="Check that the server is ready", response_model=None, responses=_OK)
async def readyz(request: Request, engine: ReadyEngine) -> dict[str, str]:
    state = request.app.state
    if getattr(state, "draining", False):
        raise ServerDraining
    if clock.monotonic() >= getattr(state, "ready_until", 0.0):
        await engine.now()
        state.ready_until = clock.monotonic() + _READY_SECONDS
    return {"status": "ok"}
