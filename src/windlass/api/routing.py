"""Routes that each declare the right they need. One without is never reached."""

from collections.abc import Callable
from typing import Any

from fastapi import APIRouter, Depends

from windlass.api.callers import needs

#: Where a route's right stands in its description.
RIGHT = "x-right"

Endpoint = Callable[..., Any]


class Routes:
    """The routes of one noun."""

    def __init__(self, noun: str) -> None:
        self.router = APIRouter(prefix=f"/{noun}", tags=[noun])

    def get(self, path: str, right: str, **about: Any) -> Callable[[Endpoint], Endpoint]:
        return self._route("GET", path, right, **about)

    def post(self, path: str, right: str, **about: Any) -> Callable[[Endpoint], Endpoint]:
        return self._route("POST", path, right, **about)

    def patch(self, path: str, right: str, **about: Any) -> Callable[[Endpoint], Endpoint]:
        return self._route("PATCH", path, right, **about)

    def delete(self, path: str, right: str, **about: Any) -> Callable[[Endpoint], Endpoint]:
        return self._route("DELETE", path, right, **about)

    def _route(
        self, method: str, path: str, right: str, **about: Any
    ) -> Callable[[Endpoint], Endpoint]:
        return self.router.api_route(
            path,
            methods=[method],
            dependencies=[Depends(needs(right))],
            openapi_extra={RIGHT: right},
            **about,
        )
