"""`/stream`: changes reach the subscribers that may see them, and no others."""

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
async def reporter(wl):
    """A job that logs and reports."""

    @wl.job
    async def reporter(ctx: JobContext) -> str:
        ctx.log.info("one")
        ctx.log.info("two")
        ctx.progress(0.5, "half of password=hunter2")
        return "done"

    await wl.ready()
    return reporter


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


async def test_a_count_change_reaches_subscribers(served, reporter):
    async with served.listen("jobs,dead,queues") as listener:
        ready = await listener.next()
        await reporter.enqueue()
        [change] = await listener.changes("jobs")

    assert listener.response.headers["content-type"].startswith("text/event-stream")
    assert (ready.event, ready.data["resumed"]) == ("ready", False)
    assert (change["definition"], change["queue"]) == ("reporter", "default")
    assert change["counts"]["queued"] == 1


async def test_one_job_can_be_followed_to_its_end(wl, served, reporter):
    receipt = await reporter.enqueue()
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


async def test_queues_workers_events_and_schedules_are_streamed(wl, served, reporter):
    async with served.listen("queues,workers,events,schedules,triggers") as listener:
        await listener.next()
        await wl.queues.pause("default", reason="flood")
        [paused] = await listener.changes("queues")
        await wl.emit("folder.changed", {"path": "/in"})
        [event] = await listener.changes("events")
        created = await served.client.post(
            "/schedules",
            json={"name": "nightly", "type": "cron", "definition": "reporter", "cron": "0 2 * * *"},
        )
        [schedule] = await listener.changes("schedules")
        await served.client.delete(f"/schedules/{created.json()['id']}")
        [gone] = await listener.changes("schedules")
        async with wl.running():
            [worker] = await listener.changes("workers")

    assert (paused["name"], paused["pause_reason"]) == ("default", "flood")
    assert (event["name"], event["tenant_id"]) == ("folder.changed", "default")
    assert (schedule["name"], schedule["enabled"]) == ("nightly", True)
    assert (gone["key"], gone["gone"]) == (schedule["id"], True)
    assert worker["liveness"] == "live"


async def test_a_reconnecting_client_gets_missed_messages(served, reporter):
    async with served.listen("jobs") as listener:
        await listener.next()
        await reporter.enqueue()
        await listener.changes("jobs")
    await reporter.enqueue()
    await until(lambda: served.app.state.feed.sequence >= 2, waiting_for="the second change")

    async with served.listen("jobs", last_id=listener.last_id) as again:
        ready = await again.next()
        [change] = await again.changes("jobs")

    assert ready.data == {"topics": ["jobs"], "resumed": True}
    assert change["counts"]["queued"] == 2


@pytest.mark.parametrize("id", ["what-ever", "00000000-7", "-", "ä-²", "x" * 60])
async def test_an_unknown_last_event_id_causes_a_reset(served, reporter, id):
    async with served.listen("jobs,queues", last_id=id.encode("utf-8")) as listener:
        message = await listener.next()

    assert (message.event, message.data) == ("reset", {"topics": ["jobs", "queues"]})


async def test_only_topics_not_watched_meanwhile_are_reset(served, reporter):
    async with served.listen("jobs") as listener:
        ready = await listener.next()

    async with served.listen("jobs,workers", last_id=ready.id) as again:
        message = await again.next()

    assert (message.event, message.data) == ("reset", {"topics": ["workers"]})


async def test_an_old_last_event_id_causes_a_reset(wl, reporter):
    short = StreamIntervals(look_seconds=0.05, message_seconds=0.01, kept_changes=2)
    async with serving(create_api(wl, authenticate=open_access, pace=short)) as served:
        async with served.listen("jobs") as listener:
            ready = await listener.next()
            for _ in range(4):
                await reporter.enqueue()
                await listener.changes("jobs")

        async with served.listen("jobs", last_id=ready.id) as again:
            message = await again.next()

    assert message.event == "reset"


async def test_an_idle_stream_sends_heartbeats_that_advance_its_id(wl, reporter):
    beating = StreamIntervals(look_seconds=0.05, message_seconds=0.01, heartbeat_seconds=0.05)
    async with serving(create_api(wl, authenticate=open_access, pace=beating)) as served:
        async with served.listen("workers") as listener:
            ready = await listener.next()
            first = await listener.next(comments=True)
            second = await listener.next(comments=True)

    assert [first.event, second.event, first.data] == ["", "", None]
    assert first.id == ready.id


async def test_tenants_get_messages_of_their_own_only(wl, reporter):
    for tenant in ("acme", "globex"):
        await wl.tenants.create(tenant)
    async with serving(create_api(wl, authenticate=of_header, pace=QUICK)) as served:
        job = await reporter.options(tenant="acme").enqueue()
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
            await reporter.options(tenant="globex").enqueue()
            foreign = await globex.next()
            same = await narrowed.next()
            seen = await overseer.next()

    assert ended["state"] == "canceled"
    for message in (foreign, same):
        assert {each.get("tenant_id", "globex") for each in message.data["changes"]} == {"globex"}
        assert "acme" not in str(message)
    assert "acme" in str(seen)


async def test_a_topic_needs_a_credential_with_its_right(wl, reporter):
    async with serving(create_api(wl, authenticate=of_header, pace=QUICK)) as served:
        async with served.listen("jobs,workers", who="mute") as refused:
            forbidden = refused.response.status_code
        async with served.listen("jobs") as refused:
            unknown = refused.response.status_code
        async with served.listen("jobs", who="mute") as listener:
            message = await listener.next()

    assert (forbidden, unknown, message.event) == (403, 401, "ready")


@pytest.mark.parametrize("topics", ["", ",", "nonsense", "job", "job:123456", "jobs," * 100])
async def test_unknown_topics_are_refused(served, reporter, topics):
    async with served.listen(topics if topics != "jobs," * 100 else "jobs," * 101) as refused:
        assert refused.response.status_code == 422


async def test_a_stream_ends_with_its_credential(wl, reporter):
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


async def test_streams_are_limited_until_one_closes(wl, reporter):
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


async def test_fifty_disconnected_clients_leave_nothing_behind(wl, reporter):
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


async def test_server_shutdown_ends_streams_at_once(wl, reporter):
    async with serving(create_api(wl, authenticate=open_access, pace=QUICK)) as served:
        async with served.listen("jobs") as listener:
            await listener.next()

            served.server.end()

            assert await listener.over()
