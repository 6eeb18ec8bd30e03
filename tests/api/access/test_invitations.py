"""Invitations over HTTP: the pages of a link, accepting by a session, and a refused take-over."""

import re
from urllib.parse import urlencode

import pytest

from tests.api.authenticated_api import HERE, guarding

PASSWORD, OTHER = "correct horse battery", "another horse battery"
FORM = {**HERE, "content-type": "application/x-www-form-urlencoded"}
MEMBERS = "/api/v1/members"


@pytest.fixture
async def guarded(wl):
    async with guarding(wl) as guarded:
        yield guarded


async def invite(guarded, tenant, name="bob", **about):
    """Invite a user as a tenant's admin; returns the link's secret."""
    admin = await guarded.token("tenant_admin", tenant)
    response = await guarded.client.post(MEMBERS, json={"name": name, **about}, headers=admin)
    assert response.status_code == 201
    return response.json()["link"]["secret"]


async def open_link(browser, secret, password):
    """Try every way in which a link and a password can open an account."""
    for path, field in (("/password", "password"), ("/invitation", "new_password")):
        await browser.post(path, content=urlencode({"link": secret, field: password}), headers=FORM)
    for path in ("/api/v1/login/password", "/api/v1/login/invitation"):
        await browser.post(path, json={"link": secret, "password": password})
    await browser.post("/api/v1/login/link", json={"link": secret})
    await browser.post("/api/v1/invitations/accept", json={"link": secret})


async def places(browser):
    """The tenants in which a browser's session has a role; None is the installation."""
    me = await browser.get("/api/v1/whoami")
    if me.status_code == 401:
        return None
    return {each["tenant_id"] for each in me.json()["memberships"]}


@pytest.mark.parametrize("opened", ["before", "after"])
async def test_an_earlier_invitee_gains_no_rights_given_to_the_name_later(guarded, opened):
    root = await guarded.token("superadmin")
    async with guarded.browser() as attacker, guarded.browser() as later:
        link = await invite(guarded, "acme")
        if opened == "before":
            await open_link(attacker, link, PASSWORD)
        await invite(guarded, "globex", role="tenant_admin")
        for change in ({"superadmin": True}, {"superadmin": True, "disabled": False}):
            await guarded.client.patch("/api/v1/users/bob", json=change, headers=root)
        await guarded.client.post("/api/v1/users/invite", json={"name": "bob"}, headers=root)

        await open_link(attacker, link, PASSWORD)
        again = await invite(guarded, "acme", name="bob2")
        await open_link(attacker, again, OTHER)
        await later.post("/api/v1/login", json={"name": "bob", "password": PASSWORD})

        found = await places(attacker), await places(later)
        foreign = await later.get(MEMBERS, params={"tenant": "globex"})
        admins = await later.get("/api/v1/users")

    for each in found:
        assert each is None or each <= {"acme"}
    assert (foreign.status_code, admins.status_code) == (404, 403)


async def test_an_administrator_returns_a_taken_name_to_its_owner(guarded):
    root = await guarded.token("superadmin")
    async with guarded.browser() as squatter, guarded.browser() as bob:
        await open_link(squatter, await invite(guarded, "acme"), PASSWORD)
        offered = await invite(guarded, "globex")
        await open_link(bob, offered, OTHER)
        refused = await places(bob)

        reset = (await guarded.client.post("/api/v1/users/bob/link", headers=root)).json()
        set_by_link = {"link": reset["secret"], "password": OTHER}
        await bob.post("/api/v1/login/password", json=set_by_link)
        accepted = await bob.post("/api/v1/invitations/accept", json={"link": offered})
        owner, out = await places(bob), await places(squatter)

    assert (refused, out) == (None, None)
    assert accepted.json() == {"name": "bob", "tenant_id": "globex", "role": "user"}
    assert owner == {"acme", "globex"}


