"""Threads for blocking handlers."""

import asyncio
import contextvars
import threading

import pytest

from tests.support.wait import until
from windlass.worker.isolation.threads import ThreadPool


@pytest.fixture
def threads():
    threads = ThreadPool()
    yield threads
    threads.close()


async def test_a_call_runs_in_another_thread(threads):
    assert await threads.run(threading.get_ident) != threading.get_ident()


async def test_an_idle_thread_is_used_again(threads):
    names = {await threads.run(lambda: threading.current_thread().name) for _ in range(5)}

    assert len(names) == 1


async def test_a_new_thread_starts_when_all_are_busy(threads):
    gate = threading.Event()
    waiting = [threads.run(gate.wait) for _ in range(10)]

    assert await threads.run(lambda: "at once") == "at once"

    gate.set()
    assert await asyncio.gather(*waiting) == [True] * 10


async def test_a_call_sees_the_callers_context_variables(threads):
    tenant = contextvars.ContextVar("tenant")
    tenant.set("acme")

    assert await threads.run(tenant.get) == "acme"


@pytest.mark.parametrize("error", [ValueError("no"), SystemExit(3), KeyboardInterrupt()])
async def test_an_exception_is_raised_to_the_caller_and_the_thread_survives(threads, error):
    def fail():
        raise error

    # Awaiting a KeyboardInterrupt here would end the test run.
    answer = threads.run(fail)
    await until(answer.done)

    assert answer.exception() is error
    assert await threads.run(lambda: 1) == 1


async def test_a_stop_iteration_becomes_a_runtime_error(threads):
    def fail():
        raise StopIteration

    with pytest.raises(RuntimeError, match="StopIteration"):
        await threads.run(fail)


async def test_a_result_of_a_canceled_call_is_dropped(threads):
    gate = threading.Event()
    answer = threads.run(gate.wait)
    answer.cancel()

    gate.set()

    assert await threads.run(lambda: 1) == 1


async def test_close_ends_idle_threads_now_and_busy_ones_with_their_work():
    threads = ThreadPool()
    gate = threading.Event()
    before = set(threading.enumerate())
    busy = threads.run(gate.wait)
    await threads.run(lambda: None)

    threads.close()
    gate.set()
    await busy

    await until(lambda: set(threading.enumerate()) <= before)
