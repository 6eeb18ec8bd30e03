"""Handlers that segfault."""

import asyncio
import re

import pytest

from windlass.core.jobs.states import JobState


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
async def test_a_segfault_in_an_isolated_process_is_an_ordinary_failure(journey):
    worker = await journey.worker()
    job = await journey.enqueue("crash_in_process", max_attempts=2)

    ended = await journey.ended(job)
    other = await journey.ended(await journey.enqueue("quick"))

    assert ended.state is JobState.DEAD_LETTER
    assert re.fullmatch(
        r"the handler's process died: signal SIGSEGV, peak memory \d+ MB", ended.last_error
    )
    attempts = await journey.attempts(job)
    assert [attempt.outcome for attempt in attempts] == ["failed", "failed"]
    assert [attempt.exit_code for attempt in attempts] == [-11, -11]
    pids = [line["pid"] for line in journey.ledger.lines("started", job=job)]
    assert [attempt.pid for attempt in attempts] == pids
    assert other.state is JobState.COMPLETED
    assert worker.is_running


async def test_a_job_that_kills_its_worker_three_times_is_dead_lettered(journey):
    job = await supervised(journey)

    ended = await journey.ended(job)
    others = [await journey.ended(await journey.enqueue("quick")) for _ in range(3)]

    assert ended.state is JobState.DEAD_LETTER
    assert ended.attempts == 3 < ended.max_attempts
    assert ended.worker_deaths == 3
    assert await journey.outcomes(job) == ["lost", "lost", "lost"]
    assert len(journey.ledger.lines("started", job=job)) == 3
    assert [other.state for other in others] == [JobState.COMPLETED] * 3


async def supervised(journey):
    """Start two workers and a poisonous job, and each worker anew that died of it."""
    workers = await journey.workers(2, worker_lease_seconds=1)
    job = await journey.enqueue("crash")
    for _ in range(3):
        fallen = await _first_to_fall(workers)
        assert await fallen.ended() == -11
        workers.remove(fallen)
        workers.append(journey.start_worker(worker_lease_seconds=1))
    return job


async def _first_to_fall(workers):
    waits = [asyncio.ensure_future(worker.ended(30)) for worker in workers]
    try:
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        return next(worker for worker in workers if not worker.is_running)
    finally:
        for wait in waits:
            wait.cancel()
