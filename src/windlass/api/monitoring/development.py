"""`/dev`: why the last save could not be loaded, under `windlass dev`."""

from dataclasses import dataclass
from typing import Any

from windlass.api.access.callers import CurrentCaller
from windlass.api.routing import Request, Routes

routes = Routes("dev")


@dataclass(slots=True)
class Development:
    """State of `windlass dev`, which sets it on its API as `app.state.development`."""

    #: Of the last import that failed, until one succeeds: message and traceback.
    error: dict[str, str] | None = None


@routes.get("", "settings.read", "DevelopmentState", summary="Get the last import error", own=True)
async def get(request: Request, caller: CurrentCaller) -> dict[str, Any]:
    """Only `windlass dev` reloads code: elsewhere, and for callers bound to a tenant, `error` is
    null."""
    state = getattr(request.app.state, "development", None)
    return {"error": state.error if state is not None and caller.reaches_all else None}
