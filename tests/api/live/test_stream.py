"""`/stream`: what changes reaches those who listen, and only those it concerns."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from tests.api.stream_client import Served, serving
from tests.support.wait import until
from windlass import JobContext
from windlass.api.access.callers import ANONYMOUS, Caller, open_access
from windlass.api.app import create_api
from windlass.api.live.intervals import StreamIntervals
from windlass.core.jobs.models import Scope
from windlass.errors import NotAuthenticated
from windlass.ids import new_job_id

QUICK = StreamIntervals(look_seconds=0.05, message_seconds=0.01)


@pytest.fixture
async def told(wl):
    """A job that logs and reports."""

    @wl.job
    async def told(ctx: JobContext) -> str:
        ctx.log.info("one")
        ctx.log.info("two")
        ctx.progress(0.5, "half of password=hunter2")
        return "done"

    await wl.ready()
    return told


@pytest.fixture
async def served(wl) -> AsyncIterator[Served]:
    async with serving(create_api(wl, authenticate=open_access, pace=QUICK)) as served:
        yield served


async def of_header(request):
    """A caller by the header's word: `all`, or the name of a tenant."""
    match request.headers.get("authorization"):
        case None:
            raise NotAuthenticated
        case "all":
            return ANONYMOUS
        case "mute":
            return Caller("mute", Scope.of("acme"), frozenset({"stream.read", "jobs.read"}))
        case tenant:
            return Caller(f"somebody of {tenant}", Scope.of(tenant))


async def test_a_change_of_counts_reaches_who_listens(served, told):
    async with served.listen("jobs,dead,queues") as listener:
        ready = await listener.next()
        await told.enqueue()
        [change] = await listener.changes("jobs")

    assert listener.response.headers["content-type"].startswith("text/event-stream")
    assert (ready.event, ready.data["resumed"]) == ("ready", False)
    assert (change["definition"], change["queue"]) == ("told", "default")
    assert change["counts"]["queued"] == 1


async def test_one_job_is_followed_to_its_end(wl, served, told):
    receipt = await told.enqueue()
    topic = f"job:{receipt.job_id}"

    async with served.listen(topic) as listener, wl.running():
        await listener.next()
        seen = []
        while not seen or seen[-1]["state"] != "completed":
            seen += await listener.changes(topic)
    lines = await served.client.get(f"/jobs/{receipt.job_id}/logs", params={"after": 1})

    assert (seen[-1]["outcome"], seen[-1]["attempts"]) == ("succeeded", 1)
    assert seen[-1]["log_sequence"] == 2
    assert [line["message"] for line in lines.json()["items"]] == ["two"]
    assert "hunter2" not in str(seen)


async def test_queues_workers_events_and_schedules_are_told(wl, served, told):
    async with served.listen("queues,workers,events,schedules,triggers") as listener:
        await listener.next()
        await wl.queues.pause("default", reason="flood")
        [paused] = await listener.changes("queues")
        await wl.emit("folder.changed", {"path": "/in"})
        [event] = await listener.changes("events")
        made = await served.client.post(
            "/schedules",
            json={"name": "nightly", "type": "cron", "definition": "told", "cron": "0 2 * * *"},
        )
        [schedule] = await listener.changes("schedules")
        await served.client.delete(f"/schedules/{made.json()['id']}")
        [gone] = await listener.changes("schedules")
        async with wl.running():
            [worker] = await listener.changes("workers")

    assert (paused["name"], paused["pause_reason"]) == ("default", "flood")
    assert (event["name"], event["tenant_id"]) == ("folder.changed", "default")
    assert (schedule["name"], schedule["enabled"]) == ("nightly", True)
    assert (gone["key"], gone["gone"]) == (schedule["id"], True)
    assert worker["liveness"] == "live"


async def test_who_comes_back_is_told_what_it_missed(served, told):
    async with served.listen("jobs") as listener:
        await listener.next()
        await told.enqueue()
        await listener.changes("jobs")
    await told.enqueue()
    await until(lambda: served.app.state.feed.sequence >= 2, waiting_for="the second change")

    async with served.listen("jobs", last_id=listener.last_id) as again:
        ready = await again.next()
        [change] = await again.changes("jobs")

    assert ready.data == {"topics": ["jobs"], "resumed": True}
    assert change["counts"]["queued"] == 2


@pytest.mark.parametrize("id", ["what-ever", "00000000-7", "-", "ä-²", "x" * 60])
async def test_who_comes_back_with_an_unknown_id_has_to_read_again(served, told, id):
    async with served.listen("jobs,queues", last_id=id.encode("utf-8")) as listener:
        heard = await listener.next()

    assert (heard.event, heard.data) == ("reset", {"topics": ["jobs", "queues"]})


async def test_only_a_topic_that_was_not_looked_at_meanwhile_has_to_be_read_again(served, told):
    async with served.listen("jobs") as listener:
        ready = await listener.next()

    async with served.listen("jobs,workers", last_id=ready.id) as again:
        heard = await again.next()

    assert (heard.event, heard.data) == ("reset", {"topics": ["workers"]})


