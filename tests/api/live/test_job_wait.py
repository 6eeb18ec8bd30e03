"""`GET /jobs/{id}/wait`: returns when the job has ended, or at the timeout."""

import asyncio

import httpx2
import pytest

from tests.api.authenticated_api import guarding
from tests.support.wait import until
from windlass import Permanent
from windlass.api.access.callers import open_access
from windlass.api.app import create_api
from windlass.api.live.intervals import StreamIntervals


@pytest.fixture(autouse=True)
def hello(wl):
    @wl.job(max_attempts=1)
    def hello(name: str) -> str:
        if name == "nobody":
            raise Permanent("there is nobody")
        return f"Hello, {name}"

    return hello


async def enqueued(wl, name="Ada", **options):
    return (await wl.enqueue("hello", {"name": name}, **options)).job_id


@pytest.mark.parametrize(("name", "state"), [("Ada", "completed"), ("nobody", "dead_letter")])
async def test_wait_returns_when_the_job_has_ended(api, wl, name, state):
    id = await enqueued(wl, name)
    waiting = asyncio.create_task(api.get(f"/jobs/{id}/wait?timeout=60", timeout=90))
    async with wl.running():
        response = await waiting

    assert (response.status_code, response.json()["state"]) == (200, state)


async def test_wait_returns_an_ended_job_at_once(api, wl):
    id = await enqueued(wl)
    await wl.jobs.cancel(id)

    response = await api.get(f"/jobs/{id}/wait")

    assert (response.status_code, response.json()["state"]) == (200, "canceled")


async def test_wait_returns_the_current_state_at_the_timeout(api, wl):
    id = await enqueued(wl, delay="1h")

    responses = [await api.get(f"/jobs/{id}/wait?timeout={each}") for each in (0, 0.2)]

    assert [(each.status_code, each.json()["view"]) for each in responses] == [
        (202, "scheduled")
    ] * 2


async def test_the_timeout_is_bounded_and_an_unknown_job_is_not_found(api, wl):
    id = await enqueued(wl)

    long = await api.get(f"/jobs/{id}/wait?timeout=61")
    unknown = await api.get("/jobs/0190a5d0-0000-7000-8000-000000000000/wait")

    assert (long.status_code, long.json()["errors"][0]["pointer"]) == (422, "?timeout")
    assert unknown.status_code == 404


async def test_many_waiters_do_not_use_up_the_connections(wl):
    """More wait than there are connections, and what ends the jobs still gets one."""
    app = create_api(wl, authenticate=open_access)
    transport = httpx2.ASGITransport(app, raise_app_exceptions=False)
    ids = [await enqueued(wl, delay="1h") for _ in range(3)]
    async with httpx2.AsyncClient(
        transport=transport, base_url="http://localhost/api/v1", timeout=90
    ) as client:
        waiting = [
            asyncio.create_task(client.get(f"/jobs/{id}/wait?timeout=60"))
            for id in ids
            for _ in range(15)
        ]
        for id in ids:
            assert (await client.post(f"/jobs/{id}/cancel")).status_code == 200
        responses = await asyncio.gather(*waiting)

    assert {(each.status_code, each.json()["state"]) for each in responses} == {(200, "canceled")}


async def test_a_waiter_takes_a_slot_and_releases_it(wl):
    app = create_api(wl, authenticate=open_access, pace=StreamIntervals(streams=1))
    transport = httpx2.ASGITransport(app, raise_app_exceptions=False)
    id = await enqueued(wl, delay="1h")
    async with httpx2.AsyncClient(
        transport=transport, base_url="http://localhost/api/v1", timeout=90
    ) as client:
        first = asyncio.create_task(client.get(f"/jobs/{id}/wait?timeout=60"))
        await until(lambda: app.state.feed.quota._taken, waiting_for="the first to wait")
        refused = await client.get(f"/jobs/{id}/wait?timeout=60")
        app.state.feed.end()  # as a server does that stops
        ended = await first

    assert (refused.status_code, refused.headers["retry-after"]) == (429, "10")
    assert (ended.status_code, ended.json()["state"]) == (202, "queued")
    assert not app.state.feed.quota._taken


async def test_another_users_job_cannot_be_waited_for(wl):
    async with guarding(wl) as guarded:
        ada, bob = await guarded.token("user", "acme"), await guarded.token("user", "acme")
        body = {"definition": "hello", "payload": {"name": "Ada"}}
        created = await guarded.client.post("/api/v1/jobs", json=body, headers=ada)
        id = created.json()["job"]["id"]

        foreign = await guarded.client.get(f"/api/v1/jobs/{id}/wait?timeout=0", headers=bob)

    assert foreign.status_code == 404


async def test_waiting_stops_reading_once_the_app_is_closed(api, served, wl):
    id = await enqueued(wl, delay="1h")
    await api.get(f"/jobs/{id}/wait?timeout=0.2")

    await wl.close()

    assert served.state.feed._polling.done()
