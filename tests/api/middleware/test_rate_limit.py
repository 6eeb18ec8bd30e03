"""Rate limits of requests: by credential, by tenant, and by address."""

import httpx2
import pytest

from tests.api.authenticated_api import guarding
from windlass import Settings, Windlass
from windlass.api.access.callers import open_access
from windlass.api.app import create_api
from windlass.api.middleware.rate_limit import TokenBuckets
from windlass.core.access.principal import local
from windlass.errors import RequestsThrottled


@pytest.fixture
async def small(database):
    """An API that allows little."""
    settings = Settings.load(
        {
            "server.requests_per_minute_per_token": 60,
            "server.requests_per_minute_per_tenant": 100,
            "server.requests_per_minute_per_address": 10,
        },
        environ={},
    )
    wl = Windlass(database.url, settings=settings)
    async with guarding(wl) as guarded:
        guarded.stop_the_clock()
        yield guarded
    await wl.close()


async def statuses_of(guarded, times, headers):
    responses = [await guarded.client.get("/api/v1/whoami", headers=headers) for _ in range(times)]
    return [response.status_code for response in responses], responses[-1]


async def test_a_credential_over_its_limit_gets_retry_after(small):
    token = await small.token("user", "acme")

    statuses, last = await statuses_of(small, 63, token)

    assert statuses[:60] == [200] * 60
    assert (last.status_code, last.json()["code"]) == (429, "WL5402")
    assert last.headers["content-type"] == "application/problem+json"
    assert int(last.headers["retry-after"]) >= 1


async def test_the_credentials_of_a_tenant_share_a_limit(small):
    ada, bob = await small.token("user", "acme"), await small.token("tenant_admin", "acme")
    other = await small.token("user", "globex")

    first, _ = await statuses_of(small, 59, ada)
    rest, last = await statuses_of(small, 50, bob)
    elsewhere, _ = await statuses_of(small, 1, other)

    assert set(first) == {200}
    assert (rest[:40], last.status_code) == ([200] * 40, 429)
    assert "tenant" in last.json()["detail"]
    assert elsewhere == [200]


async def test_credential_guessing_is_limited_and_known_credentials_continue(small):
    token = await small.token("superadmin")
    known, _ = await statuses_of(small, 1, token)

    guesses = [
        (
            await small.client.get("/api/v1/jobs", headers={"authorization": f"Bearer {n}"})
        ).status_code
        for n in range(12)
    ]
    signing_in = await small.client.post(
        "/api/v1/login", json={"name": "x", "password": "x"}, headers={"origin": "http://api"}
    )
    still, _ = await statuses_of(small, 5, token)

    assert known == [200]
    assert (guesses[:9], guesses[-1]) == ([401] * 9, 429)
    assert signing_in.status_code == 429
    assert still == [200] * 5


async def test_a_revoked_token_counts_against_its_address(small):
    engine = await small.wl.ready()
    created = await engine.tokens.create(local(), "leaked", role="user", tenant="acme")
    leaked = {"authorization": f"Bearer {created.secret}"}
    good = await small.token("user", "globex")
    before, _ = await statuses_of(small, 20, leaked)
    await statuses_of(small, 1, good)

    await engine.tokens.revoke(local(), created.token.id)
    after, _ = await statuses_of(small, 12, leaked)
    still, _ = await statuses_of(small, 5, good)

    assert set(before) == {200}
    # The two tokens' first requests came from the same address.
    assert after == [401] * 8 + [429] * 4
    assert still == [200] * 5


async def test_an_expired_session_counts_on_the_first_page_too(small):
    engine = await small.wl.ready()
    link = await engine.users.first_admin()
    async with small.browser() as admin:
        await admin.post("/api/v1/login/link", json={"link": link.secret})
        inside = [(await admin.get("/")).status_code for _ in range(20)]
        user = await engine.users.get(local(), "admin")
        await engine.sessions.revoke_all(local(), user=user.id)
        outside = [(await admin.get("/")).status_code for _ in range(10)]

    assert set(inside) == {200}
    assert outside == [303] * 8 + [429] * 2


@pytest.mark.parametrize(
    "path", ["/docs", "/api/v1/openapi.json", "/login", "/password", "/nothing"]
)
async def test_routes_without_credentials_count_against_the_address(small, path):
    statuses = [(await small.client.get(path)).status_code for _ in range(11)]

    assert 429 not in statuses[:10]
    assert statuses[10] == 429


async def test_a_valid_token_does_not_bypass_the_login_limit(small):
    token = await small.token("user", "acme")
    await statuses_of(small, 1, token)
    headers = {**token, "origin": "http://api"}

    statuses = [
        (
            await small.client.post("/api/v1/login/link", json={"link": "x"}, headers=headers)
        ).status_code
        for _ in range(10)
    ]

    assert statuses == [401] * 9 + [429]


async def test_worker_tokens_have_a_higher_limit_and_health_is_not_counted(small):
    worker = await small.token("worker")

    working, _ = await statuses_of(small, 70, worker)
    healthy = [
        (await small.client.get(path)).status_code
        for path in ("/healthz", "/readyz")
        for _ in range(20)
    ]

    assert set(working) == {200}
    assert set(healthy) == {200}


async def test_probes_query_the_database_at_most_once_a_second(small, monkeypatch):
    engine = await small.wl.ready()
    statuses_of, times = [], [10.0, 10.9, 11.0]
    now = engine.now

    async def noted():
        statuses_of.append(None)
        return await now()

    monkeypatch.setattr(engine, "now", noted)

    for time in times:
        monkeypatch.setattr("windlass.clock.monotonic", lambda time=time: time)
        await small.client.get("/readyz")

    assert len(statuses_of) == 2


async def test_an_open_server_has_no_rate_limit(database):
    settings = Settings.load({"server.requests_per_minute_per_address": 10}, environ={})
    wl = Windlass(database.url, settings=settings)
    transport = httpx2.ASGITransport(create_api(wl, authenticate=open_access))
    async with httpx2.AsyncClient(transport=transport, base_url="http://localhost") as client:
        statuses = {(await client.get("/api/v1/whoami")).status_code for _ in range(15)}
    await wl.close()

    assert statuses == {200}


def test_a_bucket_refills_at_its_rate_up_to_a_minutes_worth():
    now = 0.0
    buckets = TokenBuckets(60, lambda: now)
    for _ in range(60):
        buckets.take("ada", "ada")

    with pytest.raises(RequestsThrottled) as refused:
        buckets.take("ada", "ada")
    now = 1.0
    buckets.take("ada", "ada")
    now = 3_600.0
    for _ in range(60):
        buckets.take("ada", "ada")

    assert refused.value.retry_seconds == 1
    with pytest.raises(RequestsThrottled):
        buckets.take("ada", "ada")
