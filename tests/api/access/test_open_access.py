"""An API without authentication is enabled explicitly, and serves only this machine."""

import httpx2
import pytest

from windlass.api.access.callers import open_access
from windlass.api.app import create_api

PATHS = [
    "/",
    "/docs",
    "/healthz",
    "/metrics",
    "/login",
    "/api/v1/openapi.json",
    "/api/v1/jobs",
    "/api/v1/whoami",
    "/api/v1/stream?topics=jobs",
    "/nothing",
]
TOKEN = {"name": "mine", "role": "superadmin"}


def client(app, host="localhost:8787", peer="127.0.0.1", **headers):
    transport = httpx2.ASGITransport(app, client=(peer, 4711), raise_app_exceptions=False)
    return httpx2.AsyncClient(
        transport=transport, base_url="http://localhost:8787", headers={"host": host, **headers}
    )


@pytest.fixture
def open_api(wl):
    return create_api(wl, authenticate=open_access)


async def test_an_api_requires_credentials_by_default(wl):
    async with client(create_api(wl)) as caller:
        listed = await caller.get("/api/v1/jobs")
        created = await caller.post("/api/v1/tokens", json=TOKEN)

    assert (listed.status_code, created.status_code) == (401, 401)


@pytest.mark.parametrize(
    "host", ["localhost", "LOCALHOST:8787", "127.0.0.1:80", "127.8.9.1", "[::1]:9"]
)
@pytest.mark.parametrize("peer", ["127.0.0.1", "::1", "::ffff:127.0.0.1"])
async def test_an_open_api_serves_this_machine(open_api, host, peer):
    async with client(open_api, host, peer) as caller:
        listed = await caller.get("/api/v1/jobs")

    assert listed.status_code == 200


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    ("host", "peer", "headers"),
    [
        ("evil.example:8787", "127.0.0.1", {}),
        ("localhost.evil.example", "127.0.0.1", {}),
        ("127.0.0.1.evil.example", "127.0.0.1", {}),
        ("localhost:80@evil.example", "127.0.0.1", {}),
        ("127.0.0.1:evil.example", "127.0.0.1", {}),
        ("[::1]evil.example", "127.0.0.1", {}),
        ("", "127.0.0.1", {}),
        ("localhost", "192.0.2.7", {}),
        ("localhost", "127.0.0.1", {"x-forwarded-for": "127.0.0.1"}),
    ],
    ids=[
        "rebound",
        "prefix",
        "dotted",
        "userinfo",
        "no port",
        "bracket",
        "no host",
        "remote",
        "proxied",
    ],
)
async def test_an_open_api_refuses_other_machines_on_every_path(
    open_api, path, host, peer, headers
):
    async with client(open_api, host, peer, **headers) as caller:
        response = await caller.get(path)

    assert (response.status_code, response.json()["code"]) == (403, "WL4431")


@pytest.mark.parametrize(
    "headers",
    [
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"origin": "http://evil.example"},
        {"origin": "http://localhost:3000"},
        {"origin": "https://localhost:8787"},
        {"origin": "null"},
    ],
)
async def test_another_sites_page_cannot_create_a_token_through_an_open_api(open_api, headers):
    async with client(open_api, **headers) as page:
        created = await page.post("/api/v1/tokens", json=TOKEN)
        as_form = await page.post(
            "/api/v1/tokens", content=b"{}", headers={"content-type": "text/plain"}
        )

    assert (created.status_code, created.json()["code"]) == (403, "WL4432")
    assert as_form.status_code == 403


@pytest.mark.parametrize(
    "headers",
    [{}, {"origin": "http://localhost:8787"}, {"sec-fetch-site": "same-origin"}],
)
async def test_programs_and_own_pages_may_write_to_an_open_api(open_api, headers):
    async with client(open_api, **headers) as caller:
        created = await caller.post("/api/v1/tokens", json=TOKEN)

    assert created.status_code == 201
