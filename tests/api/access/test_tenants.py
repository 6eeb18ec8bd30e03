"""Tenants over HTTP: an id is used once, and access ends with the tenant."""

import pytest

from tests.api.authenticated_api import guarding

PASSWORD = "correct horse battery"


@pytest.fixture
async def guarded(wl):
    async with guarding(wl) as guarded:
        yield guarded


async def test_a_known_tenant_id_is_refused_and_nothing_reset(guarded):
    root = await guarded.token("superadmin")
    token = await guarded.token("tenant_admin", "acme")
    tenants = "/api/v1/tenants"
    limits = {"weight": 3, "max_open": 9}
    await guarded.client.patch(f"{tenants}/acme", json=limits, headers=root)
    await guarded.client.post(f"{tenants}/acme/suspend", headers=root)

    known = await guarded.client.post(tenants, json={"id": "acme"}, headers=root)
    after = (await guarded.client.get(f"{tenants}/acme", headers=root)).json()
    await guarded.client.delete(f"{tenants}/acme", headers=root)
    deleted = await guarded.client.post(tenants, json={"id": "acme"}, headers=root)
    gone = await guarded.client.get(f"{tenants}/acme", headers=root)
    old = await guarded.client.get("/api/v1/whoami", headers=token)

    assert (known.status_code, known.json()["code"]) == (409, "WL4420")
    assert (after["state"], after["weight"], after["max_open"]) == ("suspended", 3, 9)
    assert (deleted.status_code, deleted.json()["code"]) == (409, "WL4420")
    assert "was deleted" in deleted.json()["title"]
    assert (gone.status_code, old.status_code) == (404, 401)


async def test_deleting_a_tenant_ends_sessions_of_users_without_another(guarded):
    root = await guarded.token("superadmin")
    engine = await guarded.wl.ready()

    async def come(browser, name, *tenants):
        links = []
        for tenant in tenants:
            body = {"name": name, "tenant": tenant}
            invited = await guarded.client.post("/api/v1/members", json=body, headers=root)
            links.append(invited.json()["link"]["secret"])
        signed = await engine.invitations.accept_as_new(links[0], PASSWORD)
        browser.cookies.set("windlass_session", signed.secret)
        for link in links[1:]:
            await browser.post("/api/v1/invitations/accept", json={"link": link})

    async with guarded.browser() as only, guarded.browser() as both:
        await come(only, "only", "acme")
        await come(both, "both", "acme", "globex")
        await guarded.client.delete("/api/v1/tenants/acme", headers=root)
        ended = await only.get("/api/v1/whoami")
        stays = await both.get("/api/v1/whoami")

    assert ended.status_code == 401
    assert [each["tenant_id"] for each in stays.json()["memberships"]] == ["globex"]


async def test_purging_a_tenant_needs_access_to_all_tenants(guarded):
    root, admin = await guarded.token("superadmin"), await guarded.token("tenant_admin", "acme")
    url = "/api/v1/tenants/acme?purge=true"

    refused = await guarded.client.delete(url, headers=admin)
    first = await guarded.client.delete(url, headers=root)
    again = await guarded.client.delete(url, headers=root)
    reserved = await guarded.client.delete("/api/v1/tenants/system?purge=true", headers=root)
    entries = (await guarded.client.get("/api/v1/audit", headers=root)).json()["items"]

    assert (refused.status_code, first.status_code, again.status_code) == (403, 200, 200)
    assert (first.json()["rows"]["tokens"], first.json()["more"]) == (1, False)
    assert (again.json()["rows"], again.json()["open"]) == ({}, 0)
    assert (reserved.status_code, reserved.json()["code"]) == (409, "WL4421")
    purges = [each for each in entries if each["action"] == "tenants.purge"]
    assert len(purges) == 2
    assert all(each["actor"].startswith("token:") for each in purges)
