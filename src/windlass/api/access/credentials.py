"""Authentication by bearer token or session cookie."""

from fastapi import Request

from windlass.api.access.callers import NOWHERE, Caller, ready_engine
from windlass.api.middleware.browser_security import session_secret
from windlass.api.routing import NO_RIGHT, RIGHT
from windlass.core.access.principal import Principal
from windlass.core.access.roles import Reach, Right, RoleTable, reach_of, scope_of
from windlass.core.jobs.models import Scope
from windlass.errors import Forbidden, NotAuthenticated, TenantNeeded


async def by_credentials(request: Request) -> Caller:
    """Authenticate a request; the scope comes from the credential alone."""
    return speaking_for(request, await find_principal(request))


def speaking_for(request: Request, principal: Principal) -> Caller:
    """Build the caller for a principal, with its rights by the app's role table. For custom
    authenticators, which identify people by other means."""
    request.state.principal = principal
    table: RoleTable = request.app.state.windlass.roles
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


def _scope(principal: Principal, requested: str | None, right: str) -> Scope:
    try:
        return scope_of(principal, requested)
    except (TenantNeeded, Forbidden):
        if right != NO_RIGHT:
            raise
        return NOWHERE  # whoami needs no tenant


async def find_principal(request: Request) -> Principal:
    """Return the owner of a request's bearer token, else of its session."""
    engine = await ready_engine(request)
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer" and token:
        return await engine.access.authenticate_token(token.strip())
    secret = session_secret(request)
    if secret is None:
        raise NotAuthenticated
    return await engine.access.authenticate_session(secret)
