"""The API made in this process, on the database itself."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import httpx2
from fastapi import FastAPI
from starlette.routing import BaseRoute

from windlass.api.access.callers import Caller
from windlass.api.base_app import base_api
from windlass.api.middleware.rate_limit import RateLimiter
from windlass.api.route_modules import NOUNS, routes_of
from windlass.api.routing import PREFIX
from windlass.api.schema.cursors import Cursors
from windlass.app.windlass import Windlass
from windlass.cli.connect.api_client import Client
from windlass.core.jobs.models import ALL_TENANTS
from windlass.upkeep.bulk_operations import OperationRunner

#: Whoever has the database in hand needs no seal on what they are shown.
_SEAL = b"windlass"


@asynccontextmanager
async def near(app: Windlass, who: str | None, tenant: str | None) -> AsyncIterator[Client]:
    """The API of an app in this process, for whoever has its database in hand."""

    async def caller(request: object) -> Caller:
        return Caller(who, ALL_TENANTS)

    async def learn(modules: Sequence[str]) -> None:
        from windlass.cli.run import load_modules

        await load_modules.learn(app, load_modules.load_apps(modules))

    @asynccontextmanager
    async def operating() -> AsyncIterator[None]:
        """Work on bulk operations: nobody else may be there to do it."""
        work = OperationRunner(await app.ready())
        work.start()
        try:
            yield
        finally:
            await work.stop()

    api = base_api(app, authenticate=caller)
    api.state.cursors, api.state.limits = Cursors(_SEAL), RateLimiter(None)
    async with httpx2.AsyncClient(
        transport=_LazyRoutesTransport(api), base_url="http://windlass"
    ) as http:
        yield Client(http, tenant=tenant, learn=learn, operating=operating)


class _LazyRoutesTransport(httpx2.ASGITransport):
    """Makes the routes of a noun when it is first asked for: a command needs one or two of them,
    and all of them take longer than what it does."""

    def __init__(self, api: FastAPI) -> None:
        super().__init__(api)
        self._api = api
        self._made: set[str] = set()

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        noun = request.url.path.removeprefix(f"{PREFIX}/").partition("/")[0]
        if noun not in self._made:
            self._made.add(noun)
            self._api.router.routes.extend(_routes_of(noun))
        return await super().handle_async_request(request)


def _routes_of(noun: str) -> Sequence[BaseRoute]:
    if noun in NOUNS:
        return routes_of(noun)
    from windlass.api.access import login  # what is no noun is about whoever asks

    return login.router.routes
