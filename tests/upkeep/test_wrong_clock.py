"""After a clock that was ahead is corrected, work continues as if it had been right."""

from datetime import timedelta

import pytest

from tests.support.job_builders import KNOWN, enqueue, started
from windlass.core.triggers.schedule import cron, every, once
from windlass.engine.leases.wrong_clock import ClockRepair
from windlass.upkeep.scheduler import Scheduler

DAY = timedelta(days=1)
HOUR = timedelta(hours=1)


@pytest.fixture
def scheduler(engine):
    return Scheduler(engine, tick_seconds=15)


@pytest.fixture
def repair(engine):
    return ClockRepair(engine.storage, engine.telemetry)


@pytest.mark.parametrize(("schedule", "due_in"), [
    (every("6h"), timedelta(hours=6)), (cron("30 * * * *"), timedelta(minutes=30)),
])  # fmt: skip
async def test_a_schedule_that_fired_too_early_fires_again_in_time(
    engine, scheduler, repair, clock, storage, schedule, due_in
):
    await engine.triggers.create("beat", definition=KNOWN[0], schedule=schedule)
    await clock.advance(30 * DAY)
    await scheduler.tick()
    await enqueue(storage)
    await clock.advance(-30 * DAY)

    assert await repair.tick() == 1
    assert await repair.tick() == 0

    assert (await engine.triggers.get("beat")).next_run_at == clock.now + due_in
    await clock.advance(due_in)
    assert await scheduler.tick() == 1


async def test_an_instant_given_by_a_person_is_not_corrected(engine, repair, clock, storage):
    at = clock.now + 60 * DAY
    await clock.advance(30 * DAY)
    await engine.triggers.create("launch", definition=KNOWN[0], schedule=once(at))
    await enqueue(storage)
    await clock.advance(-30 * DAY)

    assert await repair.tick() == 0
    assert (await engine.triggers.get("launch")).next_run_at == at


async def test_a_correction_is_logged(repair, clock, storage, heard):
    await clock.advance(DAY)
    await started(storage)
    await clock.advance(-DAY)

    await repair.tick()

    assert "the database's clock was ahead and is corrected" in heard.events()


async def test_a_machine_whose_clock_was_set_is_logged(repair, clock, heard, seconds):
    repair._look_at_own_clock()
    seconds.pass_by(-HOUR.total_seconds())
    repair._look_at_own_clock()

    assert "this machine's clock was set, or the machine slept" in heard.events()


async def test_correct_clocks_change_nothing(engine, scheduler, repair, clock, heard):
    await engine.triggers.create("beat", definition=KNOWN[0], schedule=every("6h"))
    await scheduler.tick()

    assert await repair.tick() == 0
    assert heard.events() == []