async def test_an_id_of_long_ago_has_to_read_again(wl, told):
    short = StreamIntervals(look_seconds=0.05, message_seconds=0.01, kept_changes=2)
    async with serving(create_api(wl, authenticate=open_access, pace=short)) as served:
        async with served.listen("jobs") as listener:
            ready = await listener.next()
            for _ in range(4):
                await told.enqueue()
                await listener.changes("jobs")

        async with served.listen("jobs", last_id=ready.id) as again:
            heard = await again.next()

    assert heard.event == "reset"


async def test_a_silent_stream_beats_and_moves_its_id_on(wl, told):
    beating = StreamIntervals(look_seconds=0.05, message_seconds=0.01, heartbeat_seconds=0.05)
    async with serving(create_api(wl, authenticate=open_access, pace=beating)) as served:
        async with served.listen("workers") as listener:
            ready = await listener.next()
            first = await listener.next(comments=True)
            second = await listener.next(comments=True)

    assert [first.event, second.event, first.data] == ["", "", None]
    assert first.id == ready.id


async def test_tenants_hear_of_their_own_only(wl, told):
    for tenant in ("acme", "globex"):
        await wl.tenants.create(tenant)
    async with serving(create_api(wl, authenticate=of_header, pace=QUICK)) as served:
        job = await told.options(tenant="acme").enqueue()
        topics = f"jobs,queues,events,job:{job.job_id}"
        async with (
            served.listen(topics, who="acme") as acme,
            served.listen(topics, who="globex") as globex,
            served.listen(topics, who="all") as overseer,
            served.listen(topics, who="all", tenant="globex") as narrowed,
        ):
            for each in (acme, globex, overseer, narrowed):
                assert (await each.next()).event == "ready"
            await wl.jobs.cancel(job.job_id)
            [ended] = await acme.changes(f"job:{job.job_id}")
            await told.options(tenant="globex").enqueue()
            foreign = await globex.next()
            same = await narrowed.next()
            seen = await overseer.next()

    assert ended["state"] == "canceled"
    for heard in (foreign, same):
        assert {each.get("tenant_id", "globex") for each in heard.data["changes"]} == {"globex"}
        assert "acme" not in str(heard)
    assert "acme" in str(seen)


async def test_a_topic_needs_its_own_right_and_a_credential(wl, told):
    async with serving(create_api(wl, authenticate=of_header, pace=QUICK)) as served:
        async with served.listen("jobs,workers", who="mute") as refused:
            forbidden = refused.response.status_code
        async with served.listen("jobs") as refused:
            unknown = refused.response.status_code
        async with served.listen("jobs", who="mute") as listener:
            heard = await listener.next()

    assert (forbidden, unknown, heard.event) == (403, 401, "ready")


@pytest.mark.parametrize("topics", ["", ",", "nonsense", "job", "job:123456", "jobs," * 100])
async def test_topics_that_are_not_known_are_refused(served, told, topics):
    async with served.listen(topics if topics != "jobs," * 100 else "jobs," * 101) as refused:
        assert refused.response.status_code == 422


async def test_a_stream_ends_when_its_credential_does(wl, told):
    known = {"acme"}

    async def revocable(request):
        if request.headers.get("authorization") not in known:
            raise NotAuthenticated
        return Caller("ada", Scope.of("acme"))

    often = StreamIntervals(look_seconds=0.05, message_seconds=0.01, recheck_seconds=0.05)
    async with serving(create_api(wl, authenticate=revocable, pace=often)) as served:
        async with served.listen("jobs", who="acme") as listener:
            await listener.next()
            known.clear()

            assert await listener.over()


async def test_too_many_streams_are_refused_until_one_closes(wl, told):
    few = StreamIntervals(look_seconds=0.05, message_seconds=0.01, streams_per_caller=1)
    async with serving(create_api(wl, authenticate=of_header, pace=few)) as served:
        async with served.listen("jobs", who="acme") as listener:
            await listener.next()
            async with served.listen("jobs", who="acme") as second:
                refused = second.response
                problem = (await refused.aread()) and refused.json()
            async with served.listen("jobs", who="globex") as other:
                await other.next()

        async def let_in():
            async with served.listen("jobs", who="acme") as third:
                return third.response.status_code == 200

        assert await until(let_in, waiting_for="the seat to be given back")
    assert (refused.status_code, problem["code"]) == (429, "WL5401")
    assert int(refused.headers["retry-after"]) > 0


async def test_fifty_who_come_and_go_leave_nothing_behind(wl, told):
    brief = StreamIntervals(look_seconds=0.05, message_seconds=0.01, linger_seconds=0.0)
    async with serving(create_api(wl, authenticate=open_access, pace=brief)) as served:
        feed = served.app.state.feed
        before = len(asyncio.all_tasks())

        async def come_and_go() -> None:
            async with served.listen(f"jobs,queues,job:{new_job_id()}") as listener:
                await listener.next()

        await asyncio.gather(*(come_and_go() for _ in range(50)))

        await until(lambda: len(asyncio.all_tasks()) <= before, waiting_for="all tasks to end")
        await until(lambda: not feed._topics, waiting_for="topics to be forgotten")
        assert (dict(feed._listeners), feed._due) == ({}, {})
        assert not feed._history._seen
        assert not feed.quota._taken


async def test_the_end_of_the_server_ends_streams_at_once(wl, told):
    async with serving(create_api(wl, authenticate=open_access, pace=QUICK)) as served:
        async with served.listen("jobs") as listener:
            await listener.next()

            served.server.end()

            assert await listener.over()
