"""The detector of busy loops finds them, and nothing else."""

import asyncio

import pytest

from tests.support.busy_loops import no_busy_loop
from tests.support.wait import until


async def never_waits():
    told = asyncio.Event()
    told.set()
    while True:
        try:
            await told.wait()
        except Exception:
            continue


async def waits_for_nothing():
    while True:
        await asyncio.create_task(nothing())


async def nothing():
    pass


@pytest.mark.parametrize("loop", [never_waits, waits_for_nothing])
async def test_a_loop_that_spins_is_found(loop):
    running = asyncio.create_task(loop())

    with pytest.raises(AssertionError, match="spins"), no_busy_loop(most_calls=10_000):
        await asyncio.Event().wait()

    running.cancel()


async def test_a_loop_that_waits_is_not_busy():
    rounds = 0

    async def work():
        nonlocal rounds
        while True:
            await asyncio.sleep(0.0001)
            rounds += 1

    with no_busy_loop(most_rounds=20):
        running = asyncio.create_task(work())
        await until(lambda: rounds >= 50)
        running.cancel()
