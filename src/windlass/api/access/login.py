"""`/login`, `/logout`, `/password`, `/invitations`, `/sessions`: self-service by session cookie."""

from typing import Any
from uuid import UUID

from fastapi import APIRouter, Request, Response

from windlass.api.access.callers import CurrentCaller, ReadyEngine
from windlass.api.http_routes import PROBLEMS, SafeRoute, as_dependency
from windlass.api.middleware.browser_security import (
    check_same_site,
    clear_session,
    session_secret,
    set_session,
)
from windlass.api.middleware.rate_limit import Counted
from windlass.api.routing import NO_RIGHT, PREFIX, RIGHT
from windlass.api.schema import responses
from windlass.api.schema.requests import LinkLogin, Login, PasswordByLink, PasswordChange
from windlass.core.wire import fields_of
from windlass.engine.access.sessions import NewSession
from windlass.ids import SessionId

router = APIRouter(route_class=SafeRoute, prefix=PREFIX, tags=["account"], responses=PROBLEMS)

_OPEN = {RIGHT: NO_RIGHT}
_COUNTED = as_dependency(Counted)
_SIGNED_IN: dict[int | str, dict[str, Any]] = {200: {"model": responses.SignedIn}}


@router.post(
    "/login",
    summary="Sign in",
    openapi_extra=_OPEN,
    dependencies=[_COUNTED],
    response_model=None,
    responses=_SIGNED_IN,
)
async def login(
    request: Request, response: Response, engine: ReadyEngine, body: Login
) -> dict[str, Any]:
    """Needs name and password; sets the session cookie."""
    check_same_site(request)
    signed_in = await engine.sessions.login(
        body.name, body.password, address=client_address(request), note=user_agent_of(request)
    )
    return set_session_cookie(request, response, signed_in)


@router.post(
    "/login/link",
    summary="Sign in by a link",
    openapi_extra=_OPEN,
    dependencies=[_COUNTED],
    response_model=None,
    responses=_SIGNED_IN,
)
async def login_by_link(
    request: Request, response: Response, engine: ReadyEngine, body: LinkLogin
) -> dict[str, Any]:
    """A link works once. Opening it in a browser shows a page with a button first."""
    check_same_site(request)
    signed_in = await engine.sessions.login_with_link(
        body.link, address=client_address(request), note=user_agent_of(request)
    )
    return set_session_cookie(request, response, signed_in)


@router.post(
    "/login/password",
    summary="Set a password by a link",
    openapi_extra=_OPEN,
    dependencies=[_COUNTED],
    response_model=None,
    responses=_SIGNED_IN,
)
async def set_password(
    request: Request, response: Response, engine: ReadyEngine, body: PasswordByLink
) -> dict[str, Any]:
    """Also signs in and ends the user's other sessions. A password that is too short does not use
    up the link."""
    check_same_site(request)
    signed_in = await engine.sessions.set_password(
        body.link, body.password, address=client_address(request), note=user_agent_of(request)
    )
    return set_session_cookie(request, response, signed_in)


@router.post(
    "/login/invitation",
    summary="Accept an invitation as a new user",
    openapi_extra=_OPEN,
    dependencies=[_COUNTED],
    response_model=None,
    responses=_SIGNED_IN,
)
async def accept_invitation_as_new_user(
    request: Request, response: Response, engine: ReadyEngine, body: PasswordByLink
) -> dict[str, Any]:
    """Creates the invited account with this password, and signs in. Refused if the account exists:
    its owner signs in and accepts by `/invitations/accept`."""
    check_same_site(request)
    signed_in = await engine.invitations.accept_as_new(
        body.link,
        body.password,
        address=client_address(request),
        note=user_agent_of(request),
        request_id=request.state.request_id,
    )
    return set_session_cookie(request, response, signed_in)


@router.post(
    "/invitations/accept",
    summary="Accept an invitation",
    openapi_extra=_OPEN,
    response_model=None,
    responses={200: {"model": responses.AcceptedRole}},
)
async def accept_invitation(
    request: Request,
    caller: CurrentCaller,
    engine: ReadyEngine,
    body: LinkLogin,
) -> dict[str, Any]:
    """Needs the link, and a session of the invited user. Ends your other sessions and all links to
    your account."""
    accepted = await engine.invitations.accept(
        caller.effective_principal,
        body.link,
        keep=session_secret(request),
        request_id=request.state.request_id,
    )
    return {"name": accepted.name, "tenant_id": accepted.tenant, "role": accepted.role}


@router.post("/password", summary="Change your password", status_code=204, openapi_extra=_OPEN)
async def change_password(
    request: Request,
    caller: CurrentCaller,
    engine: ReadyEngine,
    body: PasswordChange,
) -> None:
    """Needs the current password. Ends all other sessions."""
    await engine.sessions.change_password(
        caller.effective_principal,
        body.before,
        body.after,
        keep=session_secret(request),
        request_id=request.state.request_id,
    )


@router.get(
    "/sessions",
    summary="List your sessions",
    openapi_extra=_OPEN,
    response_model=None,
    responses={200: {"model": responses.listed(responses.Session)}},
)
async def list_sessions(caller: CurrentCaller, engine: ReadyEngine) -> dict[str, Any]:
    """Active sessions, newest first, each with the browser that started it."""
    sessions = await engine.sessions.list(caller.effective_principal)
    return {"items": [fields_of(each) for each in sessions]}


@router.delete("/sessions", summary="Sign out everywhere", status_code=204, openapi_extra=_OPEN)
async def end_sessions(request: Request, caller: CurrentCaller, engine: ReadyEngine) -> None:
    """Ends all your sessions, this one too."""
    await engine.sessions.revoke_all(
        caller.effective_principal, request_id=request.state.request_id
    )


@router.delete("/sessions/{id}", summary="End a session", status_code=204, openapi_extra=_OPEN)
async def end_session(
    request: Request, caller: CurrentCaller, engine: ReadyEngine, id: UUID
) -> None:
    await engine.sessions.revoke(
        caller.effective_principal, SessionId(id), request_id=request.state.request_id
    )


@router.post(
    "/logout", summary="Sign out", status_code=204, openapi_extra=_OPEN, dependencies=[_COUNTED]
)
async def logout(request: Request, response: Response, engine: ReadyEngine) -> None:
    check_same_site(request)
    if secret := session_secret(request):
        await engine.sessions.logout(secret)
    clear_session(response)


def client_address(request: Request) -> str | None:
    """The address a request came from; None if unknown."""
    return request.client.host if request.client else None


def user_agent_of(request: Request) -> str:
    """The browser's name, shown in the list of sessions."""
    return request.headers.get("user-agent", "")[:200]


def set_session_cookie(
    request: Request, response: Response, signed_in: NewSession
) -> dict[str, Any]:
    """Put a session into the response's cookie."""
    set_session(request, response, signed_in.secret)
    return {"name": signed_in.principal.name}
