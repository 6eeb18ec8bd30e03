"""`/login`, `/logout`, `/password`, `/invitations`, `/sessions`, `/whoami`: people's own affairs, by a session's cookie."""

from typing import Any
from uuid import UUID

from fastapi import APIRouter, Request, Response

from windlass.api.access.callers import NO_RIGHT, NOWHERE, RIGHT, Calling, Ready
from windlass.api.middleware.browser_security import (
    check_same_site,
    clear_session,
    session_secret,
    set_session,
)
from windlass.api.middleware.rate_limit import Counted
from windlass.api.routing import PREFIX, PROBLEMS, SafeRoute
from windlass.api.schema import responses
from windlass.api.schema.requests import ByLink, Login, PasswordByLink, PasswordChange
from windlass.core.access.roles import Right, reach_by
from windlass.core.wire import fields_of
from windlass.engine.access.sessions import SignedIn
from windlass.ids import SessionId

router = APIRouter(route_class=SafeRoute, prefix=PREFIX, tags=["account"], responses=PROBLEMS)

_OPEN = {RIGHT: NO_RIGHT}
_SIGNED_IN: dict[int | str, dict[str, Any]] = {200: {"model": responses.SignedIn}}


@router.post(
    "/login",
    summary="Sign in",
    openapi_extra=_OPEN,
    dependencies=[Counted],
    response_model=None,
    responses=_SIGNED_IN,
)
async def login(request: Request, response: Response, engine: Ready, body: Login) -> dict[str, Any]:
    """By name and password; the session is a cookie."""
    check_same_site(request)
    signed_in = await engine.sessions.login(
        body.name, body.password, address=address_of(request), note=note_of(request)
    )
    return give_session(request, response, signed_in)


@router.post(
    "/login/link",
    summary="Sign in by a link",
    openapi_extra=_OPEN,
    dependencies=[Counted],
    response_model=None,
    responses=_SIGNED_IN,
)
async def login_by_link(
    request: Request, response: Response, engine: Ready, body: ByLink
) -> dict[str, Any]:
    """A link works once. A browser that opens it gets a page with a button first."""
    check_same_site(request)
    signed_in = await engine.sessions.by_link(
        body.link, address=address_of(request), note=note_of(request)
    )
    return give_session(request, response, signed_in)


@router.post(
    "/login/password",
    summary="Set a password by a link",
    openapi_extra=_OPEN,
    dependencies=[Counted],
    response_model=None,
    responses=_SIGNED_IN,
)
async def set_password(
    request: Request, response: Response, engine: Ready, body: PasswordByLink
) -> dict[str, Any]:
    """And sign in. All other sessions of the user end; a password that is too short does not use
    the link up."""
    check_same_site(request)
    signed_in = await engine.sessions.set_password(
        body.link, body.password, address=address_of(request), note=note_of(request)
    )
    return give_session(request, response, signed_in)


@router.post(
    "/login/invitation",
    summary="Accept an invitation as somebody new",
    openapi_extra=_OPEN,
    dependencies=[Counted],
    response_model=None,
    responses=_SIGNED_IN,
)
async def accept_invitation_as_new(
    request: Request, response: Response, engine: Ready, body: PasswordByLink
) -> dict[str, Any]:
    """Makes the account of the invited name with this password, and signs in. Refused if there is
    one: its owner signs in and accepts by `/invitations/accept`."""
    check_same_site(request)
    signed_in = await engine.invitations.accept_as_new(
        body.link,
        body.password,
        address=address_of(request),
        note=note_of(request),
        request_id=request.state.request_id,
    )
    return give_session(request, response, signed_in)


@router.post(
    "/invitations/accept",
    summary="Accept an invitation",
    openapi_extra=_OPEN,
    response_model=None,
    responses={200: {"model": responses.Accepted}},
)
async def accept_invitation(
    request: Request,
    caller: Calling,
    engine: Ready,
    body: ByLink,
) -> dict[str, Any]:
    """By its link, signed in as the name that was invited. Your other sessions and all links to
    your account end."""
    accepted = await engine.invitations.accept(
        caller.known_as,
        body.link,
        keep=session_secret(request),
        request_id=request.state.request_id,
    )
    return {"name": accepted.name, "tenant_id": accepted.tenant, "role": accepted.role}


@router.post("/password", summary="Change your password", status_code=204, openapi_extra=_OPEN)
async def change_password(
    request: Request,
    caller: Calling,
    engine: Ready,
    body: PasswordChange,
) -> None:
    """Knowing the one before. All sessions end but this one."""
    await engine.sessions.change_password(
        caller.known_as,
        body.before,
        body.after,
        keep=session_secret(request),
        request_id=request.state.request_id,
    )


@router.get(
    "/sessions",
    summary="Your sessions",
    openapi_extra=_OPEN,
    response_model=None,
    responses={200: {"model": responses.listed(responses.Session)}},
)
async def list_sessions(caller: Calling, engine: Ready) -> dict[str, Any]:
    """Those that last, newest first, with the browser each was begun by."""
    found = await engine.sessions.list(caller.known_as)
    return {"items": [fields_of(each) for each in found]}


@router.delete("/sessions", summary="Sign out everywhere", status_code=204, openapi_extra=_OPEN)
async def end_sessions(request: Request, caller: Calling, engine: Ready) -> None:
    """Ends all your sessions, this one too."""
    await engine.sessions.revoke_all(caller.known_as, request_id=request.state.request_id)


@router.delete("/sessions/{id}", summary="End one", status_code=204, openapi_extra=_OPEN)
async def end_session(request: Request, caller: Calling, engine: Ready, id: UUID) -> None:
    await engine.sessions.revoke(
        caller.known_as, SessionId(id), request_id=request.state.request_id
    )


@router.post(
    "/logout", summary="Sign out", status_code=204, openapi_extra=_OPEN, dependencies=[Counted]
)
async def logout(request: Request, response: Response, engine: Ready) -> None:
    check_same_site(request)
    if secret := session_secret(request):
        await engine.sessions.logout(secret)
    clear_session(response)


@router.get(
    "/whoami",
    summary="Who am I?",
    openapi_extra=_OPEN,
    response_model=None,
    responses={200: {"model": responses.Me}},
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


def address_of(request: Request) -> str | None:
    """The address that a request came from; None if the server does not know it."""
    return request.client.host if request.client else None


def note_of(request: Request) -> str:
    """Which browser it is, for people who look at their sessions."""
    return request.headers.get("user-agent", "")[:200]


def give_session(request: Request, response: Response, signed_in: SignedIn) -> dict[str, Any]:
    """Put a session into the response's cookie."""
    set_session(request, response, signed_in.secret)
    return {"name": signed_in.principal.name}
