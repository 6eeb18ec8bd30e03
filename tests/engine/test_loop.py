"""Loops survive everything."""

import asyncio

from hypothesis import given
from hypothesis import strategies as st

from tests.support.busy_loops import no_busy_loop
from tests.support.wait import until
from windlass.engine.loop import Loop, backoff_seconds, wait_for
from windlass.errors import DatabaseUnreachable
from windlass.telemetry import Telemetry


async def test_a_failed_tick_is_retried_and_logged_once(heard):
    ticks = []

    async def tick():
        ticks.append(1)
        if len(ticks) < 4:
            raise DatabaseUnreachable("postgresql://db/shop")

    loop = Loop("reaping", tick, seconds=0.001, telemetry=Telemetry(heard))
    loop.start()
    await until(lambda: len(ticks) > 6)
    await loop.stop()

    assert heard.events() == ["reaping failed"]


async def test_a_bug_in_a_tick_does_not_end_the_loop(heard):
    ticks = []

    async def tick():
        ticks.append(1)
        raise ZeroDivisionError

    loop = Loop("pruning", tick, seconds=0.001, telemetry=Telemetry(heard))
    loop.start()
    await until(lambda: len(ticks) > 2)
    await loop.stop()

    assert "pruning failed" in heard.events()


async def test_stop_ends_a_tick_that_hangs(heard):
    begun = asyncio.Event()

    async def tick():
        begun.set()
        await asyncio.Event().wait()

    loop = Loop("folding", tick, seconds=1, telemetry=Telemetry(heard))
    loop.start()
    await begun.wait()
    async with asyncio.timeout(5):
        await loop.stop()


async def test_stopping_a_loop_that_never_started_has_no_effect(heard):
    await Loop("folding", asyncio.sleep, seconds=1, telemetry=Telemetry(heard)).stop()


async def test_a_loop_can_be_woken_by_its_own_tick(heard):
    ticks = []

    async def tick():
        ticks.append(1)
        if len(ticks) < 3:
            loop.wake(after=0.001)
        else:
            told.set()

    told = asyncio.Event()
    loop = Loop("scheduling", tick, seconds=3600, telemetry=Telemetry(heard))
    loop.start()
    await until(told.is_set)
    told.clear()
    loop.wake()
    await until(told.is_set)
    await loop.stop()

    assert len(ticks) == 4


async def test_the_earliest_wake_up_wins(heard):
    loop = Loop("scheduling", asyncio.sleep, seconds=3600, telemetry=Telemetry(heard))

    loop.wake(after=1)
    loop.wake(after=1000)

    assert loop._alarm.when() - asyncio.get_running_loop().time() <= 1
    await loop.stop()
    assert loop._alarm is None


@given(st.integers(1, 10_000))
def test_waits_between_failures_stay_below_two_seconds(failures):
    # Work is to resume within 5 s of the database's return.
    assert 0 < backoff_seconds(failures) <= 2.0


async def test_a_tick_that_wakes_its_own_loop_leaves_time_for_others(heard):
    ticks = []

    async def tick():
        ticks.append(1)
        loop.wake()

    loop = Loop("scheduling", tick, seconds=3600, telemetry=Telemetry(heard))
    loop.start()
    for _ in range(10):
        await asyncio.sleep(0)
    await loop.stop()

    assert 1 < len(ticks) <= 11


async def test_a_failing_tick_does_not_spin_when_woken_all_the_time(heard):
    ticks = []

    async def tick():
        ticks.append(1)
        loop.wake()
        raise ZeroDivisionError

    loop = Loop("scheduling", tick, seconds=3600, telemetry=Telemetry(heard))
    with no_busy_loop(most_rounds=500):
        loop.start()
        await until(lambda: len(ticks) > 2)
    await loop.stop()


async def test_waiting_for_a_set_event_yields_to_other_tasks():
    event, turns = asyncio.Event(), []
    event.set()

    async def other():
        turns.append(1)

    task = asyncio.create_task(other())
    assert await wait_for(event, 60)

    assert turns
    await task


async def test_waiting_for_an_event_times_out():
    assert not await wait_for(asyncio.Event(), 0.001)
