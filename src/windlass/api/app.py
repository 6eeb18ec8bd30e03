"""The API of an app: made here, served by `windlass serve`, or mounted in somebody's own."""

from functools import cache

from fastapi import FastAPI

from windlass.api.access import login
from windlass.api.access.callers import Authenticate
from windlass.api.access.credentials import by_credentials
from windlass.api.base_app import base_api
from windlass.api.live.intervals import StreamIntervals
from windlass.api.monitoring import health, metrics
from windlass.api.pages import sign_in_pages, status_page
from windlass.api.pages.reference_page import page, reference_html
from windlass.api.route_modules import NOUNS, routes_of
from windlass.app.windlass import Windlass


def create_api(
    windlass: Windlass,
    *,
    authenticate: Authenticate = by_credentials,
    pace: StreamIntervals | None = None,
) -> FastAPI:
    """The API over an app's engine.

    `authenticate` finds the caller of a request: by Windlass's own tokens and sessions, unless told
    otherwise. `open_access` of `windlass.api.access.callers` asks for no credential, and such an API answers
    only this machine. `pace` is how often live updates come, and how many may listen.
    A server of your own calls `app.state.feed.end()` before it waits for requests to end.
    """
    app = base_api(windlass, authenticate=authenticate, pace=pace)
    for beside in (health, metrics, login, status_page, sign_in_pages):
        app.router.routes.extend(beside.router.routes)
    for noun in NOUNS:
        app.router.routes.extend(routes_of(noun))
    reference = cache(lambda: reference_html(app.openapi()))
    app.add_api_route("/docs", lambda: page(reference()), include_in_schema=False)
    return app
