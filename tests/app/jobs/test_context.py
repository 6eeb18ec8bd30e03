"""The job context of a handler: identity, log, progress, stop, snooze, complete."""

import asyncio
import threading
from contextlib import closing

import pytest
from sqlalchemy.ext.asyncio import AsyncSession

from tests.support.app_fixtures import async_engine, connect
from windlass import JobContext, Stopped
from windlass.core.jobs.states import JobState, Outcome
from windlass.errors import JobFailed, OptionInvalid

LONG = "30s"


async def test_a_handler_sees_its_job(wl, ended):
    @wl.job("mail.send", queue="mail", max_attempts=4)
    async def send(ctx: JobContext, to: str) -> dict[str, object]:
        job = ctx.job
        return {
            "id": str(job.id),
            "names": [job.definition, job.tenant, job.queue, job.source],
            "numbers": [job.attempt, job.max_attempts, job.priority, ctx.fence],
            "about": [job.correlation_id, job.created_by, job.source_ref, dict(job.metadata)],
            "in order": job.created_at <= job.queued_at and job.due_at <= job.queued_at,
        }

    receipt = await send.options(
        correlation_id="c", created_by="ada", metadata={"a": 1}, priority="high"
    ).enqueue(to="bob")
    result = (await ended(receipt)).result

    assert result == {
        "id": str(receipt.job_id),
        "names": ["mail.send", "default", "mail", "manual"],
        "numbers": [1, 4, 50, 1],
        "about": ["c", "ada", None, {"a": 1}],
        "in order": True,
    }


async def test_log_lines_are_stored_with_the_job(wl, ended):
    @wl.job
    def talk(ctx: JobContext) -> None:
        ctx.log.debug("one")
        ctx.log.info("resized", image=7)
        ctx.log.warning("slow", seconds=1.5)
        ctx.log.error("broken", about=object())

    job = await ended(await talk.enqueue())

    lines = await wl.jobs.logs(job.id)
    assert [line.level for line in lines] == ["debug", "info", "warn", "error"]
    assert [line.message for line in lines] == ["one", "resized", "slow", "broken"]
    assert [line.sequence for line in lines] == [1, 2, 3, 4]
    assert (lines[1].fields, lines[2].fields) == ({"image": 7}, {"seconds": 1.5})
    assert "object" in str(lines[3].fields["about"])
    assert [line.message for line in await wl.jobs.logs(job.id, after=2, limit=1)] == ["slow"]


async def test_progress_is_visible_while_the_job_runs(wl):
    warned, seen = asyncio.Event(), asyncio.Event()

    @wl.job
    async def work(ctx: JobContext) -> None:
        ctx.progress(0.25, "a quarter")
        warned.set()
        await seen.wait()

    receipt = await work.enqueue()
    async with wl.running():
        await warned.wait()
        job = await wl.jobs.get(receipt.job_id)
        while job.progress == 0:
            job = await job.refresh()
        seen.set()
        await receipt.wait(LONG)
        done = await job.refresh()

    assert (job.state, job.progress, job.progress_note) == (JobState.RUNNING, 0.25, "a quarter")
    assert done.progress == 1


async def test_track_iterates_and_reports_progress(wl, ended):
    @wl.job
    def resize_all(ctx: JobContext, ids: list[int]) -> int:
        return sum(1 for _ in ctx.track(ids, note="resizing"))

    job = await ended(await resize_all.enqueue(ids=[1, 2, 3]))

    assert (job.result, job.progress, job.progress_note) == (3, 1, "resizing 0 of 3")


async def test_progress_beyond_the_total_is_an_error(wl, ended):
    @wl.job(permanent=[OptionInvalid])
    def work(ctx: JobContext) -> None:
        ctx.progress(1.5)

    assert (await ended(await work.enqueue())).state is JobState.DEAD_LETTER


