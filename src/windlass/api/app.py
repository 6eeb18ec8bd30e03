"""Creates the API of an app, to be served by `windlass serve` or mounted in another application."""

import secrets
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from fastapi.routing import APIRoute
from starlette.types import ASGIApp

from windlass.api.access import login, setup
from windlass.api.access.callers import Authenticate, open_access
from windlass.api.access.credentials import by_credentials
from windlass.api.http_routes import asks_for_caller, fastapi_routes
from windlass.api.live.feed import LiveFeed
from windlass.api.live.intervals import StreamIntervals
from windlass.api.middleware import problems
from windlass.api.middleware.admission import TIMES, AdmissionMiddleware
from windlass.api.middleware.rate_limit import RateLimiter
from windlass.api.middleware.request_id import RequestIdMiddleware, TrustedProxies
from windlass.api.monitoring import health, metrics
from windlass.api.pages import sign_in_pages, status_page
from windlass.api.pages.dashboard import Dashboard, DashboardRoute
from windlass.api.pages.reference_page import page, reference_html
from windlass.api.routing import CALLERS, NOUNS, PREFIX
from windlass.api.schema.cursors import Cursors
from windlass.api.schema.responses import Problem
from windlass.app.windlass import Windlass
from windlass.core.access.accounts import COOKIE, SECURE_COOKIE

#: The last route of every API; it holds nothing of its own.
_DASHBOARD = DashboardRoute()

#: Accepted credentials. A server without authentication needs none of them.
SCHEMES: Mapping[str, Any] = {
    "bearer": {
        "type": "http",
        "scheme": "bearer",
        "description": "A token, as `Authorization: Bearer wl_…`; see tokens.create.",
    },
    "session": {
        "type": "apiKey",
        "in": "cookie",
        "name": COOKIE,
        "description": "Session cookie of a browser signed in over http; see account.login.",
    },
    "secureSession": {
        "type": "apiKey",
        "in": "cookie",
        "name": SECURE_COOKIE,
        "description": "Session cookie over https.",
    },
}


def create_api(
    windlass: Windlass,
    *,
    authenticate: Authenticate = by_credentials,
    pace: StreamIntervals | None = None,
    dashboard: Path | None = None,
) -> FastAPI:
    """Create the API over an app's engine, and the dashboard.

    `authenticate` finds the caller of a request, by default from Windlass's tokens and sessions.
    `open_access` of `windlass.api.access.callers` needs no credential; such an API serves only this
    machine. `pace` sets the intervals and limits of live updates. `dashboard` is the folder of a built
    dashboard, by default the one that came with Windlass. A custom server must call
    `app.state.feed.end()` before it waits for requests to end.
    """
    app = _base_api(windlass, authenticate=authenticate, pace=pace)
    for beside in (health, metrics, login, setup, status_page, sign_in_pages):
        app.router.routes.extend(beside.router.routes)
    for noun in (*CALLERS, *NOUNS):
        app.router.routes.extend(fastapi_routes(noun))
    reference = cache(lambda: reference_html(app.openapi()))
    app.add_api_route("/docs", lambda: page(reference()), include_in_schema=False)
    app.state.dashboard = Dashboard(dashboard)
    app.router.routes.append(_DASHBOARD)
    return app


def _base_api(
    windlass: Windlass, *, authenticate: Authenticate, pace: StreamIntervals | None
) -> FastAPI:
    app = _Api(
        title="Windlass",
        summary="Durable background jobs on the database you already have.",
        version="1",
        openapi_url=f"{PREFIX}/openapi.json",
        docs_url=None,
        redoc_url=None,
        telemetry={"tracing": False, "metrics": False, "logs": False},
    )
    app.state.windlass = windlass
    app.state.telemetry = windlass.telemetry
    app.state.authenticate = authenticate
    secret = windlass.settings.server.secret
    app.state.cursors = Cursors(secret.encode() if secret else secrets.token_bytes(32))
    counted = None if authenticate is open_access else windlass.settings.server
    app.state.limits = RateLimiter(counted)
    app.state.proxies = TrustedProxies(windlass.settings.server.trusted_proxies)
    app.state.feed = LiveFeed(pace or StreamIntervals())
    app.add_middleware(
        AdmissionMiddleware, body_bytes=TIMES * windlass.settings.limits.payload_bytes
    )
    problems.install(app)
    return app


class _Api(FastAPI):
    """FastAPI app whose OpenAPI document is built on first use, because that is slow."""

    def build_middleware_stack(self) -> ASGIApp:
        """Wrap the stack in the request id middleware. Added middleware would run inside FastAPI's
        handler of unexpected errors."""
        return RequestIdMiddleware(super().build_middleware_stack(), proxies=self.state.proxies)

    def openapi(self) -> dict[str, Any]:
        described = super().openapi()
        # All routes share one problem schema; the reference names it once.
        described["components"]["schemas"].setdefault("Problem", Problem.model_json_schema())
        if "security" not in described:
            described["components"]["securitySchemes"] = SCHEMES
            described["security"] = [{name: []} for name in SCHEMES]
            for route in self.routes:
                if (
                    isinstance(route, APIRoute)
                    and route.include_in_schema
                    and not asks_for_caller(route)
                ):
                    for method in route.methods or ():
                        described["paths"][route.path_format][method.lower()]["security"] = []
        return described
