"""Authentication by what a request carries: a bearer token, or a session's cookie."""

from fastapi import Request

from windlass.api.callers import NO_RIGHT, NOWHERE, RIGHT, Caller
from windlass.core.access import Reach, Right, Table, reach_of, scope_of
from windlass.core.accounts import COOKIE
from windlass.core.models import Scope
from windlass.core.principal import Principal
from windlass.engine.engine import Engine
from windlass.errors import Forbidden, NotAuthenticated, TenantNeeded

_READS = frozenset({"GET", "HEAD", "OPTIONS"})


async def by_credentials(request: Request) -> Caller:
    """Who sent a request; its scope comes from the credential alone."""
    engine: Engine = await request.app.state.windlass.ready()
    return speaking_for(request, await _principal(engine, request))


def speaking_for(request: Request, principal: Principal) -> Caller:
    """What somebody may do with a request, by the app's table of roles. For an authenticator of
    one's own, which knows people by other means."""
    request.state.principal = principal
    table: Table = request.app.state.windlass.roles
    described = getattr(request.scope.get("route"), "openapi_extra", None) or {}
    needed = described.get(RIGHT, "")
    scope = _scope(principal, request.query_params.get("tenant"), needed)
    rights = {
        right: reach
        for right in Right
        if (reach := reach_of(principal, right, scope.tenant, table)) is not None
    }
    is_own = rights.get(needed) is Reach.OWN
    return Caller(
        principal.actor,
        scope,
        frozenset(map(str, rights)),
        owner=principal.actor if is_own else None,
        reads_all=rights.get(Right.JOBS_READ) in (Reach.TENANT, Reach.ALL),
        principal=principal,
    )


def _scope(principal: Principal, asked: str | None, right: str) -> Scope:
    try:
        return scope_of(principal, asked)
    except (TenantNeeded, Forbidden):
        if right != NO_RIGHT:
            raise
        return NOWHERE  # to be told who one is, no tenant has to be named


async def _principal(engine: Engine, request: Request) -> Principal:
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer" and token:
        return await engine.access.by_token(token.strip())
    secret = request.cookies.get(COOKIE)
    if not secret:
        raise NotAuthenticated
    principal = await engine.access.by_session(secret)
    request.state.principal = principal  # if it is refused, the audit names who was misused
    if request.method not in _READS:
        check_same_site(request)
    return principal


def check_same_site(request: Request) -> None:
    """Refuse what another site made a browser send."""
    origin = request.headers.get("origin")
    said = request.headers.get("sec-fetch-site")
    if said in ("same-origin", "none"):
        return
    if origin is not None and origin.partition("://")[2] == request.headers.get("host"):
        return
    raise Forbidden("anything", because="the request does not come from this site")
