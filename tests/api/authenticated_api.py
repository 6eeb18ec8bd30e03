"""An API that requires credentials, and callers who have some."""

import os
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
from fastapi import FastAPI

from windlass import Windlass
from windlass.api.access.credentials import by_credentials
from windlass.api.app import create_api
from windlass.api.middleware.rate_limit import RateLimiter
from windlass.core.access.principal import local

PUBLIC = {
    f"/api/v1/{path}"
    for path in ("login", "login/link", "login/password", "login/invitation", "logout", "setup")
}
#: A folder without a built dashboard, whatever the checkout has.
NO_DASHBOARD = Path(os.devnull)
#: What a browser says of a request that its own page makes.
HERE = {"origin": "http://api"}
_PATHS: dict[str, Any] = {}


@dataclass
class Guarded:
    wl: Windlass
    app: FastAPI
    client: httpx2.AsyncClient

    async def token(self, role: str, tenant: str | None = None, **about: Any) -> dict[str, str]:
        """The header of a new token."""
        engine = await self.wl.ready()
        created = await engine.tokens.create(
            local(), f"{role} of {tenant}", role=role, tenant=tenant, **about
        )
        return {"authorization": f"Bearer {created.secret}"}

    def stop_the_clock(self) -> None:
        """Have no allowance of requests fill again, however slow the machine is."""
        settings = self.wl.settings.server
        self.app.state.limits = RateLimiter(settings, clock=lambda: 0.0)

    def routes(self) -> Iterator[tuple[str, str, dict[str, Any]]]:
        """Method, path and description of every route of the API that needs a credential."""
        if not _PATHS:  # every app has the same, and describing them takes half a second
            _PATHS.update(self.app.openapi()["paths"])
        for path, methods in _PATHS.items():
            for method, route in methods.items():
                if path.startswith("/api/") and path not in PUBLIC:
                    yield method.upper(), path, route

    def browser(self, address: str = "127.0.0.1") -> httpx2.AsyncClient:
        """Another user's browser, with its own cookies and perhaps its own address."""
        transport = httpx2.ASGITransport(
            self.app, raise_app_exceptions=False, client=(address, 1234)
        )
        return httpx2.AsyncClient(transport=transport, base_url="http://api", headers=HERE)


@asynccontextmanager
async def guarding(wl: Windlass, *, dashboard: Path = NO_DASHBOARD) -> AsyncIterator[Guarded]:
    """The API of an app with two tenants, while the block lasts."""
    await wl.ready()
    for tenant in ("acme", "globex"):
        await wl.tenants.create(tenant)
    app = create_api(wl, authenticate=by_credentials, dashboard=dashboard)
    transport = httpx2.ASGITransport(app, raise_app_exceptions=False)
    async with httpx2.AsyncClient(transport=transport, base_url="http://api") as client:
        yield Guarded(wl, app, client)
