"""A stream ends soon after its credential, its user, its tenant or its role has gone."""

import asyncio

import pytest

from tests.api.authenticated_api import HERE, guarding
from tests.api.stream_client import serving
from windlass.api.app import create_api
from windlass.api.live.intervals import StreamIntervals
from windlass.api.live.rechecks import PermissionRechecks
from windlass.core.access.principal import local

#: A check may take long here: the machine that runs the tests may be busy.
OFTEN = StreamIntervals(
    look_seconds=0.05,
    message_seconds=0.01,
    recheck_seconds=0.1,
    recheck_shared_seconds=0.05,
    recheck_timeout_seconds=30,
    heartbeat_seconds=3600,
)


@pytest.fixture
async def guarded(wl):
    async with guarding(wl) as guarded:
        yield guarded


async def revoke_token(engine, ids):
    await engine.tokens.revoke(local(), ids["token"])


async def end_session(engine, ids):
    await engine.sessions.revoke_all(local(), user=ids["user"])


async def disable_user(engine, ids):
    await engine.users.change(local(), ids["user"], disabled=True)


async def delete_user(engine, ids):
    await engine.users.delete(local(), ids["user"])


async def change_role(engine, ids):
    await engine.members.change(local(), "acme", ids["user"], role="user")


async def remove_member(engine, ids):
    await engine.members.remove(local(), "acme", ids["user"])


async def delete_tenant(engine, ids):
    await engine.tenants.delete("acme")


async def credentials(guarded):
    """A token, and a session of an invited user; both administer acme."""
    engine = await guarded.wl.ready()
    token = await engine.tokens.create(local(), "t", role="tenant_admin", tenant="acme")
    root = await guarded.token("superadmin")
    invited = await guarded.client.post(
        "/api/v1/members",
        json={"name": "ada", "role": "tenant_admin", "tenant": "acme"},
        headers=root,
    )
    body = {"link": invited.json()["link"]["secret"], "password": "correct horse battery"}
    signed_in = await guarded.client.post("/api/v1/login/invitation", json=body, headers=HERE)
    guarded.client.cookies.clear()
    user = await engine.users.get(local(), "ada")
    return (
        {"who": f"Bearer {token.secret}"},
        {"cookie": signed_in.headers["set-cookie"].partition(";")[0]},
        {"token": token.token.id, "user": user.id},
    )


@pytest.mark.parametrize(
    ("end", "by"),
    [
        (revoke_token, "token"),
        (delete_tenant, "token"),
        (end_session, "session"),
        (disable_user, "session"),
        (delete_user, "session"),
        (change_role, "session"),
        (remove_member, "session"),
        (delete_tenant, "session"),
    ],
)
async def test_a_stream_ends_when_its_authorization_is_gone(guarded, end, by):
    engine = await guarded.wl.ready()
    authenticate_token, authenticate_session, ids = await credentials(guarded)
    async with serving(create_api(guarded.wl, pace=OFTEN)) as served:
        shown = authenticate_token if by == "token" else authenticate_session
        async with served.listen("jobs", **shown) as listener:
            assert (await listener.next()).event == "ready"

            await end(engine, ids)

            assert await listener.over()


def test_a_stream_ends_within_ten_seconds():
    pace = StreamIntervals()

    assert pace.recheck_seconds + pace.recheck_shared_seconds + pace.recheck_timeout_seconds <= 10


async def test_streams_of_one_credential_share_a_recheck(monkeypatch):
    now, checks = 100.0, []
    monkeypatch.setattr("windlass.clock.monotonic", lambda: now)
    rechecks = PermissionRechecks(StreamIntervals())

    async def check():
        checks.append(now)
        return True

    await asyncio.gather(*(rechecks.may_listen("ada", check) for _ in range(100)))
    now = 102.4
    await rechecks.may_listen("ada", check)
    await rechecks.may_listen("bob", check)
    now = 102.5
    await rechecks.may_listen("ada", check)

    assert checks == [100.0, 102.4, 102.5]


async def test_a_hanging_recheck_ends_the_stream():
    async def hang():
        await asyncio.Event().wait()
        return True

    assert (
        await PermissionRechecks(StreamIntervals(recheck_timeout_seconds=0.01)).may_listen(
            "ada", hang
        )
        is False
    )


async def test_rechecks_send_no_additional_heartbeats(guarded):
    engine = await guarded.wl.ready()
    created = await engine.tokens.create(local(), "t", role="superadmin")
    async with serving(create_api(guarded.wl, pace=OFTEN)) as served:
        async with served.listen("workers", who=f"Bearer {created.secret}") as listener:
            await listener.next()
            await engine.tokens.revoke(local(), created.token.id)
            async with asyncio.timeout(30):
                lines = [line async for line in listener._lines]

    assert not any(line.startswith(":") for line in lines)
