"""Actions of a token are shown with the token's name and id."""

import pytest

from tests.api.authenticated_api import guarding
from windlass.core.access.principal import local


@pytest.fixture
async def guarded(wl):
    @wl.job
    def hello() -> None: ...

    async with guarding(wl) as guarded:
        yield guarded


async def test_the_token_that_paused_a_queue_is_shown_by_name(guarded, wl):
    engine = await wl.ready()
    created = await engine.tokens.create(local(), "deploy bot", role="superadmin")
    bot, actor = {"authorization": f"Bearer {created.secret}"}, f"token:{created.token.id}"
    admin = await guarded.token("tenant_admin", "acme")
    job = await guarded.client.post("/api/v1/jobs", json={"definition": "hello"}, headers=admin)

    paused = await guarded.client.post("/api/v1/queues/default/pause", headers=bot)
    await engine.tokens.revoke(local(), created.token.id)  # its name stays known
    shown = await guarded.client.get("/api/v1/queues/default", headers=admin)
    listed = await guarded.client.get("/api/v1/queues", headers=admin)
    explained = await guarded.client.get(
        f"/api/v1/jobs/{job.json()['job']['id']}/explain", headers=admin
    )

    for queue in (paused.json(), shown.json(), listed.json()["items"][0]):
        assert (queue["paused_by"], queue["paused_by_name"]) == (actor, "deploy bot")
    assert f"was paused by deploy bot ({actor})" in explained.json()["sentence"]


@pytest.mark.parametrize(
    "actor", ["ada", "token:", "token:x", None, "user:0190a5d0-0000-7000-8000-000000000000"]
)
async def test_an_unknown_actor_is_shown_as_stored(guarded, wl, actor):
    await wl.queues.pause("default", actor=actor)

    queue = await wl.queues.get("default")

    assert (queue.paused_by, queue.paused_by_name) == (actor, None)


async def test_an_audit_entry_has_the_tokens_name_and_id(guarded, wl):
    root = await guarded.token("superadmin")
    await guarded.client.post("/api/v1/queues/default/pause", headers=root)

    [entry] = [
        each
        for each in (await guarded.client.get("/api/v1/audit", headers=root)).json()["items"]
        if each["action"] == "queues.pause"
    ]

    assert (entry["actor_name"], entry["actor"][:6]) == ("superadmin of None", "token:")
