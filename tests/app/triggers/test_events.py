"""Events: tried, replayed, and in chains."""

import asyncio
from datetime import timedelta

import pytest

from tests.conformance.triggers.test_triggers import a_trigger
from tests.support.wait import until
from windlass import Windlass
from windlass.engine.nudges import COMMITTED_SECONDS
from windlass.engine.triggers.events import DEEPEST
from windlass.errors import (
    OptionInvalid,
)

SOON = timedelta(milliseconds=300)


@pytest.fixture
def ingest(wl):
    @wl.job
    def ingest(path: str, size: int = 0) -> str:
        return f"{path} {size}"

    return ingest


async def test_a_trigger_can_be_tried_without_creating_a_job(wl, ingest):
    await wl.triggers.create(
        "t",
        definition="ingest",
        event="e",
        condition={"kind": "scan"},
        payload={"path": "{{event.path}}"},
    )
    other = await wl.emit("another", {"kind": "scan", "path": "/in"})

    good = await wl.triggers.test("t", data={"kind": "scan", "path": "/in"})
    unmet = await wl.triggers.test("t", data={"kind": "photo"})
    missing = await wl.triggers.test("t", data={"kind": "scan"})
    named = await wl.triggers.test("t", event=other.id)

    assert (good.matches, good.payload, good.error) == (True, {"path": "/in"}, None)
    assert (unmet.matches, unmet.because) == (False, 'it does not hold that kind is "scan"')
    assert "event.path" in str(missing.error)
    assert (named.matches, named.because) == (False, 'it waits for "e", not "another"')
    assert (await wl.jobs.list()).jobs == []
    with pytest.raises(OptionInvalid):
        await wl.triggers.test("t")


async def test_an_event_can_be_replayed(wl, ingest):
    await wl.triggers.create(
        "t", definition="ingest", event="e", payload={"path": "{{event.path}}"}
    )
    event = await wl.emit("e", {"path": "/in"}, correlation_id="c")

    again = await wl.events.replay(event.id)

    assert again.id != event.id
    assert (again.data, again.correlation_id, again.jobs) == ({"path": "/in"}, "c", 1)
    assert len((await wl.jobs.list()).jobs) == 2


@pytest.fixture
async def crowd(wl, ingest):
    """250 triggers that wait for one event; one in ten is for events with another field."""
    engine = await wl.ready()
    created = [
        a_trigger(
            type="event",
            interval_seconds=None,
            event_name="e",
            definition="ingest",
            payload={"path": "{{event.nothing}}" if number % 10 == 0 else "{{event.path}}"},
        )
        for number in range(250)
    ]
    for trigger in created:
        assert await engine.storage.triggers.create_trigger(trigger)
    return {trigger.id for number, trigger in enumerate(created) if number % 10}


async def test_an_event_creates_a_job_for_each_of_many_triggers(wl, crowd):
    event = await wl.emit("e", {"path": "/in"})

    jobs = (await wl.jobs.list(limit=500)).jobs
    assert len(jobs) == 225
    assert {job.trigger_id for job in jobs} == crowd
    assert (await wl.events.get(event.id)).jobs == 225


async def test_interrupted_matching_continues_with_the_next_batch(wl, crowd, monkeypatch):
    engine = await wl.ready()
    matching, batches = engine.storage.triggers.matching, iter([True, True])

    def die_at_the_third():
        if next(batches, False):
            return matching()
        raise KeyboardInterrupt

    event = engine.events.make("e", {"path": "/in"})
    with monkeypatch.context() as dying:
        dying.setattr(engine.storage.triggers, "matching", die_at_the_third)
        with pytest.raises(KeyboardInterrupt):
            await engine.events.emit(event)
    some = (await wl.jobs.list(limit=500)).jobs
    await asyncio.gather(*[engine.events.match(event.id) for _ in range(4)])

    assert len(some) == 180
    jobs = (await wl.jobs.list(limit=500)).jobs
    assert (len(jobs), {job.trigger_id for job in jobs}) == (225, crowd)
    assert (await wl.events.get(event.id)).jobs == 225


async def test_an_event_chain_that_loops_is_stopped(database):
    wl = Windlass(database.url)

    @wl.on("ping", payload={"n": "{{event.n}}"})
    async def echo(n: int) -> None:
        await wl.emit("ping", {"n": n + 1})

    wl.job("other")(lambda: None)
    async with wl.running():
        await wl.emit("ping", {"n": 0})
        await until(lambda: failed_for_good(wl), waiting_for="the end of the chain", within=60)

    async with wl:
        events = await wl.events.list(limit=100)
        job = await failed_for_good(wl)
    assert sorted(event.depth for event in events) == list(range(DEEPEST + 1))
    assert "of its chain" in job.last_error


async def failed_for_good(wl):
    page = await wl.jobs.list(states=["retrying", "dead_letter"])
    return page.jobs[0] if page.jobs else None


async def test_events_of_a_transaction_are_not_matched_once_the_app_is_closed(wl, monkeypatch):
    engine = await wl.ready()
    matched = []
    monkeypatch.setattr(engine.events, "match", matched.append)
    event = engine.events.make("folder.changed", {})

    await engine.events.match_after_commit(event.id)
    await wl.close()
    await asyncio.sleep(2 * sum(COMMITTED_SECONDS))

    assert matched == []
