"""`/login`, `/logout`, `/whoami`: people's sessions, by a cookie that no script reads."""

from typing import Annotated, Any

from fastapi import APIRouter, Cookie, Request, Response

from windlass.api import shown
from windlass.api.callers import NO_RIGHT, NOWHERE, RIGHT, Calling, Ready
from windlass.api.credentials import COOKIE, check_same_site
from windlass.api.routing import PROBLEMS
from windlass.api.shapes import Login
from windlass.core.access import Right, reach_by

router = APIRouter(tags=["login"], responses=PROBLEMS)

_OPEN = {RIGHT: NO_RIGHT}


@router.post("/login", summary="Sign in", openapi_extra=_OPEN)
async def login(request: Request, response: Response, engine: Ready, body: Login) -> dict[str, Any]:
    """By name and password; the session is a cookie."""
    check_same_site(request)
    address = request.client.host if request.client else None
    note = request.headers.get("user-agent", "")[:200]
    signed_in = await engine.sessions.login(body.name, body.password, address=address, note=note)
    response.set_cookie(
        COOKIE,
        signed_in.secret,
        httponly=True,
        samesite="lax",
        secure=request.url.scheme == "https",
        path="/",
    )
    return {"name": signed_in.principal.name}


@router.post("/logout", summary="Sign out", status_code=204, openapi_extra=_OPEN)
async def logout(
    request: Request,
    response: Response,
    engine: Ready,
    windlass_session: Annotated[str | None, Cookie()] = None,
) -> None:
    check_same_site(request)
    if windlass_session:
        await engine.sessions.logout(windlass_session)
    response.delete_cookie(COOKIE, path="/")


@router.get(
    "/whoami",
    summary="Who am I?",
    openapi_extra=_OPEN,
    response_model=None,
    responses={200: {"model": shown.Me}},
)
async def whoami(caller: Calling, engine: Ready) -> dict[str, Any]:
    """Whoever the credential of this request belongs to, in which tenants, and what they may do.
    `rights` null means everything, as on a server without authentication."""
    who, table = caller.known_as, engine.access.table
    return {
        "name": who.name,
        "kind": who.kind,
        "id": None if who.id is None else str(who.id),
        "tenant_id": None if caller.scope == NOWHERE else caller.scope.tenant,
        "rights": None if caller.rights is None else sorted(caller.rights),
        "memberships": [
            {
                "tenant_id": each.tenant,
                "role": each.role,
                "permissions": sorted(each.permissions),
                "rights": [
                    right
                    for right in Right
                    if reach_by(each, right, each.tenant, table) is not None
                    and (who.rights is None or right in who.rights)
                ],
            }
            for each in who.memberships
        ],
    }
