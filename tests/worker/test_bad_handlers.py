"""Misbehaving handlers end in an outcome, and the worker survives."""

import asyncio
import io
import sys
import warnings

import pytest

from tests.worker.bad_handlers import ASYNC_DEEDS, DEEDS, ERRORS, RESULTS
from tests.worker.builders import Run, a_handler, a_lease
from windlass import JobContext, JobFailed, Settings, Windlass, tasks
from windlass.core.jobs.states import JobState, Outcome
from windlass.core.payloads.json_text import load_json
from windlass.core.payloads.redact import Redactor
from windlass.settings.tree import LimitSettings
from windlass.worker.reporting.log_writer import LogWriter


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
async def test_every_result_is_recorded_or_fails_the_attempt_with_the_reason(run, result):
    async def work():
        return RESULTS[result]()

    finish = await (await run(work)).end()

    if result == "surrogate":
        assert (finish.outcome, load_json(finish.result)) == (Outcome.SUCCEEDED, "\ufffd")
    else:
        assert (finish.outcome, finish.state) == (Outcome.FAILED, JobState.DEAD_LETTER)
        assert "the handler's result " in finish.error
        assert finish.result is None


async def test_size_limits_come_from_the_settings(storage):
    limits = LimitSettings(result_bytes=2000, error_bytes=1500)
    wl = Windlass("sqlite:///never-opened.db", settings=Settings(limits=limits))

    @wl.job
    async def large():
        return "x" * 2000

    @wl.job(truncate_result=True)
    async def cut():
        return "x" * 2000

    refused = await Run(await a_lease(storage), large.handler).end()
    kept = await Run(await a_lease(storage), cut.handler).end()

    assert refused.error_type == "windlass.errors.jobs.ResultTooLarge"
    assert "has 2,002 bytes, the limit is 2,000" in refused.error
    assert (kept.state, load_json(kept.result)["truncated"]) == (JobState.COMPLETED, True)
    assert "the limit is 2,000" in kept.warnings


@pytest.mark.parametrize("is_async", [True, False], ids=["async", "thread"])
@pytest.mark.parametrize("deed", DEEDS)
async def test_every_misbehaviour_ends_with_its_error(engine, storage, deed, is_async, monkeypatch):
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
def test_a_worker_survives_what_a_handler_does_to_the_event_loop(file_url, deed):
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


def test_an_exception_of_the_main_task_ends_the_event_loop():
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

    reports = LogWriter(
        engine.leases(),
        engine.join,
        engine.telemetry,
        buffer_lines=100,
        buffer_seconds=5.0,
        redactor=Redactor(),
    )
    return Run(await a_lease(storage), a_handler(in_loop if is_async else in_thread), sink=reports)
