"""The API of an app: made here, served by `windlass serve`, or mounted in somebody's own."""

import secrets
from collections.abc import Awaitable, Callable

from fastapi import FastAPI, Request
from starlette.responses import Response

from windlass.api import health, problems
from windlass.api.callers import Authenticate, anybody
from windlass.api.cursors import Cursors
from windlass.api.routes import (
    dead,
    definitions,
    events,
    jobs,
    queues,
    tenants,
    triggers,
    worker,
    workers,
)
from windlass.app import Windlass
from windlass.ids import new_job_id

PREFIX = "/api/v1"

_NOUNS = (
    jobs.routes,
    dead.routes,
    definitions.routes,
    triggers.schedules,
    triggers.triggers,
    events.routes,
    queues.routes,
    workers.routes,
    worker.routes,
    tenants.routes,
)


def create_api(windlass: Windlass, *, authenticate: Authenticate = anybody) -> FastAPI:
    """The API over an app's engine.

    `authenticate` tells who sent a request. Without one everybody may do everything: let such a
    server listen on loopback only.
    """
    app = FastAPI(
        title="Windlass",
        summary="Durable background jobs on the database you already have.",
        version="1",
        openapi_url=f"{PREFIX}/openapi.json",
        docs_url="/docs",
        redoc_url=None,
        telemetry={"tracing": False, "metrics": False, "logs": False},
    )
    app.state.windlass = windlass
    app.state.telemetry = windlass.telemetry
    app.state.authenticate = authenticate
    given = windlass.settings.server.secret
    app.state.cursors = Cursors(given.encode() if given else secrets.token_bytes(32))
    app.middleware("http")(_named)
    problems.install(app)
    app.include_router(health.router)
    for noun in _NOUNS:
        app.include_router(noun.router, prefix=PREFIX)
    return app


async def _named(request: Request, go_on: Callable[[Request], Awaitable[Response]]) -> Response:
    """Give every request an id, which its answer and every word about it carry."""
    request.state.request_id = str(new_job_id())
    response = await go_on(request)
    response.headers["x-request-id"] = request.state.request_id
    return response