async def test_opening_an_invitation_page_changes_and_reveals_nothing(guarded):
    engine = await guarded.wl.ready()
    there = await invite(guarded, "acme", name="there")
    await engine.invitations.accept_as_new(there, PASSWORD)
    links = {
        "account": await invite(guarded, "globex", name="there"),
        "new": await invite(guarded, "globex", name="new"),
        "unknown": f"wlk_{'x' * 43}",
    }

    async with guarded.browser() as somebody:
        pages = {}
        for name, secret in links.items():
            page = await somebody.get(f"/invitation?link={secret}")
            pages[name] = page.text.replace(secret, "")
            assert (page.status_code, page.headers["cache-control"]) == (200, "no-store")
        done = await somebody.post(
            "/invitation",
            content=urlencode({"link": links["new"], "new_password": PASSWORD}),
            headers=FORM,
        )

    assert len(set(pages.values())) == 1
    assert (done.status_code, done.headers["location"]) == (303, "/")


async def test_an_invitation_is_accepted_in_a_browser_with_or_without_a_session(guarded):
    engine = await guarded.wl.ready()
    await engine.invitations.accept_as_new(await invite(guarded, "acme", name="ada"), PASSWORD)
    link = await invite(guarded, "globex", name="ada")

    async with guarded.browser() as ada, guarded.browser() as other:
        credentials = {"name": "ada", "password": PASSWORD}
        await ada.post("/api/v1/login", json=credentials)
        await other.post("/api/v1/login", json=credentials)
        page = await ada.get(f"/invitation?link={link}")
        secret = re.search(r'value="([^"]+)"', page.text)[1]
        forged = await ada.post(
            "/invitation",
            content=urlencode({"link": secret}),
            headers={**FORM, "origin": "http://evil.example"},
        )
        accepted = await ada.post("/invitation", content=urlencode({"link": secret}), headers=FORM)
        mine, ended = await places(ada), await places(other)
        link = await invite(guarded, "globex", name="cleo")
        wrong = await other.post(
            "/invitation", content=urlencode({"link": link, **credentials}), headers=FORM
        )
        unknown = await other.post("/invitation", content=urlencode({"link": link}), headers=FORM)

    assert "Accept as ada" in page.text
    assert (forged.status_code, accepted.status_code) == (403, 303)
    assert (mine, ended) == ({"acme", "globex"}, None)
    assert (wrong.status_code, unknown.status_code) == (403, 401)
    assert "cannot be accepted" in wrong.text


async def test_accepting_an_invitation_returns_one_shape(guarded):
    root = await guarded.token("superadmin")
    admin = await guarded.token("tenant_admin", "acme")
    for user in ({"name": "there"}, {"name": "boss", "superadmin": True}):
        await guarded.client.post("/api/v1/users", json=user, headers=root)

    shapes, listed = [], []
    for name in ("there", "boss", "new"):
        response = (await guarded.client.post(MEMBERS, json={"name": name}, headers=admin)).json()
        response["member"] |= {"name": "", "created_at": ""}
        response["link"] |= {"secret": "", "path": ""}
        shapes.append(response)
        items = (await guarded.client.get(MEMBERS, headers=admin)).json()["items"]
        listed += [each | {"name": "", "created_at": ""} for each in items]

    assert shapes[0] == shapes[1] == shapes[2]
    assert all(each == shapes[0]["member"] for each in listed)
    assert shapes[0]["member"]["user_id"] is None
    assert shapes[0]["member"]["pending"] is True


async def test_wrong_logins_do_not_lock_out_an_address_that_signed_in_before(guarded):
    engine = await guarded.wl.ready()
    await engine.invitations.accept_as_new(await invite(guarded, "acme", name="ada"), PASSWORD)

    async with guarded.browser("10.0.0.1") as ada, guarded.browser("10.9.9.9") as attacker:
        right, wrong = [{"name": "ada", "password": each} for each in (PASSWORD, "wrong one")]
        first = await ada.post("/api/v1/login", json=right)
        tried = [(await attacker.post("/api/v1/login", json=wrong)).status_code for _ in range(11)]
        again = await ada.post("/api/v1/login", json=right)

    assert tried == [401] * 10 + [429]
    assert (first.status_code, again.status_code) == (200, 200)
