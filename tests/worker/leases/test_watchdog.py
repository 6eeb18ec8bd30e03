"""The watchdog notices a blocked event loop, and names the run that blocks it."""

import asyncio
import sys
import threading
from concurrent.futures import Future

import pytest

from tests.support.wait import until
from tests.worker.builders import Run, a_handler, a_lease
from windlass.worker.leases.loop_thread import LoopThread
from windlass.worker.leases.watchdog import PERIOD_SECONDS, Watchdog


@pytest.fixture
def gate():
    gate = threading.Event()
    yield gate
    gate.set()


@pytest.fixture
async def loop_thread(gate):
    """An event loop in a thread of its own: one that a test may block."""
    thread = LoopThread("blocked by a test")
    thread.start(asyncio.Event().wait)
    yield thread
    gate.set()
    assert await thread.stop(within=30)


@pytest.fixture
async def blocked(loop_thread, storage, gate):
    """Runs a handler in the other loop and returns the run and a watchdog, once it is at work."""

    async def begin(function, **changes):
        at_work = threading.Event()
        lease = await a_lease(storage, **changes)
        held = {}

        made = Future()

        def start():
            run = Run(lease, a_handler(function(at_work)))
            held[run.attempt.held] = run.attempt
            made.set_result((run.attempt, Watchdog(lambda: held)))

        loop_thread.call(start)
        await until(at_work.is_set)
        return made.result()

    return begin


def blocks(gate):
    def handler(at_work):
        async def block() -> None:
            at_work.set()
            gate.wait()

        return block

    return handler


def pass_by(watchdog, seconds, total):
    """Let so much time pass for the watchdog, a tick at a time."""
    found = None
    for _ in range(round(total / PERIOD_SECONDS)):
        seconds.pass_by(PERIOD_SECONDS)
        found = watchdog.tick()
    return found


async def test_a_responsive_loop_is_not_reported(loop_thread, seconds):
    async def watch():
        return Watchdog(dict)

    watchdog = await asyncio.wrap_future(loop_thread.submit(watch()))
    for _ in range(10):
        seconds.pass_by(PERIOD_SECONDS)
        assert watchdog.tick() is None
        signed = Future()
        loop_thread.call(signed.set_result, None)
        await asyncio.wrap_future(signed)


async def test_the_run_that_blocks_the_loop_is_named_with_its_stack(blocked, gate, seconds):
    run, watchdog = await blocked(blocks(gate))

    blockage = pass_by(watchdog, seconds, 3)

    assert blockage.run is run
    assert "gate.wait()" in blockage.stack
    assert "asyncio" not in blockage.stack
    assert blockage.describe() == {
        "seconds": 2,
        "job_id": str(run.lease.job_id),
        "definition": "plain",
    }


async def test_a_short_block_is_not_reported(blocked, gate, seconds):
    _, watchdog = await blocked(blocks(gate))

    assert pass_by(watchdog, seconds, 1) is None


async def test_a_loop_that_continues_is_no_longer_reported(blocked, gate, seconds):
    run, watchdog = await blocked(blocks(gate))
    assert pass_by(watchdog, seconds, 3)

    gate.set()
    await until(lambda: run.ended)

    await until(lambda: watchdog.tick() is None)


async def test_a_suspended_process_is_not_reported_as_blocked(blocked, gate, seconds):
    _, watchdog = await blocked(blocks(gate))
    watchdog.tick()

    seconds.pass_by(3600)
    blockage = watchdog.tick()

    assert blockage is None or blockage.seconds <= 2 * PERIOD_SECONDS


async def test_a_blocking_run_expires_after_its_time_limit_and_grace(blocked, gate, seconds):
    run, watchdog = await blocked(blocks(gate), timeout_seconds=20)

    assert pass_by(watchdog, seconds, 24).expired == ()
    assert pass_by(watchdog, seconds, 2).expired == (run,)


async def test_time_before_the_block_counts_for_the_time_limit(blocked, gate, seconds):
    run, watchdog = await blocked(blocks(gate), timeout_seconds=20)
    run.began_at -= 100

    assert not pass_by(watchdog, seconds, 4).is_over
    assert pass_by(watchdog, seconds, 3).is_over


async def test_a_block_in_a_task_of_a_handler_is_found(blocked, gate, seconds):
    def handler(at_work):
        async def inner():
            at_work.set()
            gate.wait()

        async def outer() -> None:
            await asyncio.gather(inner(), inner())

        return outer

    run, watchdog = await blocked(handler, timeout_seconds=20)

    blockage = pass_by(watchdog, seconds, 27)

    assert "gate.wait()" in blockage.stack
    assert blockage.run is (run if sys.version_info >= (3, 12) else None)
    assert blockage.expired == (run,)
