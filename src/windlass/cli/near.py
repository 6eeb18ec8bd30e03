"""The API made in this process, on the database itself."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import httpx2

from windlass.api.app import create_api
from windlass.api.callers import Caller
from windlass.api.cursors import Cursors
from windlass.api.limits import Limits
from windlass.app import Windlass
from windlass.cli.client import Client
from windlass.core.models import ALL_TENANTS
from windlass.upkeep.operating import Operating

#: Whoever has the database in hand needs no seal on what they are shown.
_SEAL = b"windlass"


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
