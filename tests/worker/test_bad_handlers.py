"""Whatever a handler does ends in an outcome, and the worker lives on."""

import asyncio
import io
import sys
import warnings

import pytest

from tests.worker.bad_handlers import ASYNC_DEEDS, DEEDS, ERRORS, RESULTS
from tests.worker.builders import Run, a_handler, a_lease
from windlass import JobContext, JobFailed, Settings, Windlass, tasks
from windlass.core.payload import load_json
from windlass.core.redact import Redactor
from windlass.core.states import JobState, Outcome
from windlass.worker.reports import Reports


@pytest.fixture
def run(storage):
    async def begin(function, **options):
        return Run(await a_lease(storage), a_handler(function, **options))

    return begin


@pytest.mark.parametrize("is_async", [True, False], ids=["async", "thread"])
@pytest.mark.parametrize("error", ERRORS)
async def test_every_exception_is_a_failed_attempt(run, error, is_async):
    async def fail() -> None:
        raise ERRORS[error]()

    def fail_in_thread() -> None:
        raise ERRORS[error]()

    finish = await (await run(fail if is_async else fail_in_thread)).end()

    assert (finish.outcome, finish.state) == (Outcome.FAILED, JobState.QUEUED)
    assert finish.error
    assert finish.error_type


@pytest.mark.parametrize("result", RESULTS)
async def test_every_result_is_recorded(run, result):
    async def work():
        return RESULTS[result]()

    finish = await (await run(work)).end()

    assert finish.outcome is Outcome.SUCCEEDED
    load_json(finish.result)


@pytest.mark.parametrize("is_async", [True, False], ids=["async", "thread"])
@pytest.mark.parametrize("deed", DEEDS)
async def test_every_deed_ends_with_the_error_it_leads_to(
    engine, storage, deed, is_async, monkeypatch
):
    act, error_type = DEEDS[deed]
    monkeypatch.setattr(sys, "stdout", io.StringIO())  # one of them closes it
    one = await _run_with_reports(engine, storage, act, is_async)
    with warnings.catch_warnings():
        finish = await one.end()

    assert (finish.outcome, finish.error_type) == (Outcome.FAILED, error_type), finish.error_trace


@pytest.mark.parametrize("deed", ["cancels itself", "cancels itself and returns"])
async def test_a_handler_that_cancels_its_task_ends_with_the_error_that_leads_to(run, deed):
    act, error_type = ASYNC_DEEDS[deed]

    finish = await (await run(act)).end()

    assert (finish.outcome, finish.error_type) == (Outcome.FAILED, error_type)


@pytest.mark.parametrize("deed", ASYNC_DEEDS)
def test_a_worker_and_its_other_jobs_outlive_what_a_handler_does_to_the_event_loop(file_url, deed):
    act, error_type = ASYNC_DEEDS[deed]
    wl = Windlass(file_url, settings=Settings())
    going_on = asyncio.Event()

    @wl.job("bad", max_attempts=1)
    async def bad(ctx: JobContext) -> None:
        try:
            await act(ctx)
        finally:
            going_on.set()

    @wl.job("neighbour", max_attempts=1)
    async def neighbour() -> None:
        await going_on.wait()

    async def work():
        async with wl.running(concurrency=2):
            good = await neighbour.enqueue()
            ended = await bad.enqueue()
            after = await neighbour.enqueue()
            for receipt in (good, after):
                await wl.jobs.wait(receipt.job_id, "60s")
            with pytest.raises(JobFailed) as failed:
                await wl.jobs.wait(ended.job_id, "60s")
        return failed.value

    failed = tasks.run(work())

    assert failed.error_type == error_type


def test_an_event_loop_ends_with_what_its_own_work_raises():
    async def leave():
        raise SystemExit(4)

    with pytest.raises(SystemExit) as ended:
        tasks.run(leave())

    assert ended.value.code == 4


async def _run_with_reports(engine, storage, act, is_async):
    async def in_loop(ctx: JobContext) -> None:
        act(ctx)

    def in_thread(ctx: JobContext) -> None:
        act(ctx)

    reports = Reports(
        engine.leases(),
        engine.join,
        engine.telemetry,
        buffer_lines=100,
        buffer_seconds=5.0,
        redactor=Redactor(),
    )
    return Run(await a_lease(storage), a_handler(in_loop if is_async else in_thread), sink=reports)
