"""A schedule that cannot fire keeps its due time, shows the reason, and affects no other."""

from datetime import timedelta

import pytest

from tests.support.job_builders import KNOWN, a_tenant, change_definition, set_enabled
from windlass.core.jobs.models import ALL_TENANTS, DEFAULT_TENANT
from windlass.core.jobs.query import JobQuery
from windlass.core.triggers.schedule import cron, every
from windlass.errors import DatabaseOutage, DatabaseTimeout, DatabaseUnreachable, TriggerUnreadable
from windlass.upkeep.scheduler import Scheduler

MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)


@pytest.fixture
def scheduler(engine):
    return Scheduler(engine, tick_seconds=15)


@pytest.fixture
def made(storage):
    async def jobs():
        return (await storage.jobs.page(ALL_TENANTS, JobQuery(), limit=500)).jobs

    return jobs


@pytest.fixture
def edit_by_hand(storage):
    """Change a trigger's row as an operator with an SQL prompt does."""

    async def write(trigger, changes):
        await storage.database.script(
            f"update windlass_triggers set {changes} where id = '{trigger.id}';\n"
        )

    return write


async def hourly(engine, name="hourly", **options):
    return await engine.triggers.create(
        name, definition=KNOWN[0], schedule=cron("0 * * * *"), **options
    )


@pytest.mark.parametrize("step", ["job_factory", "rights", "definitions", "fire", "overlap"])
async def test_an_outage_at_any_step_loses_no_due_time(
    engine, scheduler, storage, clock, made, monkeypatch, step
):
    trigger = await hourly(engine, misfire="all", overlap="queue_one")
    await clock.set(trigger.next_run_at)
    await scheduler.tick()
    await storage.jobs.cancel(ALL_TENANTS, [job.id for job in await made()])
    await clock.set(trigger.next_run_at + 2 * HOUR)

    async def go_away(*_, **__):
        raise DatabaseUnreachable("postgresql://db")

    target, name = {
        "job_factory": (engine.job_factory, "at"),
        "rights": (engine.job_factory._rights, "require_trigger_owner"),
        "definitions": (engine.definitions, "get"),
        "fire": (storage.triggers, "fire"),
        "overlap": (storage.jobs, "get"),
    }[step]
    with monkeypatch.context() as broken:
        broken.setattr(target, name, go_away)
        with pytest.raises(DatabaseOutage):
            await scheduler.tick()

    after = await engine.triggers.get("hourly")
    assert (after.next_run_at, after.last_error) == (trigger.next_run_at + HOUR, None)
    assert await scheduler.tick() == 2


async def test_an_outage_while_a_refusal_is_recorded_changes_nothing(
    engine, scheduler, storage, clock, monkeypatch
):
    numbers = '{"type": "object", "properties": {"n": {"type": "integer"}}}'
    await change_definition(storage, KNOWN[0], payload_schema=numbers)
    trigger = await hourly(engine, payload={"n": "{{schedule.name}}"})
    await clock.set(trigger.next_run_at)

    with monkeypatch.context() as broken:
        broken.setattr(storage.database, "run", _failing(storage.database.run, "skip_due_time"))
        with pytest.raises(DatabaseOutage):
            await scheduler.tick()
    between = await engine.triggers.get("hourly")
    await scheduler.tick()
    after = await engine.triggers.get("hourly")

    assert (between.next_run_at, between.last_error) == (trigger.next_run_at, None)
    assert after.next_run_at == trigger.next_run_at + HOUR
    assert after.last_error


async def test_an_unexpected_error_leaves_a_schedule_due(
    engine, scheduler, clock, made, monkeypatch
):
    trigger = await hourly(engine)
    await clock.set(trigger.next_run_at)

    async def fail(*_):
        raise ZeroDivisionError

    with monkeypatch.context() as broken:
        broken.setattr(engine.job_factory, "at", fail)
        assert await scheduler.tick() == 0
    after = await engine.triggers.get("hourly")
    await clock.advance(MINUTE)

    assert (after.enabled, after.next_run_at) == (True, trigger.next_run_at)
    assert after.last_error == "unexpected ZeroDivisionError"
    assert await scheduler.tick() == len(await made()) == 1
    assert (await engine.triggers.get("hourly")).last_error is None


