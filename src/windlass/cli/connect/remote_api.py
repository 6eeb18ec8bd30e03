"""The API of a server, called over HTTP."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import httpx2

from windlass.cli.connect.api_client import Client, Send
from windlass.cli.connect.server_address import ServerAddress
from windlass.core.access.accounts import COOKIE, SECURE_COOKIE
from windlass.errors import FieldError, RequestRefused, ServerUnreachable, WindlassError
from windlass.errors.base import by_code

#: Both names: the server picks one by the scheme it sees, which a proxy that it does not trust
#: may have changed.
_COOKIES = (SECURE_COOKIE, COOKIE)
#: Proves that a write by a session does not come from another site's page (CSRF).
_BY_HAND = {"sec-fetch-site": "none"}
#: Makes errors name flags and commands, not fields and paths of the API.
_CALLER = {"x-windlass-caller": "commands"}


@asynccontextmanager
async def remote_client(at: ServerAddress, tenant: str | None) -> AsyncIterator[Client]:
    """A client of a server."""
    headers = {"authorization": f"Bearer {at.token}"} if at.token else {}
    cookies = {}
    if at.session and not at.token:
        headers, cookies = _BY_HAND, dict.fromkeys(_COOKIES, at.session)
    async with httpx2.AsyncClient(
        base_url=at.url, headers=headers, cookies=cookies, timeout=30
    ) as http:
        yield Client(_sender(http), tenant=tenant)


async def open_session(at: ServerAddress, name: str, password: str) -> str | None:
    """Open a session on a server with a name and a password."""
    async with httpx2.AsyncClient(base_url=at.url, headers=_BY_HAND, timeout=30) as http:
        await Client(_sender(http)).post("/login", {"name": name, "password": password})
        return next(filter(None, map(http.cookies.get, _COOKIES)), None)


def error_from_response(response: httpx2.Response) -> WindlassError:
    """Rebuild the error of a server's response, in its original class."""
    try:
        problem = response.json()
        kind = by_code()[problem["code"]]
        errors = [FieldError(each["pointer"], each["message"]) for each in problem["errors"]]
        error = kind.__new__(kind)
        WindlassError.__init__(
            error, problem["title"], reason=problem["detail"], hint=problem["hint"], errors=errors
        )
    except (ValueError, KeyError, TypeError):
        return RequestRefused(response.status_code, said="it says no more")
    return error


def _sender(http: httpx2.AsyncClient) -> Send:
    async def send(method: str, path: str, query: Sequence[tuple[str, str]], body: object) -> Any:
        try:
            response = await http.request(
                method, path, params=list(query), json=body, headers=_CALLER
            )
        except httpx2.HTTPError as error:
            cause = str(error) or type(error).__name__
            raise ServerUnreachable(str(http.base_url).rstrip("/"), cause=cause) from None
        if response.is_success:
            return response.json() if response.content else {}
        raise error_from_response(response)

    return send
