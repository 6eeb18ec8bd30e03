"""`/setup`: the first administrator of a new installation, by a one-time link that a server prints."""

from typing import Any

from fastapi import APIRouter, Request, Response

from windlass.api.access.callers import ReadyEngine, open_access
from windlass.api.access.login import client_address, set_session_cookie, user_agent_of
from windlass.api.http_routes import PROBLEMS, SafeRoute, as_dependency
from windlass.api.middleware.browser_security import check_same_site
from windlass.api.middleware.rate_limit import Counted
from windlass.api.routing import NO_RIGHT, PREFIX, RIGHT
from windlass.api.schema import responses
from windlass.api.schema.requests import Setup

router = APIRouter(route_class=SafeRoute, prefix=PREFIX, tags=["setup"], responses=PROBLEMS)

_OPEN = {RIGHT: NO_RIGHT}
_COUNTED = as_dependency(Counted)


@router.get(
    "/setup",
    summary="Check if a first administrator is needed",
    openapi_extra=_OPEN,
    dependencies=[_COUNTED],
    response_model=None,
    responses={200: {"model": responses.SetupStatus}},
)
async def get(request: Request, engine: ReadyEngine) -> dict[str, Any]:
    """True until an administrator has signed in. A server without authentication needs none."""
    without = request.app.state.authenticate is open_access
    return {"needed": not without and not await engine.users.administered()}


@router.post(
    "/setup",
    summary="Create the first administrator",
    openapi_extra=_OPEN,
    dependencies=[_COUNTED],
    response_model=None,
    responses={200: {"model": responses.SignedIn}},
)
async def complete(
    request: Request, response: Response, engine: ReadyEngine, body: Setup
) -> dict[str, Any]:
    """Needs the key that `windlass serve` prints, and works once; then signs in. A password that is
    too short does not use up the key."""
    check_same_site(request)
    user = await engine.users.complete_setup(
        body.key, body.name, body.password, request_id=request.state.request_id
    )
    signed_in = await engine.sessions.begin(
        user, address=client_address(request), note=user_agent_of(request)
    )
    return set_session_cookie(request, response, signed_in)
