"""Refused requests: each leaves one entry in the caller's chain, and many are counted."""

import pytest

from tests.api.access.test_roles import things_of
from tests.api.authenticated_api import HERE, guarding
from windlass.core.access.principal import local
from windlass.engine.access import refused_attempts
from windlass.engine.access.refused_attempts import LIMIT

UNKNOWN = "0190a5d0-0000-7000-8000-000000000000"
PASSWORD = "correct horse battery staple"


@pytest.fixture
async def guarded(wl):
    @wl.job
    def hello(name: str) -> str:
        return name

    @wl.job(requires_permission="pay")
    def pay() -> None:
        pass

    async with guarding(wl) as guarded:
        yield guarded


async def chain(guarded, tenant=None):
    """The entries of refused attempts in a chain, oldest first."""
    engine = await guarded.wl.ready()
    found = await engine.storage.access.entries(tenant, most=1000)
    return [entry for entry in reversed(found) if entry.outcome == "refused"]


async def ask(guarded, method, path, headers, body=None):
    return await guarded.client.request(method, f"/api/v1{path}", json=body, headers=headers)


NAMED = {
    "in the address of a read": ("GET", "/jobs?tenant=globex", None, "jobs.read"),
    "in the address of a write": ("POST", "/queues/mail/pause?tenant=globex", {}, "queues.pause"),
    "of a job": ("POST", "/jobs", {"definition": "hello", "tenant": "globex"}, "jobs.enqueue"),
    "of an event": ("POST", "/events", {"name": "x", "tenant": "globex"}, "events.emit"),
    "of a member": (
        "POST",
        "/members",
        {"name": "ada", "role": "user", "tenant": "globex"},
        "members.write",
    ),
    "of a token": (
        "POST",
        "/tokens",
        {"name": "x", "role": "user", "tenant": "globex"},
        "tokens.write",
    ),
}


@pytest.mark.parametrize("where", NAMED)
async def test_naming_another_tenant_is_audited_with_the_caller(guarded, where):
    admin = await guarded.token("tenant_admin", "acme")
    method, path, body, action = NAMED[where]

    response = await ask(guarded, method, path, admin, body)

    assert response.status_code == 404
    [entry] = await chain(guarded, "acme")
    assert (entry.action, entry.actor_name) == (action, "tenant_admin of acme")
    assert entry.after == {"code": response.json()["code"]}
    assert entry.request_id == response.headers["x-request-id"]
    assert await chain(guarded, "globex") == []


WRITES = {
    "jobs": [("POST", "/jobs/{}/cancel", {}), ("POST", "/jobs/{}/retry", None)],
    "triggers": [("PATCH", "/triggers/{}", {"name": "x"}), ("DELETE", "/triggers/{}", None)],
    "operations": [("POST", "/operations/{}/stop", None)],
    "tokens": [("DELETE", "/tokens/{}", None)],
}


@pytest.mark.parametrize("noun", WRITES)
async def test_writes_to_foreign_and_unknown_objects_leave_equal_entries(guarded, noun):
    [foreign] = (await things_of(guarded.wl, "globex"))[noun].values()
    admin = await guarded.token("tenant_admin", "acme")

    for method, path, body in WRITES[noun]:
        for id in (foreign, UNKNOWN):
            response = await ask(guarded, method, path.format(id), admin, body)
            assert response.status_code == 404

    entries = await chain(guarded, "acme")
    assert [entry.target_id for entry in entries] == [str(foreign), UNKNOWN] * len(WRITES[noun])
    assert len({(entry.action, str(entry.after)) for entry in entries}) <= len(WRITES[noun])
    assert await chain(guarded, "globex") == []


async def test_a_write_without_the_right_leaves_one_entry(guarded):
    user = await guarded.token("user", "acme")

    for method, path, body in (
        ("POST", "/queues/mail/pause", {}),
        ("POST", "/jobs", {"definition": "pay"}),
        ("POST", "/users", {"name": "eve"}),
        ("POST", "/tokens", {"name": "x", "role": "superadmin"}),
        ("GET", "/audit", None),
    ):
        assert (await ask(guarded, method, path, user, body)).status_code == 403

    assert [entry.action for entry in await chain(guarded, "acme")] == [
        "queues.pause",
        "jobs.enqueue",
        "users.write",
        "tokens.write",
    ]


async def test_a_cross_site_write_is_audited_with_the_misused_session(guarded):
    engine = await guarded.wl.ready()
    await engine.users.create(local(), "ada", password=PASSWORD, superadmin=True)
    browser = guarded.browser()
    await browser.post("/api/v1/login", json={"name": "ada", "password": PASSWORD}, headers=HERE)

    refused = await browser.post(
        "/api/v1/queues/mail/pause", json={}, headers={"origin": "https://evil.example"}
    )

    assert refused.status_code == 403
    [entry] = await chain(guarded)
    assert (entry.action, entry.actor_name) == ("requests.cross_site", "ada")


async def test_a_superadmins_not_found_is_no_refusal(guarded):
    root = await guarded.token("superadmin")

    assert (await ask(guarded, "POST", f"/jobs/{UNKNOWN}/retry", root)).status_code == 404
    assert (await ask(guarded, "POST", "/jobs", root, {})).status_code == 422

    assert await chain(guarded) == []


async def test_an_anonymous_refusal_leaves_no_entry(guarded):
    assert (await ask(guarded, "POST", "/queues/mail/pause", {}, {})).status_code == 401

    assert await chain(guarded) == []


async def test_repeated_refusals_are_recorded_up_to_a_limit_and_then_counted(guarded, monkeypatch):
    now = 1000.0
    monkeypatch.setattr(refused_attempts.clock, "monotonic", lambda: now)
    user, other = await guarded.token("user", "acme"), await guarded.token("user", "acme")

    for number in range(LIMIT + 30):
        await ask(guarded, "POST", f"/queues/q{number}/pause", user, {})
    await ask(guarded, "POST", "/queues/other/pause", other, {})
    during = await chain(guarded, "acme")
    now += 61
    await ask(guarded, "POST", "/queues/later/pause", user, {})
    after = await chain(guarded, "acme")

    assert len(during) == LIMIT + 1
    assert during[-1].target_id == "other"
    assert [(entry.action, entry.after) for entry in after[LIMIT + 1 :]] == [
        ("refusals.counted", {"refused": 30}),
        ("queues.pause", {"code": "WL5102"}),
    ]


async def test_refusal_counts_are_written_at_shutdown(guarded):
    user = await guarded.token("user", "acme")
    for number in range(LIMIT + 3):
        await ask(guarded, "POST", f"/queues/q{number}/pause", user, {})
    engine = await guarded.wl.ready()

    await engine.access.refusals.flush(everything=True)

    assert (await chain(guarded, "acme"))[-1].after == {"refused": 3}
