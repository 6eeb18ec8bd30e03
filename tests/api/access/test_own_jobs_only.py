"""A user who may see only their own jobs gets only those, or is refused."""

import base64
from dataclasses import dataclass

import pytest

from tests.api.access.test_roles import UNKNOWN
from tests.api.authenticated_api import Guarded, guarding
from tests.api.stream_client import serving
from tests.support.wait import until
from windlass import JobContext, Permanent
from windlass.api.access.credentials import by_credentials
from windlass.api.app import create_api
from windlass.api.live.intervals import StreamIntervals
from windlass.api.schema.cursors import Cursors
from windlass.core.jobs.models import ALL_TENANTS


@dataclass
class TwoUsers:
    """Two people of a tenant, each with a job that failed and logged a line about mail."""

    guarded: Guarded
    ada: dict
    bob: dict
    adas: str
    bobs: str

    async def get(self, path, who, **params):
        return await self.guarded.client.get(f"/api/v1{path}", params=params, headers=who)


@pytest.fixture
async def two(wl):
    @wl.job
    def mail(ctx: JobContext) -> None:
        ctx.log.info("mail is lost")
        raise Permanent("no")

    async with guarding(wl) as guarded:
        ada, bob = await guarded.token("user", "acme"), await guarded.token("user", "acme")
        created = [
            await guarded.client.post("/api/v1/jobs", json={"definition": "mail"}, headers=who)
            for who in (ada, bob)
        ]
        async with wl.running():
            await until(lambda: _dead(wl), waiting_for="both jobs to fail")
        yield TwoUsers(guarded, ada, bob, *[each.json()["job"]["id"] for each in created])


async def _dead(wl):
    return (await wl.jobs.summary()).states["dead_letter"] == 2


async def test_the_dead_letter_shows_own_jobs_only(two):
    for who, job in ((two.ada, two.adas), (two.bob, two.bobs)):
        listed = (await two.get("/dead", who)).json()["items"]

        assert [each["id"] for each in listed] == [job]


async def test_a_log_search_finds_lines_of_own_jobs_only(two):
    everywhere = (await two.get("/logs", two.ada, words="mail")).json()
    own = (await two.get("/logs", two.ada, words="mail", job=two.adas)).json()
    foreign = await two.get("/logs", two.ada, words="mail", job=two.bobs)
    unknown = await two.get("/logs", two.ada, words="mail", job=UNKNOWN)
    by_its_end = await two.get("/logs", two.ada, words="mail", job=two.bobs[-12:])

    assert [line["job_id"] for line in everywhere["items"]] == [two.adas]
    assert own == everywhere
    for refused in (foreign, unknown, by_its_end):
        assert (refused.status_code, refused.json()["code"]) == (404, "WL3301")


async def test_a_summary_counts_own_jobs_only(two, wl):
    job = {"definition": "mail", "delay_seconds": 3600}
    later = await two.guarded.client.post("/api/v1/jobs", json=job, headers=two.ada)
    assert later.status_code == 201, later.text

    ada = (await two.get("/jobs/summary", two.ada)).json()
    bob = (await two.get("/jobs/summary", two.bob)).json()

    assert (ada["dead_letter"], ada["queued"], ada["queues"]) == (1, 1, [])
    assert ada["views"]["scheduled"] == {"count": 1, "exact": True}
    assert ada["views"]["queued"] == {"count": 0, "exact": True}
    assert (bob["dead_letter"], bob["queued"], bob["oldest_queued_seconds"]) == (1, 0, None)


async def test_causes_of_all_jobs_are_refused_with_a_reason(two):
    refused = await two.get("/dead/groups", two.ada)

    assert (refused.status_code, refused.json()["code"]) == (403, "WL5102")
    assert "covers all jobs" in refused.json()["detail"]


@pytest.mark.parametrize("path", ["/stats", "/stats/tenants", "/operations", "/workers"])
async def test_routes_without_the_right_are_refused(two, path):
    refused = await two.get(path, two.ada)

    assert (refused.status_code, refused.json()["code"]) == (403, "WL5102")


async def test_another_tenants_admin_finds_nothing_and_a_superadmin_everything(two):
    admin = await two.guarded.token("tenant_admin", "globex")
    root = await two.guarded.token("superadmin")

    async def stats_of(who):
        lines = (await two.get("/logs", who, words="mail")).json()["items"]
        dead = (await two.get("/jobs/summary", who)).json()["dead_letter"]
        failed = (await two.get("/stats", who)).json()["total"]["failed"]
        tenants = (await two.get("/stats/tenants", who)).json()["items"]
        return len(lines), dead, failed, "acme" in {each["tenant_id"] for each in tenants}

    assert await stats_of(admin) == (0, 0, 0, False)
    assert await stats_of(root) == (2, 2, 2, True)


async def test_a_user_can_stream_own_jobs_only(two, wl):
    quick = StreamIntervals(look_seconds=0.05, message_seconds=0.01)
    who = two.ada["authorization"]
    async with serving(create_api(wl, authenticate=by_credentials, pace=quick)) as served:
        refused = {}
        for topic in (
            "jobs",
            "dead",
            "queues",
            f"job:{two.bobs}",
            f"log:{two.bobs}",
            f"job:{UNKNOWN}",
        ):
            async with served.listen(f"job:{two.adas},{topic}", who=who) as listener:
                refused[topic] = listener.response.status_code
        async with served.listen(f"job:{two.adas}", who=who) as listener:
            await listener.next()
            await wl.jobs.retry(two.bobs)
            await wl.jobs.retry(two.adas)
            [change] = await listener.changes(f"job:{two.adas}")

    assert list(refused.values()) == [403, 403, 403, 404, 404, 404]
    assert (change["id"], change["state"]) == (two.adas, "queued")


def test_a_cursor_does_not_reveal_hidden_jobs():
    cursors = Cursors(b"secret")
    cursor = cursors.make(UNKNOWN, list="jobs", scope=ALL_TENANTS)

    raw = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))

    assert UNKNOWN.encode() not in raw
    assert cursors.read(cursor, list="jobs", scope=ALL_TENANTS) == UNKNOWN


async def test_a_job_that_is_not_visible_cannot_be_cloned(two):
    async def clone(who, job):
        return await two.guarded.client.post(f"/api/v1/jobs/{job}/clone", headers=who)

    own, foreign = await clone(two.ada, two.adas), await clone(two.ada, two.bobs)
    unknown, guessed = await clone(two.ada, UNKNOWN), await clone(two.ada, two.bobs[-8:])

    assert own.status_code == 201
    assert {foreign.status_code, unknown.status_code, guessed.status_code} == {404}
    assert foreign.json()["code"] == unknown.json()["code"]
