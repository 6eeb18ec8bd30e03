"""A thread with an event loop of its own."""

import asyncio
import contextvars
import threading

from tests.support.wait import until
from windlass.worker.leases.loop_thread import LoopThread


async def test_the_coroutine_runs_in_its_own_thread_and_loop():
    found = asyncio.get_running_loop().create_future()
    loop = asyncio.get_running_loop()

    async def work():
        here = threading.get_ident(), asyncio.get_running_loop()
        loop.call_soon_threadsafe(found.set_result, here)
        await asyncio.Event().wait()

    thread = LoopThread("test")
    thread.start(work)

    ident, its_loop = await found
    assert ident != threading.get_ident()
    assert its_loop is not loop
    assert await thread.stop(within=30)


async def test_stop_cancels_the_coroutine_and_waits_for_its_end():
    begun, ends = threading.Event(), []

    async def work():
        try:
            begun.set()
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            ends.append("closed")

    thread = LoopThread("stopped")
    thread.start(work)
    await until(begun.is_set)

    assert await thread.stop(within=30)
    assert ends == ["closed"]
    await until(lambda: "stopped" not in {each.name for each in threading.enumerate()})


async def test_stop_gives_up_waiting_after_its_timeout():
    begun, gate = threading.Event(), threading.Event()

    async def work():
        begun.set()
        gate.wait()

    thread = LoopThread("test")
    thread.start(work)
    await until(begun.is_set)

    assert not await thread.stop(within=0.01)
    gate.set()
    assert await thread.stop(within=30)


async def test_calls_to_a_thread_that_is_not_running_do_nothing():
    async def work():
        pass

    thread = LoopThread("test")
    thread.call(int)
    assert await thread.stop(within=1)
    thread.start(work)
    await thread.stop(within=30)

    thread.call(int)


async def test_the_thread_does_not_inherit_context_variables():
    variable = contextvars.ContextVar("variable", default="unbound")
    variable.set("bound")
    found = []

    async def work():
        found.append(variable.get())

    thread = LoopThread("test")
    thread.start(work)
    await thread.stop(within=30)

    assert found in (["unbound"], [])
