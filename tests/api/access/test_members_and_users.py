"""Members and users over HTTP: invited, changed, removed; and `whoami`."""

import pytest

from tests.api.authenticated_api import guarding
from windlass.core.access.roles import ROLES


@pytest.fixture
async def guarded(wl):
    async with guarding(wl) as guarded:
        yield guarded


async def test_a_tenant_admin_manages_the_members_of_the_own_tenant(guarded):
    admin = await guarded.token("tenant_admin", "acme")
    members = "/api/v1/members"

    invited = await guarded.client.post(
        members, json={"name": "Ada@example.com", "role": "user"}, headers=admin
    )
    again = await guarded.client.post(members, json={"name": "ada@example.com"}, headers=admin)
    raised = await guarded.client.patch(
        f"{members}/Ada@example.com", json={"role": "tenant_admin"}, headers=admin
    )
    listed = (await guarded.client.get(members, headers=admin)).json()["items"]
    removed = await guarded.client.delete(f"{members}/ada@example.com", headers=admin)
    after = (await guarded.client.get(members, headers=admin)).json()["items"]

    assert (invited.status_code, again.status_code) == (201, 201)
    assert invited.json()["link"]["path"].startswith("/invitation?link=wlk_")
    assert (raised.json()["role"], raised.json()["tenant_id"]) == ("tenant_admin", "acme")
    assert [(each["name"], each["pending"]) for each in listed] == [("ada@example.com", True)]
    assert (removed.status_code, after) == (204, [])


async def test_a_caller_cannot_grant_rights_they_do_not_hold(guarded):
    admin = await guarded.token("tenant_admin", "acme")

    wide = await guarded.client.post(
        "/api/v1/members", json={"name": "x", "role": "superadmin"}, headers=admin
    )
    word = await guarded.client.post(
        "/api/v1/members", json={"name": "x", "permissions": ["exports"]}, headers=admin
    )
    elsewhere = await guarded.client.post(
        "/api/v1/members", json={"name": "x", "tenant": "globex"}, headers=admin
    )

    assert (wide.status_code, word.status_code, elsewhere.status_code) == (403, 403, 404)


async def test_omitted_fields_are_unchanged(guarded):
    root = await guarded.token("superadmin")
    body = {"name": "ada", "role": "user", "permissions": ["exports"], "tenant": "acme"}
    await guarded.client.post("/api/v1/members", json=body, headers=root)

    one = "/api/v1/members/ada?tenant=acme"
    raised = await guarded.client.patch(one, json={"role": "tenant_admin"}, headers=root)
    plain = await guarded.client.patch(one, json={"permissions": []}, headers=root)

    assert (raised.json()["role"], raised.json()["permissions"]) == ("tenant_admin", ["exports"])
    assert (plain.json()["role"], plain.json()["permissions"]) == ("tenant_admin", [])


async def test_a_member_change_is_audited_with_before_and_after(guarded):
    root = await guarded.token("superadmin")
    body = {"name": "ada", "tenant": "acme"}
    await guarded.client.post("/api/v1/members", json=body, headers=root)
    await guarded.client.patch(
        "/api/v1/members/ada?tenant=acme", json={"role": "tenant_admin"}, headers=root
    )

    [entry, *_] = (await guarded.client.get("/api/v1/audit?tenant=acme", headers=root)).json()[
        "items"
    ]
    assert entry["action"] == "members.write"
    assert (entry["before"]["role"], entry["after"]["role"]) == ("user", "tenant_admin")


async def test_a_superadmin_creates_changes_and_deletes_users(guarded):
    root = await guarded.token("superadmin")
    users = "/api/v1/users"

    created = await guarded.client.post(users, json={"name": "Ada"}, headers=root)
    twice = await guarded.client.post(users, json={"name": "ADA"}, headers=root)
    one = f"{users}/{created.json()['id']}"
    raised = await guarded.client.patch(one, json={"superadmin": True}, headers=root)
    changed = await guarded.client.patch(
        one, json={"superadmin": False, "disabled": True}, headers=root
    )
    gone = await guarded.client.delete(one, headers=root)
    after = await guarded.client.get(one, headers=root)

    assert (created.status_code, created.json()["name"]) == (201, "ada")
    assert (twice.status_code, twice.json()["code"]) == (409, "WL5202")
    assert (raised.status_code, raised.json()["code"]) == (409, "WL4412")
    assert (changed.json()["superadmin"], changed.json()["disabled"]) == (False, True)
    assert (gone.status_code, after.status_code) == (204, 404)


