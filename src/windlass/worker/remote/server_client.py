"""HTTP client of a Windlass server, for workers without a database."""

import asyncio
import json
import time
from collections.abc import Mapping
from datetime import timedelta
from http import HTTPStatus
from typing import Any

import httpx2

from windlass.errors import (
    Forbidden,
    NotAuthenticated,
    OptionInvalid,
    RequestRefused,
    ServerUnreachable,
)

_PREFIX = "/api/v1/"
#: How long a request may take.
_SECONDS = 10.0
_RIGHT = "worker.work"
#: Statuses that a later retry may change, from a server or a proxy before it.
_LATER = frozenset({HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_MANY_REQUESTS})


class ServerClient:
    """A server's address and token. Connects on first use."""

    def __init__(
        self, url: str, token: str | None = None, *, timeout_seconds: float = _SECONDS
    ) -> None:
        self.url = _validate_url(url)
        self._token = token
        self._not_before = 0.0
        headers = {"authorization": f"Bearer {token}"} if token else {}
        self._client = httpx2.AsyncClient(
            base_url=str(self.url) + _PREFIX, headers=headers, timeout=timeout_seconds
        )

    async def ask(self, path: str, body: Mapping[str, Any]) -> Any:
        """Send a request and return the body of the response. Raises ServerUnreachable if a retry
        may help; NotAuthenticated, Forbidden or RequestRefused if it would not."""
        await self._wait_until_allowed()
        try:
            response = await self._client.post(
                path,
                content=json.dumps(body).encode(),
                headers={"content-type": "application/json"},
            )
        except httpx2.HTTPError as error:
            raise ServerUnreachable(self.url, cause=_cause(error)) from None
        status = response.status_code
        if status == HTTPStatus.TOO_MANY_REQUESTS:
            self._not_before = time.monotonic() + _retry_after_seconds(response)
        if status == HTTPStatus.UNAUTHORIZED:
            raise NotAuthenticated
        if status == HTTPStatus.FORBIDDEN:
            raise Forbidden(_RIGHT)
        if status >= HTTPStatus.INTERNAL_SERVER_ERROR or status in _LATER:
            raise ServerUnreachable(self.url, cause=f"it answered {status}")
        if not response.is_success:
            raise RequestRefused(status, said=_title(response))
        return response.json() if response.content else None

    def reopen(self, *, lease_time: timedelta) -> "ServerClient":
        """The same server over its own connections. A request may take a third of a lease, so that
        another one fits in before the lease runs out."""
        seconds = min(_SECONDS, lease_time.total_seconds() / 3)
        return ServerClient(self.url, self._token, timeout_seconds=seconds)

    async def _wait_until_allowed(self) -> None:
        """Wait until the time of the server's last `Retry-After`."""
        left = self._not_before - time.monotonic()
        if left > 0:
            await asyncio.sleep(left)

    async def close(self) -> None:
        await self._client.aclose()


def _retry_after_seconds(response: httpx2.Response) -> float:
    """The seconds of a `Retry-After`, at most the time of one request: leases run out."""
    seconds = response.headers.get("retry-after", "")
    return min(float(seconds), _SECONDS) if seconds.isdecimal() else 0.0


def _validate_url(url: str) -> str:
    try:
        parsed = httpx2.URL(url)
    except httpx2.InvalidURL:
        parsed = httpx2.URL("")
    if parsed.scheme not in ("http", "https") or not parsed.host:
        raise OptionInvalid("url", url, allowed="a server's address, such as http://host:8100")
    if parsed.userinfo:
        raise OptionInvalid("url", "with a password in it", allowed="an address without one")
    return str(parsed).rstrip("/").removesuffix(_PREFIX.rstrip("/"))


def _cause(error: httpx2.HTTPError) -> str:
    return str(error) or type(error).__name__


def _title(response: httpx2.Response) -> str:
    try:
        problem = response.json()
        places = [f"{each['pointer']}: {each['message']}" for each in problem["errors"][:3]]
        return "; ".join([problem["title"].rstrip("."), *places])
    except (ValueError, KeyError, TypeError, AttributeError):
        return "it says no more"