async def test_a_warning_completes_the_job_and_is_shown(wl, ended):
    @wl.job
    def work(ctx: JobContext) -> None:
        ctx.warn("two pages were skipped")

    job = await ended(await work.enqueue())

    assert (job.state, list(job.warnings)) == (JobState.COMPLETED, ["two pages were skipped"])


async def test_a_canceled_thread_stops_at_its_checkpoint(wl):
    started, why = threading.Event(), []

    @wl.job
    def work(ctx: JobContext) -> None:
        started.set()
        try:
            while True:
                ctx.checkpoint()
        except Stopped as stopped:
            why.append(stopped.because)
            raise

    receipt = await work.enqueue()
    async with wl.running():
        await asyncio.to_thread(started.wait)
        await wl.jobs.cancel(receipt.job_id)
        with pytest.raises(JobFailed):
            await wl.jobs.wait(receipt.job_id, LONG)

    job = await wl.jobs.get(receipt.job_id)
    assert (job.state, job.outcome, why) == (JobState.CANCELED, Outcome.CANCELED, ["canceled"])


async def test_a_canceled_async_handler_is_canceled_at_its_await(wl):
    started, cleaned = asyncio.Event(), []

    @wl.job
    async def work() -> None:
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            cleaned.append(True)

    receipt = await work.enqueue()
    async with wl.running():
        await started.wait()
        await wl.jobs.cancel(receipt.job_id)
        with pytest.raises(JobFailed):
            await wl.jobs.wait(receipt.job_id, LONG)

    assert cleaned == [True]


async def test_a_snoozed_job_runs_again_and_no_attempt_is_counted(wl, ended):
    fences = []

    @wl.job(max_attempts=1)
    def work(ctx: JobContext) -> int:
        fences.append(ctx.fence)
        if len(fences) < 3:
            ctx.snooze("1ms")
        return ctx.job.attempt

    job = await ended(await work.enqueue())

    assert (job.result, fences) == (1, [1, 2, 3])
    outcomes = [attempt.outcome for attempt in await wl.jobs.attempts(job.id)]
    assert outcomes == ["released", "released", "succeeded"]


async def test_an_async_transaction_commits_work_and_end_together(wl, database, ended):
    engine = async_engine(database)

    @wl.job(max_attempts=1)
    async def work(ctx: JobContext) -> str | dict[str, int]:
        async with AsyncSession(engine) as session, session.begin():
            ctx.log.info("working")
            await ctx.complete(session, {"rows": 3})
        return "not this"

    job = await ended(await work.enqueue())
    await engine.dispose()

    assert (job.state, job.result, job.attempts) == (JobState.COMPLETED, {"rows": 3}, 1)
    assert [line.message for line in await wl.jobs.logs(job.id)] == ["working"]


async def test_a_blocking_transaction_commits_work_and_end_together(wl, database, ended):
    @wl.job(max_attempts=1)
    def work(ctx: JobContext) -> None:
        with closing(connect(database)) as connection:
            ctx.log.info("working")
            ctx.complete(connection, {"rows": 3})
            connection.commit()

    job = await ended(await work.enqueue())

    assert (job.state, job.result) == (JobState.COMPLETED, {"rows": 3})
    assert [line.message for line in await wl.jobs.logs(job.id)] == ["working"]


async def test_a_rolled_back_transaction_leaves_the_job_to_be_retried(wl, database, ended):
    @wl.job(max_attempts=2)
    def work(ctx: JobContext) -> int:
        if ctx.job.attempt == 1:
            with closing(connect(database)) as connection:
                ctx.complete(connection)
                connection.rollback()
            raise ValueError("no commit")
        return ctx.job.attempt

    receipt = await work.enqueue()
    async with wl.running():
        while (await wl.jobs.get(receipt.job_id)).outcome is not Outcome.FAILED:
            pass
        await wl.jobs.run_now(receipt.job_id)
        await receipt.wait(LONG)
        job = await wl.jobs.get(receipt.job_id)

    assert (job.result, job.attempts) == (2, 2)
