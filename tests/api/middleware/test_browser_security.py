"""Writes that another site makes a browser send are refused, and recorded if the caller is known."""

import logging

import pytest

from tests.api.authenticated_api import guarding
from windlass import Settings, Windlass
from windlass.core.access.principal import local

ELSEWHERE = [
    {"sec-fetch-site": "cross-site"},
    {"sec-fetch-site": "same-site"},
    {"sec-fetch-site": "cross-site", "origin": "http://api"},
    {"origin": "https://api"},
    {"origin": "http://api:8080"},
    {"origin": "http://evil.example"},
    {"origin": "null"},
    {},
]


@pytest.fixture
async def guarded(wl):
    async with guarding(wl) as guarded:
        yield guarded


@pytest.fixture
async def admin(guarded):
    """A signed-in browser that sends no headers about the origin of its requests."""
    link = await (await guarded.wl.ready()).users.first_admin()
    async with guarded.browser() as browser:
        await browser.post("/api/v1/login/link", json={"link": link.secret})
        del browser.headers["origin"]
        yield browser


@pytest.mark.parametrize("headers", ELSEWHERE, ids=str)
async def test_a_session_may_write_only_from_pages_of_this_site(admin, headers):
    created = await admin.post("/api/v1/tenants", json={"id": "evil"}, headers=headers)
    left = await admin.post("/api/v1/logout", headers=headers)
    changed = await admin.post(
        "/api/v1/password", json={"before": "x", "after": "y" * 12}, headers=headers
    )
    signed_in = await admin.post("/login", content="name=a&password=b", headers=headers)

    responses = (created, left, changed, signed_in)
    assert [each.status_code for each in responses] == [403] * 4
    assert {each.json()["code"] for each in responses} == {"WL4432"}


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://api"},
        {"origin": "http://api:80"},
        {"sec-fetch-site": "same-origin"},
        {"sec-fetch-site": "none"},
    ],
    ids=str,
)
async def test_a_session_may_write_from_pages_of_this_site(admin, headers):
    created = await admin.post("/api/v1/tenants", json={"id": "good"}, headers=headers)

    assert created.status_code == 201


async def test_a_session_may_read_without_proof(admin):
    assert (await admin.get("/api/v1/tenants")).status_code == 200


async def test_a_token_in_a_browser_cannot_write_for_another_site(guarded):
    token = await guarded.token("superadmin")
    cross = {**token, "sec-fetch-site": "cross-site"}

    plain = await guarded.client.post("/api/v1/tenants", json={"id": "good"}, headers=token)
    refused = await guarded.client.post("/api/v1/tenants", json={"id": "evil"}, headers=cross)

    assert (plain.status_code, refused.status_code) == (201, 403)


async def test_a_refused_cross_site_write_is_in_the_callers_chain(guarded, admin):
    engine = await guarded.wl.ready()
    tenant_admin = await guarded.token("tenant_admin", "acme")
    cross = {"sec-fetch-site": "cross-site"}

    own = await admin.post("/api/v1/tenants", json={"id": "evil"}, headers=cross)
    tenants = await guarded.client.delete("/api/v1/members/x", headers={**tenant_admin, **cross})

    wide = (await engine.audit.list(local())).entries[0]
    narrow = (await engine.audit.list(local(), tenant="acme")).entries[0]
    assert (wide.action, wide.outcome, wide.actor_name) == (
        "requests.cross_site",
        "refused",
        "admin",
    )
    assert (wide.target_id, wide.request_id) == ("POST /api/v1/tenants", own.json()["request_id"])
    assert (narrow.action, narrow.outcome) == ("requests.cross_site", "refused")
    assert (narrow.target_id, narrow.request_id) == (
        "DELETE /api/v1/members/x",
        tenants.json()["request_id"],
    )


async def test_cross_site_writes_by_a_revoked_token_count_against_their_address(wl):
    few = Settings.load({"server.requests_per_minute_per_address": 10}, environ={})
    small = Windlass(wl.url, settings=few)
    async with guarding(small) as guarded:
        guarded.stop_the_clock()
        engine = await small.ready()
        created = await engine.tokens.create(local(), "leaked", role="superadmin")
        token = {"authorization": f"Bearer {created.secret}"}
        await guarded.client.get("/api/v1/whoami", headers=token)
        await engine.tokens.revoke(local(), created.token.id)

        cross = {**token, "sec-fetch-site": "cross-site"}
        statuses = [
            (await guarded.client.post("/api/v1/tenants", headers=cross)).status_code
            for _ in range(11)
        ]
    await small.close()

    assert statuses == [403] * 9 + [429] * 2


async def test_an_anonymous_cross_site_write_is_only_logged(guarded, caplog):
    engine = await guarded.wl.ready()
    before = len((await engine.audit.list(local())).entries)

    with caplog.at_level(logging.WARNING, "windlass"):
        await guarded.client.post("/login", headers={"sec-fetch-site": "cross-site"})

    assert "cross-site request refused" in caplog.text
    assert len((await engine.audit.list(local())).entries) == before
