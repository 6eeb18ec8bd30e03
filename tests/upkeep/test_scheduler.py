"""The scheduler creates one job for each due time."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest

from tests.support.job_builders import KNOWN, change_definition, end, lease_of
from windlass.core.definitions.definition import Definition
from windlass.core.jobs.models import ALL_TENANTS
from windlass.core.jobs.query import JobQuery
from windlass.core.jobs.states import JobState
from windlass.core.triggers.declared_trigger import time_trigger
from windlass.core.triggers.schedule import cron, every, init, once
from windlass.engine.triggers.code_triggers import CodeTriggers
from windlass.errors import DatabaseTimeout
from windlass.ids import DefinitionKey
from windlass.upkeep.scheduler import Scheduler

MINUTE = timedelta(minutes=1)
NUMBERS = '{"type": "object", "properties": {"n": {"type": "integer"}}}'


@pytest.fixture
def scheduler(engine):
    return Scheduler(engine, tick_seconds=15)


@pytest.fixture
def made(storage):
    async def jobs():
        page = await storage.jobs.page(ALL_TENANTS, JobQuery(), limit=500)
        return sorted(page.jobs, key=lambda job: job.trigger_due_at)

    return jobs


async def test_a_job_is_created_at_its_due_time(engine, scheduler, clock, made):
    trigger = await engine.triggers.create(
        "nightly", definition=KNOWN[0], schedule=cron("0 2 * * *")
    )
    assert await scheduler.tick() == 0

    await clock.set(trigger.next_run_at)
    assert await scheduler.tick() == 1
    assert await scheduler.tick() == 0

    [job] = await made()
    assert (job.source, job.source_ref, job.trigger_id) == ("schedule", str(trigger.id), trigger.id)
    assert job.trigger_due_at == trigger.next_run_at
    after = await engine.triggers.get("nightly")
    assert after.next_run_at == trigger.next_run_at + timedelta(days=1)
    assert (after.last_run_at, after.last_job_id) == (trigger.next_run_at, job.id)


async def test_an_outage_while_a_job_is_created_loses_no_due_time(
    engine, scheduler, made, monkeypatch
):
    await engine.triggers.create("beat", definition=KNOWN[0], schedule=every("1m"))

    async def time_out(*_):
        raise DatabaseTimeout("answer", seconds=1)

    with monkeypatch.context() as broken:
        broken.setattr(engine.job_factory, "at", time_out)
        with pytest.raises(DatabaseTimeout):
            await scheduler.tick()

    assert (await engine.triggers.get("beat")).last_error is None
    assert await scheduler.tick() == 1
    assert len(await made()) == 1


async def test_an_interval_is_due_at_once_and_repeatedly(engine, scheduler, clock, made):
    await engine.triggers.create("beat", definition=KNOWN[0], schedule=every("1m"))

    for _ in range(3):
        assert await scheduler.tick() == 1
        await clock.set(clock.now + MINUTE)

    times = [job.trigger_due_at for job in await made()]
    assert [b - a for a, b in pairwise(times)] == [MINUTE, MINUTE]


async def test_a_once_schedule_fires_once(engine, scheduler, clock, made):
    at = clock.now + MINUTE
    await engine.triggers.create("launch", definition=KNOWN[0], schedule=once(at))

    await clock.set(at + timedelta(days=400))

    assert (await scheduler.tick(), await scheduler.tick(), len(await made())) == (1, 0, 1)
    assert (await engine.triggers.get("launch")).next_run_at is None


@pytest.mark.parametrize(("misfire", "jobs"), [("fire_once", 1), ("skip", 0), ("all", 5)])
async def test_missed_due_times_follow_the_misfire_policy(
    engine, scheduler, clock, made, misfire, jobs
):
    trigger = await engine.triggers.create(
        "hourly", definition=KNOWN[0], schedule=cron("0 * * * *"), misfire=misfire
    )

    await clock.set(trigger.next_run_at + timedelta(hours=4, minutes=30))
    await scheduler.tick()

    assert len(await made()) == jobs
    assert (await engine.triggers.get("hourly")).next_run_at == trigger.next_run_at + timedelta(
        hours=5
    )


async def test_many_schedulers_create_each_job_once(engine, clock, made):
    for n in range(20):
        await engine.triggers.create(f"t{n}", definition=KNOWN[0], schedule=cron("*/5 * * * *"))
    await clock.set(clock.now + timedelta(hours=1))

    await asyncio.gather(*[Scheduler(engine, tick_seconds=15).tick() for _ in range(4)])

    jobs = await made()
    assert len(jobs) == len({job.trigger_id for job in jobs}) == 20


@pytest.mark.parametrize(("overlap", "while_queued", "while_running"), [
    ("allow", 1, 1), ("skip", 0, 0), ("queue_one", 0, 1),
])  # fmt: skip
async def test_an_unfinished_earlier_job_follows_the_overlap_policy(
    engine, scheduler, storage, clock, overlap, while_queued, while_running
):
    await engine.triggers.create("beat", definition=KNOWN[0], schedule=every("1m"), overlap=overlap)
    await scheduler.tick()

    await clock.set(clock.now + MINUTE)
    assert await scheduler.tick() == while_queued
    if not while_queued:
        last = (await engine.triggers.get("beat")).last_job_id
        await lease_of(storage, last)
        await clock.set(clock.now + MINUTE)
        assert await scheduler.tick() == while_running


async def test_a_broken_trigger_does_not_affect_others(engine, scheduler, storage, clock, made):
    good = await engine.triggers.create("good", definition=KNOWN[0], schedule=every("1m"))
    bad = await engine.triggers.create("bad", definition=KNOWN[0], schedule=every("1m"))
    await storage.triggers.update_trigger(
        bad.id,
        lambda row: replace(row, payload={"n": "{{schedule.nothing}}"}, next_run_at=clock.now),
    )

    assert await scheduler.tick() == 1

    assert [job.trigger_id for job in await made()] == [good.id]
    after = await engine.triggers.get("bad")
    assert "schedule.nothing" in (after.last_error or "")
    assert after.next_run_at == clock.now


async def test_a_refused_payload_is_skipped_and_recorded(engine, scheduler, storage, clock, made):
    await change_definition(storage, KNOWN[0], payload_schema=NUMBERS)
    await engine.triggers.create(
        "bad", definition=KNOWN[0], schedule=every("1m"), payload={"n": "{{schedule.name}}"}
    )

    assert await scheduler.tick() == 0

    after = await engine.triggers.get("bad")
    assert after.last_error is not None
    assert (after.enabled, after.next_run_at) == (True, clock.now + MINUTE)


async def test_max_attempts_of_a_schedule_override_the_definitions(
    engine, scheduler, storage, made
):
    await change_definition(storage, KNOWN[0], max_attempts=6, priority=7)
    own = await engine.triggers.create(
        "own", definition=KNOWN[0], schedule=every("1m"), max_attempts=2
    )
    await engine.triggers.create("usual", definition=KNOWN[0], schedule=every("1m"))

    await scheduler.tick()

    attempts = {job.trigger_id == own.id: (job.max_attempts, job.priority) for job in await made()}
    assert attempts == {True: (2, 7), False: (6, 7)}


async def test_the_default_payload_is_overridden_key_by_key(engine, scheduler, storage, made):
    await change_definition(storage, KNOWN[0], default_payload='{"to": "ada", "n": 1}')
    bare = await engine.triggers.create("bare", definition=KNOWN[0], schedule=every("1m"))
    await engine.triggers.create(
        "own",
        definition=KNOWN[0],
        schedule=every("1m"),
        payload={"n": 2, "at": "{{schedule.name}}"},
    )

    await scheduler.tick()

    whole = [await storage.jobs.get(ALL_TENANTS, job.id) for job in await made()]
    payloads = {job.trigger_id == bare.id: job.payload for job in whole}
    assert payloads == {
        True: {"to": "ada", "n": 1},
        False: {"to": "ada", "n": 2, "at": "own"},
    }


async def test_an_equal_job_within_the_dedupe_window_is_not_created(engine, scheduler, clock, made):
    await engine.triggers.create(
        "beat", definition=KNOWN[0], schedule=every("1m"), dedupe_window="150s"
    )

    counts = []
    for _ in range(5):
        await scheduler.tick()
        counts.append(len(await made()))
        for job in await made():
            await engine.storage.jobs.cancel(ALL_TENANTS, [job.id])
        await clock.set(clock.now + MINUTE)

    assert counts == [1, 1, 1, 2, 2]


# At start


@pytest.fixture
def start(engine, scheduler, storage, clock):
    """Start a process that declares a definition with an init trigger; returns the jobs created."""

    async def begin(run_once=True, **about):
        await clock.set(clock.now + MINUTE)
        code = CodeTriggers(storage, engine.tenants)
        definition = Definition(key=DefinitionKey(KNOWN[0]), title="Plain", **about)
        code.declare(definition, [time_trigger(init(run_once=run_once), "fire_once", "allow")])
        await code.sync()
        return await scheduler.tick()

    return begin


async def finished(engine, state):
    """End the newest job of the init trigger."""
    [trigger] = await engine.triggers.schedules()
    lease = await lease_of(engine.storage, trigger.last_job_id)
    await end(engine.storage, lease, state)


async def test_an_init_job_is_created_at_each_start_until_it_has_completed(engine, start):
    first = await start()
    while_open = await start()
    await finished(engine, JobState.DEAD_LETTER)
    after_failure = await start()
    await finished(engine, JobState.COMPLETED)

    assert (first, while_open, after_failure) == (1, 0, 1)
    assert (await start(), await start()) == (0, 0)


async def test_a_job_for_each_start_is_created_when_its_last_one_has_ended(engine, start):
    first = await start(run_once=False)
    while_open = await start(run_once=False)
    await finished(engine, JobState.COMPLETED)

    assert (first, while_open) == (1, 0)
    assert await start(run_once=False) == 1


async def test_processes_that_start_together_create_one_init_job(engine, start):
    await start()
    await finished(engine, JobState.DEAD_LETTER)

    assert sum(await asyncio.gather(*(start() for _ in range(5)))) == 1


async def test_a_schedule_in_code_belongs_to_the_default_or_system_tenant(engine, start):
    await start()
    [usual] = await engine.triggers.schedules()
    await engine.triggers.delete(str(usual.id))
    await start(system=True)
    [systems] = await engine.triggers.schedules(system=True)

    assert (usual.tenant, systems.tenant) == ("default", "system")


async def test_disabling_keeps_the_last_run_and_enabling_starts_from_now(engine, scheduler, clock):
    await engine.triggers.create("beat", definition=KNOWN[0], schedule=cron("0 * * * *"))
    await clock.set(datetime(2030, 1, 1, 12, 30, tzinfo=UTC))
    await scheduler.tick()

    off = await engine.triggers.disable("beat")
    await clock.set(datetime(2030, 1, 5, 7, 10, tzinfo=UTC))
    assert await scheduler.tick() == 0
    on = await engine.triggers.enable("beat")

    assert off.next_run_at is None
    assert off.last_run_at is not None
    assert on.last_run_at == off.last_run_at
    assert on.next_run_at == datetime(2030, 1, 5, 8, tzinfo=UTC)


async def test_a_due_time_seen_late_by_a_slow_tick_is_not_missed(engine, clock):
    trigger = await engine.triggers.create(
        "hourly", definition=KNOWN[0], schedule=cron("0 * * * *"), misfire="skip"
    )
    await clock.set(trigger.next_run_at + timedelta(minutes=3))

    assert await Scheduler(engine, tick_seconds=120).tick() == 1


async def test_due_times_missed_while_disabled_follow_the_misfire_policy(
    engine, scheduler, clock, made
):
    trigger = await engine.triggers.create(
        "hourly", definition=KNOWN[0], schedule=cron("0 * * * *"), misfire="all"
    )
    await engine.definitions.disable(KNOWN[0])
    await clock.set(trigger.next_run_at + timedelta(hours=2))
    assert await scheduler.tick() == 0
    assert (await engine.triggers.get("hourly")).next_run_at == trigger.next_run_at

    await engine.definitions.enable(KNOWN[0])

    assert await scheduler.tick() == 3


async def test_the_most_urgent_definitions_fire_first(engine, scheduler, storage, clock, made):
    await change_definition(storage, "other", priority=25)
    for key in ("plain", "other"):
        await engine.triggers.create(key, definition=key, schedule=once(clock.now + MINUTE))
    await clock.set(clock.now + MINUTE)

    await scheduler.tick()

    assert [job.definition for job in sorted(await made(), key=lambda job: job.id)] == [
        "other",
        "plain",
    ]


async def test_a_schedule_that_runs_after_others_fires_last_and_waits(
    engine, scheduler, storage, clock, made
):
    await change_definition(storage, "plain", priority=1, runs_after=("other",))
    await change_definition(storage, "other", runs_after=("limited",))
    for key in ("plain", "other", "limited"):
        await engine.triggers.create(key, definition=key, schedule=once(clock.now + MINUTE))
    await clock.set(clock.now + MINUTE)

    assert await scheduler.tick() == 3

    jobs = {job.definition: job for job in await made()}
    assert [jobs[key].waits for key in ("limited", "other", "plain")] == [0, 1, 1]


async def test_the_loop_wakes_at_the_next_due_time(engine, storage):
    scheduler = Scheduler(engine, tick_seconds=3600)
    await engine.triggers.create(
        "soon", definition=KNOWN[0], schedule=once(await storage.now() + timedelta(seconds=3))
    )

    await scheduler.tick()

    alarm = scheduler._loop._alarm
    assert alarm is not None
    assert alarm.when() - asyncio.get_running_loop().time() <= 3
