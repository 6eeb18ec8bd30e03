"""The API of an app: made here, served by `windlass serve`, or mounted in somebody's own."""

import secrets
from functools import cache
from typing import Any

from fastapi import FastAPI
from starlette.responses import HTMLResponse

from windlass.api import health, login, metrics, pages, problems
from windlass.api.budget import TIMES, Budget
from windlass.api.callers import Authenticate, anybody
from windlass.api.cursors import Cursors
from windlass.api.entrance import Entrance
from windlass.api.limits import Limits
from windlass.api.live.feed import Feed
from windlass.api.live.pace import Pace
from windlass.api.reference import page
from windlass.api.routes import (
    audit,
    dead,
    definitions,
    events,
    jobs,
    logs,
    members,
    operations,
    queues,
    stats,
    stream,
    tenants,
    tokens,
    triggers,
    users,
    worker,
    workers,
)
from windlass.api.shown import Problem
from windlass.app import Windlass

PREFIX = "/api/v1"

_NOUNS = (
    jobs.routes,
    dead.routes,
    operations.routes,
    definitions.routes,
    triggers.schedules,
    triggers.triggers,
    events.routes,
    queues.routes,
    workers.routes,
    logs.routes,
    worker.routes,
    tenants.routes,
    members.routes,
    users.routes,
    tokens.routes,
    audit.routes,
    stats.routes,
    stream.routes,
)


def create_api(
    windlass: Windlass, *, authenticate: Authenticate = anybody, pace: Pace | None = None
) -> FastAPI:
    """The API over an app's engine.

    `authenticate` tells who sent a request. Without one everybody may do everything: let such a
    server listen on loopback only. `pace` is how often live updates come, and how many may listen.
    A server of your own calls `app.state.feed.end()` before it waits for requests to end.
    """
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
    counted = None if authenticate is anybody else windlass.settings.server
    app.state.limits = Limits(counted)
    app.state.feed = Feed(pace or Pace())
    app.add_middleware(Budget, limit=TIMES * windlass.settings.limits.payload_bytes)
    app.add_middleware(Entrance)
    problems.install(app)
    app.include_router(health.router)
    app.include_router(metrics.router)
    app.include_router(login.router, prefix=PREFIX)
    app.include_router(pages.router)
    for noun in _NOUNS:
        app.include_router(noun.router, prefix=PREFIX)
    shown = cache(lambda: page(app))
    app.add_api_route("/docs", lambda: HTMLResponse(shown()), include_in_schema=False)
    return app


class _Api(FastAPI):
    """Described when it is first asked for: that takes longer than everything else here."""

    def openapi(self) -> dict[str, Any]:
        described = super().openapi()
        # Every route's problems are of one shape, which the reference names once.
        described["components"]["schemas"].setdefault("Problem", Problem.model_json_schema())
        return described