@pytest.mark.parametrize(("changes", "repair"), [
    ("cron = 'now and then'", {"schedule": cron("0 * * * *")}),
    ("timezone = 'Europe/Atlantis'", {"schedule": cron("0 * * * *", tz="UTC")}),
    ("payload = '{not json'", {"payload": {"n": 1}}),
    ("payload = '{\"n\": \"{{no such}}\"}'", {"payload": {"n": 1}}),
    ("next_run_at = -9000000000000000000", {"schedule": cron("0 * * * *")}),
])  # fmt: skip
async def test_an_unreadable_row_is_marked_and_the_others_fire(
    engine, scheduler, clock, made, edit_by_hand, changes, repair
):
    bad, good = await hourly(engine, "bad"), await hourly(engine, "good")
    await clock.set(bad.next_run_at)
    await edit_by_hand(bad, changes)

    assert await scheduler.tick() == 1
    assert await scheduler.tick() == 0

    shown = {trigger.name: trigger for trigger in await engine.triggers.schedules()}
    assert [job.trigger_id for job in await made()] == [good.id]
    assert shown["bad"].last_error
    assert shown["bad"].enabled
    assert shown["good"].last_error is None
    if "next_run_at" not in changes:
        assert shown["bad"].next_run_at == bad.next_run_at

    await engine.triggers.update("bad", **repair)
    await clock.advance(HOUR)
    assert await scheduler.tick() == 2


async def test_a_due_time_survives_a_temporarily_unreadable_row(
    engine, scheduler, clock, edit_by_hand
):
    trigger = await hourly(engine, misfire="all")
    await clock.set(trigger.next_run_at)
    await edit_by_hand(trigger, "timezone = 'Europe/Atlantis'")
    await scheduler.tick()
    await clock.advance(2 * HOUR)
    await scheduler.tick()

    await edit_by_hand(trigger, "timezone = 'UTC'")
    await clock.advance(MINUTE)

    assert await scheduler.tick() == 3


async def test_an_unreadable_field_is_not_overwritten_by_another_edit(
    engine, edit_by_hand, storage
):
    trigger = await hourly(engine)
    await edit_by_hand(trigger, "payload = '{not json'")

    with pytest.raises(TriggerUnreadable):
        await engine.triggers.update("hourly", overlap="skip")
    stopped = await engine.triggers.disable("hourly")

    [row] = await storage.database.query("select payload from windlass_triggers", {})
    assert row["payload"] == "{not json"
    assert not stopped.enabled
    await engine.triggers.delete("hourly")


async def test_many_broken_schedules_do_not_block_the_others(
    engine, scheduler, storage, clock, made
):
    for n in range(130):
        await hourly(engine, f"bad {n}")
    await storage.database.script("update windlass_triggers set timezone = 'Europe/Atlantis';\n")
    good = await engine.triggers.create("good", definition=KNOWN[0], schedule=cron("1 * * * *"))
    await clock.set(good.next_run_at)

    assert await scheduler.tick() == 1

    assert [job.trigger_id for job in await made()] == [good.id]


async def test_an_outage_of_one_row_lets_the_others_fire(engine, scheduler, made, monkeypatch):
    locked = await engine.triggers.create("locked", definition=KNOWN[0], schedule=every("1m"))
    await engine.triggers.create("free", definition=KNOWN[0], schedule=every("1m"))
    make = engine.job_factory.at

    async def wait_for_a_lock(trigger, at):
        if trigger.id == locked.id:
            raise DatabaseTimeout("answer", seconds=1)
        return await make(trigger, at)

    monkeypatch.setattr(engine.job_factory, "at", wait_for_a_lock)

    with pytest.raises(DatabaseOutage):
        await scheduler.tick()

    assert len(await made()) == 1


@pytest.mark.parametrize("closed", ["definition", "tenant"])
async def test_a_schedule_closed_while_it_fires_follows_the_misfire_policy(
    engine, scheduler, storage, clock, closed, monkeypatch
):
    trigger = await hourly(engine, misfire="all")
    await clock.set(trigger.next_run_at)

    async def open_again(active):
        if closed == "definition":
            await set_enabled(storage, KNOWN[0], active)
        else:
            await a_tenant(storage, DEFAULT_TENANT, state="active" if active else "suspended")

    fire = storage.triggers.fire

    async def close_and_fire(*args):
        await open_again(False)
        return await fire(*args)

    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(storage.triggers, "fire", close_and_fire)
        assert await scheduler.tick() == 0
    await clock.advance(HOUR)
    await open_again(True)

    assert await scheduler.tick() == 2


def _failing(run, failing):
    async def fail(verb, /, **params):
        if verb == failing:
            raise DatabaseTimeout("answer", seconds=1)
        return await run(verb, **params)

    return fail
