"""Jobs run in this process: every kind of handler, lifespans and around hooks."""

import asyncio
import contextvars
import os
import threading
from contextlib import asynccontextmanager
from datetime import timedelta

from tests.support.processes.process_handlers import elsewhere
from windlass import JobContext, Permanent, Settings, Windlass
from windlass.core.jobs.states import JobState, Outcome

LONG = "30s"


async def test_an_async_handler_runs_in_the_loop(wl, ended):
    @wl.job
    async def where() -> bool:
        return asyncio.get_running_loop() is loop

    loop = asyncio.get_running_loop()

    assert (await ended(await where.enqueue())).result is True


async def test_a_blocking_handler_runs_in_a_thread(wl, ended):
    @wl.job
    def where() -> str:
        return threading.current_thread().name

    job = await ended(await where.enqueue())

    assert job.result.startswith("windlass")
    assert job.result != threading.current_thread().name


async def test_a_process_isolated_handler_runs_in_a_process_of_its_own(wl, ended):
    wl.handlers.add(elsewhere.handlers["process.pid"])

    job = await ended(await wl.enqueue("process.pid", {"say": "far away"}))

    assert isinstance(job.result, int)
    assert job.result != os.getpid()
    assert list(job.warnings) == ["left something out"]
    [line] = await wl.jobs.logs(job.id)
    assert (line.message, line.level) == ("far away", "info")


async def test_an_error_in_a_process_isolated_handler_is_reported(wl, ended):
    wl.handlers.add(elsewhere.handlers["process.fail"])

    job = await ended(await wl.enqueue("process.fail"))

    assert (job.state, job.error_type) == (JobState.DEAD_LETTER, "LookupError")
    assert job.last_error == "LookupError: not here"
    assert "fail_far_away" in job.error_trace


async def test_typed_arguments_keep_their_types(wl, ended):
    @wl.job
    async def add(days: timedelta, parts: set[int], again: bool = True) -> list[object]:
        return [days.days, sorted(parts), again]

    job = await ended(await add.enqueue(days=timedelta(days=2), parts={3, 1}))

    assert job.result == [2, [1, 3], True]


async def test_a_permanent_error_skips_the_remaining_attempts(wl, ended):
    @wl.job(max_attempts=9)
    def send(locale: str) -> None:
        raise Permanent(f"no template for {locale}")

    job = await ended(await send.enqueue(locale="xx"))

    assert (job.state, job.attempts) == (JobState.DEAD_LETTER, 1)
    assert job.last_error == "Permanent: no template for xx"


async def test_a_handler_that_takes_too_long_times_out(wl, ended):
    @wl.job(max_attempts=1, timeout="50ms")
    async def work() -> None:
        await asyncio.Event().wait()

    job = await ended(await work.enqueue())

    assert (job.state, job.outcome) == (JobState.DEAD_LETTER, Outcome.TIMED_OUT)
    assert job.last_error == "Job exceeded timeout of 0.05s"


async def test_jobs_enqueued_by_a_thread_use_the_blocking_api(wl, ended):
    @wl.job
    def child(n: int) -> None: ...

    @wl.job
    def parent() -> str:
        receipt = child.blocking.options(priority="high").enqueue(n=1)
        return str(receipt.job_id)

    job = await ended(await parent.enqueue())
    wl.blocking.close()

    created = await wl.jobs.get(job.result)
    assert (created.definition, created.priority) == ("child", 50)


async def test_an_async_handler_may_use_the_blocking_api(wl, ended):
    @wl.job
    def child(n: int) -> None: ...

    @wl.job
    async def parent() -> str:
        return str(child.blocking.enqueue(n=1).job_id)

    job = await ended(await parent.enqueue())
    wl.blocking.close()

    assert (await wl.jobs.get(job.result)).definition == "child"


async def test_a_lifespan_is_entered_once_and_around_attempt_wraps_each_attempt(wl, ended):
    story = []
    current = contextvars.ContextVar("current")

    @wl.lifespan
    @asynccontextmanager
    async def pool():
        story.append("open")
        yield
        story.append("close")

    @wl.around
    @asynccontextmanager
    async def outer(ctx: JobContext):
        story.append(f"begin {ctx.job.definition}")
        current.set("outer")
        yield
        story.append("end")

    @wl.around
    @asynccontextmanager
    async def inner(ctx: JobContext):
        story.append("inside")
        yield

    @wl.job
    def work() -> str:
        story.append("work")
        return current.get()

    assert (await ended(await work.enqueue())).result == "outer"
    assert story == ["open", "begin work", "inside", "work", "end", "close"]


async def test_an_error_in_around_attempt_fails_the_attempt(wl, ended):
    @wl.around
    @asynccontextmanager
    async def refuse(ctx: JobContext):
        raise LookupError("no session")
        yield

    @wl.job(max_attempts=1)
    def work() -> None: ...

    job = await ended(await work.enqueue())

    assert (job.state, job.last_error) == (JobState.DEAD_LETTER, "LookupError: no session")


async def test_only_the_given_queues_are_served(wl):
    @wl.job(queue="mail")
    def send() -> None: ...

    @wl.job(queue="media")
    def resize() -> None: ...

    sent, resized = await send.enqueue(), await resize.enqueue()
    async with wl.running(queues=["mail"]):
        await wl.jobs.wait(sent.job_id, LONG)

    assert (await wl.jobs.get(resized.job_id)).state is JobState.QUEUED


async def test_a_sleeping_worker_starts_a_due_job_in_time(wl):
    @wl.job
    async def work() -> None: ...

    async with wl.running():
        receipt = await work.options(delay="50ms").enqueue()
        await receipt.wait(LONG)
        job = await wl.jobs.get(receipt.job_id)

    assert job.started_at >= job.due_at
    assert job.started_at - job.due_at < timedelta(seconds=5)


async def test_leaving_the_block_waits_for_running_jobs(wl):
    started, go_on = asyncio.Event(), asyncio.Event()

    @wl.job
    async def work() -> str:
        started.set()
        await go_on.wait()
        return "done"

    receipt = await work.enqueue()
    async with wl.running():
        await started.wait()
        asyncio.get_running_loop().call_soon(go_on.set)

    assert (await wl.jobs.get(receipt.job_id)).result == "done"
    assert await wl.workers.list() == []


async def test_a_process_configured_without_workers_runs_no_jobs(database):
    settings = Settings.load({"worker.enabled": False}, environ={})
    app = Windlass(database.url, settings=settings)

    @app.job
    def work() -> None: ...

    receipt = await work.enqueue()
    async with app.running() as worker:
        assert worker is None
        assert (await app.jobs.get(receipt.job_id)).state is JobState.QUEUED
    await app.close()
