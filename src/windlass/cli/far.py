"""The API of a server, asked over HTTP."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx2

from windlass.cli.client import Client
from windlass.cli.server import At
from windlass.core.accounts import COOKIE, SECURE_COOKIE

#: The server knows by which scheme it is asked, which need not be the one of its address here: a
#: proxy that it does not trust may stand between.
_COOKIES = (SECURE_COOKIE, COOKIE)


@asynccontextmanager
async def far(at: At, tenant: str | None) -> AsyncIterator[Client]:
    """The API of a server."""
    headers = {"authorization": f"Bearer {at.token}"} if at.token else {}
    cookies = {}
    if at.session and not at.token:
        # What a server's own page says: a session is refused to the pages of others.
        headers, cookies = {"origin": at.origin}, dict.fromkeys(_COOKIES, at.session)
    async with httpx2.AsyncClient(
        base_url=at.url, headers=headers, cookies=cookies, timeout=30
    ) as http:
        yield Client(http, tenant=tenant)


async def session_of(at: At, name: str, password: str) -> str | None:
    """The session that a name and a password open on a server."""
    async with httpx2.AsyncClient(
        base_url=at.url, headers={"origin": at.origin}, timeout=30
    ) as http:
        await Client(http).post("/login", {"name": name, "password": password})
        return next(filter(None, map(http.cookies.get, _COOKIES)), None)
