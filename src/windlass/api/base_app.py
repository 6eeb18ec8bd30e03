"""An API that has no routes yet: what every one of them stands on."""

import secrets
from collections.abc import Mapping
from typing import Any

from fastapi import FastAPI
from fastapi.routing import APIRoute
from starlette.types import ASGIApp

from windlass.api.access.callers import Authenticate, asks, open_access
from windlass.api.live.feed import LiveFeed
from windlass.api.live.intervals import StreamIntervals
from windlass.api.middleware import problems
from windlass.api.middleware.admission import AdmissionMiddleware
from windlass.api.middleware.body_limit import TIMES, BodyLimitMiddleware
from windlass.api.middleware.proxies import TrustedProxies
from windlass.api.middleware.rate_limit import RateLimiter
from windlass.api.middleware.request_id import RequestIdMiddleware
from windlass.api.routing import PREFIX
from windlass.api.schema.cursors import Cursors
from windlass.api.schema.responses import Problem
from windlass.app.windlass import Windlass
from windlass.core.access.accounts import COOKIE, SECURE_COOKIE

#: How a caller may say who it is. A server without authentication asks for none of them.
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
        "description": "The session of a browser that signed in over http; see account.login.",
    },
    "secureSession": {
        "type": "apiKey",
        "in": "cookie",
        "name": SECURE_COOKIE,
        "description": "The same over https.",
    },
}


def base_api(
    windlass: Windlass, *, authenticate: Authenticate, pace: StreamIntervals | None = None
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
    given = windlass.settings.server.secret
    app.state.cursors = Cursors(given.encode() if given else secrets.token_bytes(32))
    counted = None if authenticate is open_access else windlass.settings.server
    app.state.limits = RateLimiter(counted)
    app.state.proxies = TrustedProxies(windlass.settings.server.trusted_proxies)
    app.state.feed = LiveFeed(pace or StreamIntervals())
    app.add_middleware(BodyLimitMiddleware, limit=TIMES * windlass.settings.limits.payload_bytes)
    app.add_middleware(AdmissionMiddleware)
    problems.install(app)
    return app


class _Api(FastAPI):
    """Described when it is first asked for: that takes longer than everything else here."""

    def build_middleware_stack(self) -> ASGIApp:
        """With the entrance around all of it: FastAPI puts its handler of unexpected errors outside
        every middleware that is added."""
        return RequestIdMiddleware(super().build_middleware_stack(), proxies=self.state.proxies)

    def openapi(self) -> dict[str, Any]:
        described = super().openapi()
        # Every route's problems are of one shape, which the reference names once.
        described["components"]["schemas"].setdefault("Problem", Problem.model_json_schema())
        if "security" not in described:
            described["components"]["securitySchemes"] = SCHEMES
            described["security"] = [{name: []} for name in SCHEMES]
            for route in self.routes:
                if isinstance(route, APIRoute) and route.include_in_schema and not asks(route):
                    for method in route.methods or ():
                        described["paths"][route.path_format][method.lower()]["security"] = []
        return described
