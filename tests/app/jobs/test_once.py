"""ctx.once: a handler checks whether work was done already."""

import pytest

from windlass import JobContext, JobFailed, Windlass
from windlass.settings import Settings


@pytest.fixture
async def wl(database):
    async with Windlass(database.url, settings=Settings()) as wl:
        yield wl


async def result_of(wl, enqueued):
    return await wl.jobs.wait((await enqueued).job_id, "60s")


async def test_once_skips_work_that_a_completed_job_did(wl):
    @wl.job(max_attempts=1)
    async def charge(ctx: JobContext, order: int, fail: bool = False) -> bool:
        do = await ctx.once(f"charge:{order}")
        if fail:
            raise LookupError("the till is off")
        return do

    @wl.job
    def charge_in_thread(ctx: JobContext, order: int) -> bool:
        return bool(ctx.once(f"charge:{order}"))

    async with wl.running():
        with pytest.raises(JobFailed):
            await result_of(wl, charge.enqueue(order=1, fail=True))
        results = [
            await result_of(wl, charge.enqueue(order=1)),
            await result_of(wl, charge.enqueue(order=1)),
            await result_of(wl, charge_in_thread.enqueue(order=1)),
            await result_of(wl, charge_in_thread.enqueue(order=2)),
            await result_of(wl, charge.enqueue(order=2)),
        ]

    assert results == [True, False, False, True, False]


async def test_a_missing_await_on_once_is_reported(wl):
    @wl.job(max_attempts=1)
    async def charge(ctx: JobContext) -> None:
        if ctx.once("charge"):
            pass

    async with wl.running():
        with pytest.raises(JobFailed, match="await it here"):
            await result_of(wl, charge.enqueue())
