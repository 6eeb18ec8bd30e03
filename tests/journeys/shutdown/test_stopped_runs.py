"""Runs that are canceled, or take too long."""

import pytest

from tests.journeys.journey import SLACK_SECONDS
from windlass.core.jobs.states import JobState

KINDS = ("async", "thread", "process")

in_any_database = pytest.mark.parametrize("database", ["sqlite"], indirect=True)


async def test_a_cancel_from_another_process_stops_every_kind_of_run(journey):
    await journey.worker()
    jobs = [await journey.started(kind) for kind in KINDS]

    asked_at = await journey.now()
    for job in jobs:
        await journey.wl.jobs.cancel(job, actor="ada")
    ended = [await journey.ended(job) for job in jobs]

    for job in ended:
        assert job.state is JobState.CANCELED
        assert job.cancel_requested_by == "ada"
        assert (job.finished_at - asked_at).total_seconds() <= 2 + SLACK_SECONDS
        assert await journey.outcomes(job.id) == ["canceled"]
        told = await journey.ledger.moment("stopped", job=job.id)
        assert told["why"] == "canceled"


@in_any_database
async def test_every_kind_of_run_is_ended_at_its_time_limit(journey):
    await journey.worker()
    jobs = [await journey.enqueue(kind, timeout="1.5s", max_attempts=2) for kind in KINDS]

    ended = [await journey.ended(job) for job in jobs]

    for job in ended:
        assert job.state is JobState.DEAD_LETTER
        assert job.last_error == "Job exceeded timeout of 1.5s"
        assert await journey.outcomes(job.id) == ["timed_out", "timed_out"]


@in_any_database
async def test_a_run_that_ignores_its_time_limit_is_written_off_and_the_worker_continues(journey):
    worker = await journey.worker(slots=2)
    job = await journey.enqueue("deaf", timeout="1s", max_attempts=1)

    ended = await journey.ended(job)
    one, two = [await journey.enqueue("async") for _ in range(2)]
    await journey.ledger.moment("started", job=one)
    first = [line["job"] for line in journey.ledger.lines("started")]
    journey.let_end()
    await journey.ended(two)

    assert ended.state is JobState.DEAD_LETTER
    assert ended.last_error == "Job exceeded timeout of 1s"
    assert str(two) not in first, "the slot was used although a thread still runs in it"
    assert worker.is_running
