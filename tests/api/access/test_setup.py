"""The first administrator is set up by a one-time key, and the door closes behind them."""

import asyncio

import pytest

from tests.api.authenticated_api import HERE, guarding
from windlass.api.access.callers import open_access

PASSWORD = "correct horse battery"


@pytest.fixture
async def guarded(wl):
    async with guarding(wl) as guarded:
        yield guarded


async def key_of(guarded):
    return (await (await guarded.wl.ready()).users.setup_link()).secret


async def needed(guarded):
    return (await guarded.client.get("/api/v1/setup")).json()["needed"]


def body(key, name="Ada", password=PASSWORD):
    return {"key": key, "name": name, "password": password}


async def test_the_first_administrator_chooses_name_and_password_and_is_signed_in(guarded):
    key = await key_of(guarded)
    before = await needed(guarded)

    async with guarded.browser() as admin:
        done = await admin.post("/api/v1/setup", json=body(key))
        me = (await admin.get("/api/v1/whoami")).json()
    async with guarded.browser() as elsewhere:
        again = await elsewhere.post("/api/v1/login", json={"name": "ada", "password": PASSWORD})

    assert (done.status_code, done.json()) == (200, {"name": "ada"})
    assert "HttpOnly" in done.headers["set-cookie"]
    assert (me["name"], me["memberships"][0]["role"]) == ("ada", "superadmin")
    assert again.status_code == 200
    assert (before, await needed(guarded)) == (True, False)


async def test_no_key_opens_the_door_again(guarded):
    used, unused = await key_of(guarded), await key_of(guarded)

    async with guarded.browser() as admin, guarded.browser() as late:
        await admin.post("/api/v1/setup", json=body(used))
        answers = [
            await late.post("/api/v1/setup", json=body(key, "eve"))
            for key in (used, unused, await key_of(guarded), "wlk_guessed", "")
        ]

    assert {answer.status_code for answer in answers} == {401}
    assert {answer.json()["code"] for answer in answers} == {"WL5105"}
    assert all("set-cookie" not in answer.headers for answer in answers)


async def test_two_at_once_make_one_administrator(guarded):
    keys = [await key_of(guarded), await key_of(guarded)]

    async with guarded.browser() as one, guarded.browser() as other:
        answers = await asyncio.gather(
            one.post("/api/v1/setup", json=body(keys[0], "ada")),
            other.post("/api/v1/setup", json=body(keys[1], "eve")),
        )

    assert sorted(answer.status_code for answer in answers) == [200, 401]


@pytest.mark.parametrize(("name", "password"), [("ada", "short"), ("", PASSWORD)])
async def test_what_is_not_allowed_does_not_use_up_the_key(guarded, name, password):
    key = await key_of(guarded)

    async with guarded.browser() as admin:
        refused = await admin.post("/api/v1/setup", json=body(key, name, password))
        done = await admin.post("/api/v1/setup", json=body(key))

    assert (refused.status_code, done.status_code) == (422, 200)


async def test_another_site_cannot_set_up_an_administrator(guarded):
    key = await key_of(guarded)

    foreign = await guarded.client.post(
        "/api/v1/setup", json=body(key), headers={"origin": "http://elsewhere"}
    )
    unknown = await guarded.client.post("/api/v1/setup", json=body(key))

    assert foreign.status_code == unknown.status_code == 403
    assert await needed(guarded)


async def test_a_server_without_authentication_needs_no_administrator(guarded):
    guarded.app.state.authenticate = open_access

    answer = await guarded.client.get("/api/v1/setup", headers={"host": "localhost"})

    assert answer.json() == {"needed": False}


async def test_without_the_dashboard_the_link_leads_to_the_form_for_a_password(guarded):
    link = await (await guarded.wl.ready()).users.setup_link()

    async with guarded.browser() as admin:
        form = await admin.get(link.path, follow_redirects=True)
        done = await admin.post(
            "/password",
            content=f"link={link.secret}&password={PASSWORD}",
            headers={**HERE, "content-type": "application/x-www-form-urlencoded"},
        )
        me = (await admin.get("/api/v1/whoami")).json()

    assert "Set your password" in form.text
    assert done.status_code == 303
    assert me["name"] == "admin"
    assert not await needed(guarded)
