"""`/login`, `/logout`, `/whoami`: people's sessions, by a cookie that no script reads."""

from typing import Annotated, Any

from fastapi import APIRouter, Cookie, Request, Response

from windlass.api.callers import RIGHT, Calling, Ready
from windlass.api.credentials import COOKIE, check_same_site
from windlass.api.routing import PROBLEMS
from windlass.api.shapes import Login

router = APIRouter(tags=["login"], responses=PROBLEMS)

#: What stands in place of a right where none is needed.
_OPEN = {RIGHT: "none"}


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


@router.get("/whoami", summary="Who am I?", openapi_extra=_OPEN)
async def whoami(caller: Calling) -> dict[str, Any]:
    """Whoever the credential of this request belongs to, and what they may do."""
    return {
        "name": caller.known_as.name,
        "tenant_id": caller.scope.tenant,
        "rights": None if caller.rights is None else sorted(caller.rights),
    }
