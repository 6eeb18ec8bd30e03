"""`/healthz`: the process lives. `/readyz`: it can answer, its database is there and migrated."""

from fastapi import APIRouter, Request

from windlass.api.callers import Ready
from windlass.api.routing import PROBLEMS, SafeRoute

router = APIRouter(route_class=SafeRoute, tags=["health"], responses=PROBLEMS)


@router.get("/healthz", summary="Is the process alive?")
async def healthz(request: Request) -> dict[str, str]:
    return {"status": "ok"}


@router.get("/readyz", summary="Can it answer?")
async def readyz(engine: Ready) -> dict[str, str]:
    await engine.now()
    return {"status": "ok"}
