"""API client of all commands: calls a server over HTTP, or a database's API in this process.

Commands use only this class, so they behave the same either way.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from datetime import timedelta
from typing import Any
from urllib.parse import quote

from windlass import clock
from windlass.errors import JobCanceled, JobFailed, WaitTimeout

JsonObject = dict[str, Any]
Params = Mapping[str, Any]
Learn = Callable[[Sequence[str]], Awaitable[None]]
Operating = Callable[[], AbstractAsyncContextManager[object]]
#: Sends a method, a path, a query and a body; returns the response's JSON or raises its error.
Send = Callable[[str, str, Sequence[tuple[str, str]], object], Awaitable[Any]]

PREFIX = "/api/v1"
_ENDED = ("completed", "canceled", "dead_letter")
#: Seconds between two polls of a job: at first, and later.
_SOONEST, _LATEST = 0.05, 1.0
#: The API's largest page.
_PAGE = 500


class Client:
    """Calls one API as one caller; with a tenant, only for that tenant's data.

    With an in-process API, `learn` registers the definitions of modules, and `operating()` works on
    bulk operations while it is open. A server does both itself.
    """

    def __init__(
        self,
        send: Send,
        *,
        tenant: str | None = None,
        learn: Learn | None = None,
        operating: Operating = nullcontext,
    ) -> None:
        self._send = send
        self._tenant = tenant
        self.learn = learn
        self.operating = operating

    @property
    def tenant(self) -> str | None:
        """The tenant whose data is requested; None for all that the caller may see."""
        return self._tenant

    def as_kind(self, kind: "type[Client]") -> "Client":
        """Return a client of another class with the same API and caller."""
        return kind(self._send, tenant=self._tenant, learn=self.learn, operating=self.operating)

    async def get(self, at: str, **params: Any) -> JsonObject:
        """GET a path such as `get("/jobs", state="queued")`; parameters that are None are left
        out."""
        return await self._ask("GET", at, params)

    async def probe(self, at: str) -> JsonObject:
        """GET a path outside the API, such as `probe("/readyz")`."""
        return await self._ask("GET", at, {}, prefix="")

    async def post(self, at: str, body: object = None, **params: Any) -> JsonObject:
        return await self._ask("POST", at, params, body)

    async def patch(self, at: str, body: object, **params: Any) -> JsonObject:
        return await self._ask("PATCH", at, params, body)

    async def delete(self, at: str, **params: Any) -> JsonObject:
        return await self._ask("DELETE", at, params)

    async def pages(self, at: str, *, limit: int, **params: Any) -> AsyncIterator[JsonObject]:
        """Yield the pages of a list, up to `limit` items."""
        cursor = params.pop("cursor", None)
        while limit > 0:
            page = await self.get(at, limit=min(limit, _PAGE), cursor=cursor, **params)
            yield page
            limit -= len(page["items"])
            cursor = page["next_cursor"]
            if cursor is None:
                return

    async def page(self, at: str, *, limit: int, **params: Any) -> JsonObject:
        """Return up to `limit` items of a list as one page."""
        items: list[Any] = []
        cursor = None
        async for page in self.pages(at, limit=limit, **params):
            items += page["items"]
            cursor = page["next_cursor"]
        return {"items": items, "next_cursor": cursor}

    async def wait(self, id: str, timeout: timedelta | None) -> JsonObject:
        """Wait for a job and return it once completed; raises JobFailed or WaitTimeout."""
        until = None if timeout is None else clock.monotonic() + timeout.total_seconds()
        pause = _SOONEST
        while True:
            job = await self.get(path("jobs", id))
            if job["state"] in _ENDED:
                break
            left = pause if until is None else until - clock.monotonic()
            if left <= 0:
                limit = timeout.total_seconds() if timeout else 0.0
                raise WaitTimeout(job["id"], seconds=limit, state=job["state"])
            await asyncio.sleep(min(pause, left))
            pause = min(pause * 1.2, _LATEST)
        if job["state"] == "canceled":
            raise JobCanceled(job["id"], error_type=job["error_type"], error=job["last_error"])
        if job["state"] != "completed":
            raise JobFailed(
                job["id"],
                state=job["state"],
                error_type=job["error_type"],
                error=job["last_error"],
            )
        return job

    async def _ask(
        self, method: str, at: str, params: Params, body: object = None, *, prefix: str = PREFIX
    ) -> JsonObject:
        parameters = {"tenant": self._tenant, **params}
        query = [pair for name, value in parameters.items() for pair in _pairs(name, value)]
        found: JsonObject = await self._send(method, f"{prefix}{at}", query, body)
        return found


def path(*parts: str) -> str:
    """Build a path: `path("jobs", id, "cancel")`."""
    return "".join(f"/{quote(part, safe='')}" for part in parts)


def _pairs(name: str, value: object) -> list[tuple[str, str]]:
    match value:
        case None:
            return []
        case bool():
            return [(name, str(value).lower())]
        case list() | tuple() | set():
            return [(name, str(each)) for each in value]
        case _:
            return [(name, str(value))]