async def test_a_links_secret_is_shown_once_and_not_stored(guarded):
    root = await guarded.token("superadmin")
    await guarded.client.post("/api/v1/users", json={"name": "ada"}, headers=root)

    link = await guarded.client.post(
        "/api/v1/users/ada/link", json={"purpose": "login"}, headers=root
    )

    secret = link.json()["secret"]
    everything = [
        (await guarded.client.get(f"/api/v1/{noun}", headers=root)).text
        for noun in ("users", "members", "audit")
    ]
    assert (link.status_code, link.json()["path"]) == (201, f"/login?link={secret}")
    assert link.json()["expires_seconds"] == 900
    assert not any(secret in text for text in everything)


async def test_users_are_listed_by_cursor(guarded):
    root = await guarded.token("superadmin")
    for name in ("ada", "bob", "cleo"):
        await guarded.client.post("/api/v1/users", json={"name": name}, headers=root)

    first = (await guarded.client.get("/api/v1/users?limit=2", headers=root)).json()
    rest = (
        await guarded.client.get(
            "/api/v1/users", params={"limit": 2, "cursor": first["next_cursor"]}, headers=root
        )
    ).json()

    assert [each["name"] for each in first["items"]] == ["ada", "bob"]
    assert ([each["name"] for each in rest["items"]], rest["next_cursor"]) == (["cleo"], None)


async def test_whoami_shows_tenant_and_rights_of_a_token(guarded):
    admin = await guarded.token("tenant_admin", "acme", rights=["jobs.read", "jobs.cancel"])

    me = (await guarded.client.get("/api/v1/whoami", headers=admin)).json()

    assert (me["kind"], me["tenant_id"]) == ("token", "acme")
    assert me["rights"] == ["jobs.cancel", "jobs.read"]
    [place] = me["memberships"]
    assert (place["tenant_id"], place["role"]) == ("acme", "tenant_admin")
    assert sorted(place["rights"]) == me["rights"]


async def test_whoami_lists_the_tenants_of_a_member_of_several(guarded):
    engine = await guarded.wl.ready()
    root = await guarded.token("superadmin")
    links = []
    for tenant, role in (("acme", "tenant_admin"), ("globex", "user")):
        body = {"name": "ada", "role": role, "tenant": tenant}
        invited = await guarded.client.post("/api/v1/members", json=body, headers=root)
        links.append(invited.json()["link"]["secret"])
    signed_in = await engine.invitations.accept_as_new(links[0], "correct horse battery")
    await engine.invitations.accept(signed_in.principal, links[1], keep=signed_in.secret)

    async with guarded.browser() as ada:
        ada.cookies.set("windlass_session", signed_in.secret)
        me = (await ada.get("/api/v1/whoami")).json()
        there = (await ada.get("/api/v1/whoami?tenant=globex")).json()
        unnamed = await ada.get("/api/v1/jobs")

    rights = {each["tenant_id"]: set(each["rights"]) for each in me["memberships"]}
    assert (me["name"], me["tenant_id"], me["rights"]) == ("ada", None, [])
    assert rights == {"acme": set(ROLES["tenant_admin"]), "globex": set(ROLES["user"])}
    assert (there["tenant_id"], set(there["rights"])) == ("globex", set(ROLES["user"]))
    assert (unnamed.status_code, unnamed.json()["code"]) == (422, "WL5106")


async def test_whoami_on_an_open_server_shows_all_rights(api):
    me = (await api.get("/whoami")).json()

    assert (me["rights"], me["tenant_id"]) == (None, None)
