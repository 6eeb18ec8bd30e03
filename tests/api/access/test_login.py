"""Signing in: by a link in a browser, by name and password, and out again."""

import re

import pytest

from tests.api.authenticated_api import HERE, guarding

PASSWORD = "correct horse battery"
FORM = {**HERE, "content-type": "application/x-www-form-urlencoded"}


@pytest.fixture
async def guarded(wl):
    async with guarding(wl) as guarded:
        yield guarded


async def test_the_first_administrator_signs_in_by_a_one_time_button(guarded):
    link = await (await guarded.wl.ready()).users.first_admin()

    async with guarded.browser() as admin, guarded.browser() as late:
        page = await admin.get(link.path)
        again = await admin.get(link.path)  # a link preview, or a second visit
        secret = re.search(r'value="([^"]+)"', page.text)[1]
        signed_in = await admin.post("/login", content=f"link={secret}", headers=FORM)
        me = await admin.get("/api/v1/whoami")
        used = await late.post("/login", content=f"link={secret}", headers=FORM)

    assert (page.status_code, again.text) == (200, page.text)
    assert (signed_in.status_code, signed_in.headers["location"]) == (303, "/")
    assert "HttpOnly" in signed_in.headers["set-cookie"]
    assert (me.json()["name"], me.json()["memberships"][0]["role"]) == ("admin", "superadmin")
    assert used.status_code == 401
    assert "this link cannot be used." in used.text


async def test_a_sign_in_page_runs_no_script_and_cannot_be_framed(guarded):
    page = await guarded.client.get('/login?link="><script>alert(1)</script>')

    assert "<script>" not in page.text
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert "frame-ancestors 'none'" in page.headers["content-security-policy"]
    assert (page.headers["cache-control"], page.headers["referrer-policy"]) == (
        "no-store",
        "same-origin",
    )


async def test_another_site_cannot_sign_a_user_in(guarded):
    link = await (await guarded.wl.ready()).users.first_admin()
    elsewhere = {**FORM, "origin": "http://evil.example"}

    forged = await guarded.client.post("/login", content=f"link={link.secret}", headers=elsewhere)
    response = await guarded.client.post("/api/v1/login/link", json={"link": link.secret})

    assert (forged.status_code, response.status_code) == (403, 403)


async def test_an_invited_person_sets_a_password_and_signs_in_with_it(guarded):
    admin = await guarded.token("tenant_admin", "acme")
    invited = await guarded.client.post("/api/v1/members", json={"name": "ada"}, headers=admin)
    link = invited.json()["link"]

    async with guarded.browser() as ada, guarded.browser() as other:
        page = await ada.get(link["path"])
        short = await ada.post(
            "/invitation", content=f"link={link['secret']}&new_password=short", headers=FORM
        )
        chosen = f"link={link['secret']}&new_password={PASSWORD.replace(' ', '+')}"
        done = await ada.post("/invitation", content=chosen, headers=FORM)
        me = (await ada.get("/api/v1/whoami")).json()
        wrong = await other.post("/login", content="name=ada&password=wrong+one", headers=FORM)
        right = await other.post(
            "/login", content=f"name=ADA&password={PASSWORD.replace(' ', '+')}", headers=FORM
        )
        listed = (await other.get("/api/v1/sessions")).json()["items"]

    assert "new-password" in page.text
    assert (short.status_code, done.status_code) == (422, 303)
    assert (me["name"], me["tenant_id"]) == ("ada", "acme")
    assert (wrong.status_code, right.status_code) == (401, 303)
    assert len(listed) == 2


async def test_invitation_and_sign_in_work_as_json(guarded):
    root = await guarded.token("superadmin")
    await guarded.client.post("/api/v1/users", json={"name": "ada"}, headers=root)

    async def link(purpose):
        created = await guarded.client.post(
            "/api/v1/users/ada/link", json={"purpose": purpose}, headers=root
        )
        return created.json()["secret"]

    async with guarded.browser() as ada:
        login_with_link = await ada.post("/api/v1/login/link", json={"link": await link("login")})
        reset = {"link": await link("password"), "password": PASSWORD}
        set_by_link = await ada.post("/api/v1/login/password", json=reset)
        change = {"before": PASSWORD, "after": "another horse battery"}
        changed = await ada.post("/api/v1/password", json=change)
        stays = await ada.get("/api/v1/sessions")
        [session] = stays.json()["items"]
        ended = await ada.delete(f"/api/v1/sessions/{session['id']}")
        after = await ada.get("/api/v1/sessions")

    assert (login_with_link.json(), set_by_link.json()) == ({"name": "ada"}, {"name": "ada"})
    assert (changed.status_code, stays.status_code) == (204, 200)
    assert (ended.status_code, after.status_code) == (204, 401)


async def test_disabling_or_signing_out_a_user_takes_effect_at_once(guarded):
    root = await guarded.token("superadmin")
    engine = await guarded.wl.ready()

    async with guarded.browser() as admin:
        for deed in ("sign out", "disable"):
            link = await engine.users.first_admin()
            await admin.post("/login", content=f"link={link.secret}", headers=FORM)
            inside = await admin.get("/api/v1/sessions")
            if deed == "disable":
                change = {"disabled": True}
                await guarded.client.patch("/api/v1/users/admin", json=change, headers=root)
            else:
                await guarded.client.delete("/api/v1/users/admin/sessions", headers=root)
            outside = await admin.get("/api/v1/sessions")

            assert (inside.status_code, outside.status_code) == (200, 401), deed
