"""Async handlers that block their worker's event loop."""

from datetime import timedelta

from tests.support.wait import until
from windlass.core.jobs.states import JobState

LEASE_SECONDS = 3
#: Exit code of a worker that a handler blocked past its time limit.
BLOCKED = 11


async def test_a_handler_that_blocks_the_event_loop_costs_no_lease(journey):
    await journey.worker(worker_lease_seconds=LEASE_SECONDS)
    jobs = [await journey.started(kind, max_attempts=1) for kind in ("async", "thread", "process")]
    jobs.append(await journey.started("blocking", max_attempts=1))
    first = (await journey.job(jobs[-1])).lease_expires_at
    await journey.worker(worker_lease_seconds=LEASE_SECONDS)

    async def all_renewed():
        held = [await journey.job(job) for job in jobs]
        assert [job.lease_token for job in held] == [1] * 4
        return all(
            job.lease_expires_at > first + timedelta(seconds=2 * LEASE_SECONDS) for job in held
        )

    await until(all_renewed, waiting_for="leases that outlast the block by far")

    async def blocked_in():
        rows = await (await journey.wl.ready()).workers.list()
        return [row.metadata["blocked"]["definition"] for row in rows if "blocked" in row.metadata]

    assert await until(blocked_in, waiting_for="the worker's row to show it") == ["blocking"]
    journey.let_end()

    for job in jobs:
        assert (await journey.ended(job)).state is JobState.COMPLETED
        assert await journey.outcomes(job) == ["succeeded"]


async def test_a_worker_that_is_blocked_past_the_time_limit_hands_back_and_exits(journey):
    worker = await journey.command_worker()
    neighbours = [
        await journey.started(kind, max_attempts=1) for kind in ("async", "thread", "process")
    ]
    blocking = await journey.started("blocking", timeout="1s", max_attempts=1)

    assert await worker.ended(60) == BLOCKED

    ended = await journey.job(blocking)
    assert ended.state is JobState.DEAD_LETTER
    assert await journey.outcomes(blocking) == ["timed_out"]
    assert "blocked the worker's event loop" in ended.last_error
    assert "handlers.py" in ended.error_trace
    assert await (await journey.wl.ready()).workers.list() == []
    for job in neighbours:
        assert await journey.outcomes(job) == ["released"]
        assert (await journey.job(job)).attempts == 0
    await journey.said(worker, '"blocking".*event loop blocked')
    await journey.said(worker, "ending this worker")

    journey.let_end()
    await journey.worker()
    for job in neighbours:
        assert (await journey.ended(job)).state is JobState.COMPLETED
        assert await journey.outcomes(job) == ["released", "succeeded"]
