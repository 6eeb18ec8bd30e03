"""BlockingTestWindlass: nothing is awaited, and handlers run in the test's thread."""

import asyncio
import threading
from datetime import UTC, datetime

import pytest

import windlass.testing
from windlass import JobContext, Settings, sync
from windlass.core.jobs.states import JobState
from windlass.testing import BlockingTestWindlass, Summary

#: An app under test never comes near its own database.
NOWHERE = "postgresql://ada@127.0.0.1:1/nowhere"

wl = sync.Windlass(NOWHERE, settings=Settings())
wl_test = windlass.testing.fixture(wl)


@wl.job
def greet(name: str) -> list[object]:
    remember.enqueue(name=name)
    asyncio.run(asyncio.sleep(0))  # no loop runs here, as in the handler's real life
    return [threading.current_thread() is threading.main_thread()]


@wl.job
async def remember(name: str) -> None: ...


def test_blocking_tests_run_handlers_in_their_own_thread(wl_test):
    greet.enqueue(name="Ada")

    assert wl_test.assert_enqueued(greet, name="Ada").state is JobState.QUEUED
    assert wl_test.run_all() == Summary(completed=2)
    wl_test.assert_enqueued(remember, name="Ada")
    wl_test.assert_not_enqueued(remember, name="Bob")
    assert wl_test.enqueued(greet)[0].result == [True]


def test_blocking_tests_can_travel(wl_test):
    wl_test.travel("2026-03-29 02:30", tz="Europe/Berlin")
    greet.options(delay="1h").enqueue(name="Ada")

    assert wl_test.run_all().completed == 0
    assert wl_test.run_all(through="1h").completed == 2
    assert wl_test.now == datetime(2026, 3, 29, 2, 30, tzinfo=UTC)


def test_a_blocking_handler_that_snoozes_or_fails_is_recorded():
    app = sync.Windlass(NOWHERE, settings=Settings())

    @app.job(max_attempts=1)
    def work(ctx: JobContext, how: str) -> None:
        if how == "snooze" and ctx.fence == 1:
            ctx.snooze("1m")
        if how == "fail":
            raise StopIteration

    with BlockingTestWindlass(app) as test:
        for how in ("snooze", "fail"):
            work.enqueue(how=how)
        summary = test.run_all(through="1m")
    app.close()

    assert (summary.completed, summary.dead_letter) == (1, 1)


def test_an_interrupt_in_a_handler_ends_the_test():
    app = sync.Windlass(NOWHERE, settings=Settings())

    @app.job
    def work() -> None:
        raise KeyboardInterrupt

    with BlockingTestWindlass(app) as test:
        work.enqueue()
        with pytest.raises(KeyboardInterrupt):
            test.run_all()
    app.close()
