"""The API of an app: made here, served by `windlass serve`, or mounted in somebody's own."""

from functools import cache

from fastapi import FastAPI
from starlette.responses import HTMLResponse

from windlass.api import health, login, metrics, overview, pages
from windlass.api.bare import bare_api
from windlass.api.callers import Authenticate, anybody
from windlass.api.live.pace import Pace
from windlass.api.nouns import NOUNS, PREFIX, router_of
from windlass.api.reference import page
from windlass.app import Windlass


def create_api(
    windlass: Windlass, *, authenticate: Authenticate = anybody, pace: Pace | None = None
) -> FastAPI:
    """The API over an app's engine.

    `authenticate` tells who sent a request. Without one everybody may do everything: let such a
    server listen on loopback only. `pace` is how often live updates come, and how many may listen.
    A server of your own calls `app.state.feed.end()` before it waits for requests to end.
    """
    app = bare_api(windlass, authenticate=authenticate, pace=pace)
    app.include_router(health.router)
    app.include_router(metrics.router)
    app.include_router(login.router, prefix=PREFIX)
    app.include_router(overview.router)
    app.include_router(pages.router)
    for noun in NOUNS:
        app.include_router(router_of(noun), prefix=PREFIX)
    shown = cache(lambda: page(app))
    app.add_api_route("/docs", lambda: HTMLResponse(shown()), include_in_schema=False)
    return app
