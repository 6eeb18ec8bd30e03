"""A request checks once that the database is ready."""

import httpx2
import pytest

from windlass import Windlass
from windlass.api.access.callers import open_access
from windlass.api.app import create_api
from windlass.api.pages.dashboard import Dashboard


@pytest.mark.parametrize("path", ["/api/v1/jobs", "/api/v1/queues", "/"])
async def test_a_request_checks_once_that_the_engine_is_ready(
    database, monkeypatch, tmp_path, path
):
    async with Windlass(database.url) as app:
        api = create_api(app, authenticate=open_access)
        api.state.dashboard = Dashboard(tmp_path)  # none is built: `/` is the status page
        calls = []
        ready = app.ready

        async def counted():
            calls.append(path)
            return await ready()

        monkeypatch.setattr(app, "ready", counted)
        transport = httpx2.ASGITransport(api, client=("127.0.0.1", 1))
        async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            response = await client.get(path)

    assert response.status_code == 200
    assert calls == [path]
