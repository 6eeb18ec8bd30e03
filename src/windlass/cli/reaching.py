"""Which API a command asks: a server's, or one made in this process on the database itself."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import httpx2

from windlass.api.app import create_api
from windlass.api.callers import Caller
from windlass.api.credentials import COOKIE
from windlass.api.cursors import Cursors
from windlass.api.limits import Limits
from windlass.app import Windlass
from windlass.cli.client import Client
from windlass.cli.server import At
from windlass.core.models import ALL_TENANTS
from windlass.telemetry import Telemetry
from windlass.upkeep.operating import Operating

#: Whoever has the database in hand needs no seal on what they are shown.
_SEAL = b"windlass"


class Unheard(Telemetry):
    """For a command that asks one thing: what a worker logs about its database is not for it."""

    def note(self, event: str, **about: object) -> None:
        """Not told."""

    def warn(self, event: str, **about: object) -> None:
        """Not told."""


@asynccontextmanager
async def far(at: At, tenant: str | None) -> AsyncIterator[Client]:
    """The API of a server."""
    headers = {"authorization": f"Bearer {at.token}"} if at.token else {}
    cookies = {}
    if at.session and not at.token:
        # What a server's own page says: a session is refused to the pages of others.
        headers, cookies = {"origin": at.origin}, {COOKIE: at.session}
    async with httpx2.AsyncClient(
        base_url=at.url, headers=headers, cookies=cookies, timeout=30
    ) as http:
        yield Client(http, tenant=tenant)


async def session_of(at: At, name: str, password: str) -> str | None:
    """The session that a name and a password open on a server."""
    async with httpx2.AsyncClient(
        base_url=at.url, headers={"origin": at.origin}, timeout=30
    ) as http:
        await Client(http).post("/login", {"name": name, "password": password})
        return http.cookies.get(COOKIE)


@asynccontextmanager
async def near(app: Windlass, who: str | None, tenant: str | None) -> AsyncIterator[Client]:
    """The API of an app in this process, for whoever has its database in hand."""

    async def caller(request: object) -> Caller:
        return Caller(who, ALL_TENANTS)

    async def learn(modules: Sequence[str]) -> None:
        from windlass.cli import loading

        await loading.learn(app, loading.load_apps(modules))

    @asynccontextmanager
    async def operating() -> AsyncIterator[None]:
        """Work on bulk operations: nobody else may be there to do it."""
        work = Operating(await app.ready())
        work.start()
        try:
            yield
        finally:
            await work.stop()

    api = create_api(app, authenticate=caller)
    api.state.cursors, api.state.limits = Cursors(_SEAL), Limits(None)
    transport = httpx2.ASGITransport(api)
    async with httpx2.AsyncClient(transport=transport, base_url="http://windlass") as http:
        yield Client(http, tenant=tenant, learn=learn, operating=operating)
