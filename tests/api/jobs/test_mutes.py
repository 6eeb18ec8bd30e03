"""`/dead/groups/mute` and `unmute`: the scope of a mute, and its audit entry."""

import pytest

from tests.api.authenticated_api import guarding
from tests.support.job_builders import claim, end
from windlass.core.jobs.states import JobState

GROUP = {"definition": "hello", "fingerprint": "c" * 16}


@pytest.fixture
async def guarded(wl):
    """An API that requires credentials; a job failed for the same cause in each of two tenants."""

    @wl.job
    def hello(name: str) -> str:
        return name

    async with guarding(wl) as guarded:
        storage = (await wl.ready()).storage
        for tenant in ("acme", "globex"):
            await wl.enqueue("hello", {"name": "Ada"}, tenant=tenant)
            [lease] = await claim(storage, known=["hello"])
            failure = {
                "error": "boom",
                "error_type": "OSError",
                "fingerprint": GROUP["fingerprint"],
            }
            await end(storage, lease, JobState.DEAD_LETTER, **failure)
        yield guarded


async def seen(guarded, token, **query):
    response = await guarded.client.get("/api/v1/dead/groups", params=query, headers=token)
    assert response.status_code == 200, response.text
    return response.json()["items"]


async def post(guarded, verb, token, **body):
    at = f"/api/v1/dead/groups/{verb}"
    return await guarded.client.post(at, json={**GROUP, **body}, headers=token)


async def test_a_tenant_admins_mute_applies_to_that_tenant_only(guarded):
    acme = await guarded.token("tenant_admin", "acme")
    globex = await guarded.token("tenant_admin", "globex")
    root = await guarded.token("superadmin")

    muted = await post(guarded, "mute", acme, for_seconds=3600, reason="known")

    assert (muted.status_code, muted.json()["tenant_id"]) == (200, "acme")
    assert await seen(guarded, acme) == []
    [group] = await seen(guarded, acme, muted=True)
    assert (group["count"], group["reason"]) == (1, "known")
    assert group["muted_by"] == muted.json()["muted_by"]
    assert group["muted_until"] > group["muted_at"]
    assert [len(await seen(guarded, who)) for who in (globex, root)] == [1, 1]
    assert [one["muted_at"] for one in await seen(guarded, globex, muted=True)] == [None]


async def test_an_operators_mute_applies_to_all_and_no_tenant_lifts_it(guarded):
    acme = await guarded.token("tenant_admin", "acme")
    root = await guarded.token("superadmin")

    muted = await post(guarded, "mute", root)
    kept = await post(guarded, "unmute", acme)
    hidden = [await seen(guarded, who) for who in (acme, root)]
    taken_back = await post(guarded, "unmute", root)

    assert (muted.json()["tenant_id"], muted.json()["muted_until"]) == (None, None)
    assert (kept.status_code, kept.json()["muted_at"]) == (200, muted.json()["muted_at"])
    assert hidden == [[], []]
    assert taken_back.json()["muted_at"] is None
    assert len(await seen(guarded, acme)) == 1


async def test_an_operator_mutes_for_one_tenant_by_name(guarded):
    root = await guarded.token("superadmin")
    at = "/api/v1/dead/groups/mute?tenant=acme"

    muted = await guarded.client.post(at, json=GROUP, headers=root)

    assert muted.json()["tenant_id"] == "acme"
    assert await seen(guarded, root, tenant="acme") == []
    assert len(await seen(guarded, root)) == 1


async def test_a_mute_is_audited_in_the_chain_of_its_owner(guarded):
    acme = await guarded.token("tenant_admin", "acme")
    user = await guarded.token("user", "acme")
    root = await guarded.token("superadmin")
    await post(guarded, "mute", acme, reason="known")
    await post(guarded, "mute", root)

    refused = await post(guarded, "mute", user)

    assert refused.status_code == 403
    entries = (await guarded.client.get("/api/v1/audit", headers=acme)).json()["items"]
    assert [(one["action"], one["outcome"]) for one in entries[:2]] == [
        ("dead.mute", "refused"),
        ("dead.mute", "allowed"),
    ]
    assert entries[1]["target_id"] == f"hello/{GROUP['fingerprint']}"
    assert entries[1]["after"]["reason"] == "known"
    installation = (await guarded.client.get("/api/v1/audit", headers=root)).json()["items"]
    assert installation[0]["action"] == "dead.mute"


async def test_an_unknown_or_foreign_group_is_not_muted(guarded):
    acme = await guarded.token("tenant_admin", "acme")
    await guarded.wl.tenants.create("initech")
    initech = await guarded.token("tenant_admin", "initech")

    unknown = await post(guarded, "mute", acme, fingerprint="d" * 16)
    foreign = await post(guarded, "mute", initech)

    assert [(each.status_code, each.json()["code"]) for each in (unknown, foreign)] == [
        (404, "WL3306")
    ] * 2


@pytest.mark.parametrize(
    "body", [{"for_seconds": 0}, {"for_seconds": -1}, {"definition": ""}, {"until": "tomorrow"}]
)
async def test_invalid_mutes_are_refused(guarded, body):
    root = await guarded.token("superadmin")

    assert (await post(guarded, "mute", root, **body)).status_code == 422
    assert len(await seen(guarded, root)) == 1
