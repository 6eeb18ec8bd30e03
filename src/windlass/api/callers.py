"""Who asks, and whose data they may touch."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Query, Request

from windlass.core.models import ALL_TENANTS, DEFAULT_TENANT, Scope
from windlass.engine.engine import Engine
from windlass.errors import Forbidden


@dataclass(frozen=True, slots=True)
class Caller:
    """Somebody who is known: by what name their deeds are recorded, and what they may do."""

    name: str | None
    scope: Scope
    rights: frozenset[str] | None = None  # None means all

    def may(self, right: str) -> bool:
        return self.rights is None or right in self.rights

    @property
    def tenant(self) -> str:
        """The tenant of what they make, unless they name another."""
        return self.scope.tenant or DEFAULT_TENANT


#: Whoever may reach a server without authentication: it listens on loopback only.
ANYBODY = Caller(None, ALL_TENANTS)

#: Tells who sent a request; raises NotAuthenticated.
Authenticate = Callable[[Request], Awaitable[Caller]]


async def anybody(request: Request) -> Caller:
    """The authenticator of a server that has none."""
    return ANYBODY


async def caller_of(
    request: Request,
    tenant: Annotated[
        str | None, Query(description="Only this tenant's data.", max_length=191)
    ] = None,
) -> Caller:
    """Whoever sent a request, seeing only `tenant` if they name one."""
    known: Caller = await request.app.state.authenticate(request)
    if tenant is None or tenant == known.scope.tenant:
        return known
    if known.scope.tenant is not None:
        raise Forbidden("tenants.read")
    return Caller(known.name, Scope.of(tenant), known.rights)


def needs(right: str) -> Callable[..., Awaitable[None]]:
    """The dependency that refuses whoever has not this right."""

    async def check(caller: Calling) -> None:
        if not caller.may(right):
            raise Forbidden(right)

    return check


async def _engine(request: Request) -> Engine:
    engine: Engine = await request.app.state.windlass.ready()
    return engine


Calling = Annotated[Caller, Depends(caller_of)]
Ready = Annotated[Engine, Depends(_engine)]
