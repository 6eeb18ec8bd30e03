"""Longer slots are made of the minutes as they pass, and charts read the same from both."""

from datetime import timedelta

from tests.support.job_builders import DAY, MINUTE, START, new_jobs
from windlass.engine.monitoring.rollups import plan_window

QUARTER = timedelta(minutes=15)


async def test_nothing_is_made_before_anything_happened(storage, engine):
    assert await engine.rollups.tick() == 0
    assert await storage.monitoring.rollup_marks() == {}


async def test_slots_are_made_once_they_have_passed(storage, clock, engine):
    await storage.jobs.enqueue(new_jobs(1))
    await storage.monitoring.roll_up_counts()
    await clock.advance(QUARTER)
    early = await engine.rollups.tick()
    await clock.advance(MINUTE)
    made = await engine.rollups.tick()
    again = await engine.rollups.tick()

    assert (early, made, again) == (0, 1, 0)
    assert await storage.monitoring.rollup_marks() == {900: START + QUARTER}


async def test_what_was_stored_late_is_counted_with_the_next_slot(storage, clock, engine):
    await storage.jobs.enqueue(new_jobs(1))
    await storage.monitoring.roll_up_counts()
    await clock.advance(QUARTER - MINUTE)
    await storage.jobs.enqueue(new_jobs(2))
    await clock.advance(2 * MINUTE)
    await engine.rollups.tick()
    await storage.monitoring.roll_up_counts()
    await clock.advance(QUARTER)
    await engine.rollups.tick()

    stats = await engine.summaries.stats("24h")

    assert stats.total.enqueued == 3


async def test_a_week_is_read_from_long_slots(storage, clock, engine):
    for _ in range(3):
        await storage.jobs.enqueue(new_jobs(1))
        await storage.monitoring.roll_up_counts()
        await clock.advance(DAY)
    before = {name: await engine.summaries.stats(name) for name in ("24h", "7d")}
    while await engine.rollups.tick():
        pass

    plan = await plan_window(storage, "7d")
    after = {name: await engine.summaries.stats(name) for name in ("24h", "7d")}

    assert [slot.span for slot in plan.made].count(7200) == 82
    assert plan.minutes_since == await storage.now() - QUARTER
    assert [stats.total for stats in before.values()] == [stats.total for stats in after.values()]
    assert after["7d"].total.enqueued == 3
