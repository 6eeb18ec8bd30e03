"""The API of a server, asked over HTTP."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx2

from windlass.cli.connect.api_client import Client
from windlass.cli.connect.server_address import ServerAddress
from windlass.core.access.accounts import COOKIE, SECURE_COOKIE

#: The server knows by which scheme it is asked, which need not be the one of its address here: a
#: proxy that it does not trust may stand between.
_COOKIES = (SECURE_COOKIE, COOKIE)
#: A write by a session has to show that no page of another site started it: a person did.
_BY_HAND = {"sec-fetch-site": "none"}


@asynccontextmanager
async def far(at: ServerAddress, tenant: str | None) -> AsyncIterator[Client]:
    """The API of a server."""
    headers = {"authorization": f"Bearer {at.token}"} if at.token else {}
    cookies = {}
    if at.session and not at.token:
        headers, cookies = _BY_HAND, dict.fromkeys(_COOKIES, at.session)
    async with httpx2.AsyncClient(
        base_url=at.url, headers=headers, cookies=cookies, timeout=30
    ) as http:
        yield Client(http, tenant=tenant)


async def open_session(at: ServerAddress, name: str, password: str) -> str | None:
    """The session that a name and a password open on a server."""
    async with httpx2.AsyncClient(base_url=at.url, headers=_BY_HAND, timeout=30) as http:
        await Client(http).post("/login", {"name": name, "password": password})
        return next(filter(None, map(http.cookies.get, _COOKIES)), None)
