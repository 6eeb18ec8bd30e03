"""The API of an app on each database, and a client of it."""

from collections.abc import AsyncIterator

import httpx2
import pytest
from fastapi import FastAPI

from windlass import Windlass
from windlass.api.access.callers import open_access
from windlass.api.app import create_api


@pytest.fixture
def served(wl: Windlass) -> FastAPI:
    """The API over `wl`, open to everybody on this machine."""
    return create_api(wl, authenticate=open_access)


@pytest.fixture
async def api(served: FastAPI) -> AsyncIterator[httpx2.AsyncClient]:
    """Requests to it, by path after `/api/v1`."""
    transport = httpx2.ASGITransport(served, raise_app_exceptions=False)
    async with httpx2.AsyncClient(
        transport=transport, base_url="http://localhost/api/v1"
    ) as client:
        yield client
