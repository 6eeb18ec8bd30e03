"""Workers that are stopped."""

import pytest

from windlass.core.jobs.states import JobState


async def test_a_stopped_worker_finishes_what_it_can_and_hands_back_the_rest(journey):
    worker = await journey.worker(worker_shutdown_timeout_seconds=1)
    short = await journey.started("async", gate="short")
    long = [await journey.started(kind) for kind in ("async", "thread", "process")]
    waiting = await journey.enqueue("quick")

    worker.terminate()
    await journey.ledger.moment("told to stop", pid=worker.pid)
    journey.let_end("short")
    assert await worker.ended() == 0

    assert await journey.outcomes(short) == ["succeeded"]
    assert journey.ledger.lines("left", pid=worker.pid)
    for job in long:
        back = await journey.job(job)
        assert (back.state, back.attempts) == (JobState.QUEUED, 0)
        assert await journey.outcomes(job) == ["released"]
        told = await journey.ledger.moment("stopped", job=job)
        assert told["why"] == ("canceled" if job == long[2] else "shutdown")
    assert (await journey.job(waiting)).attempts == 0
    assert await (await journey.wl.ready()).workers.list() == []

    journey.let_end()
    await journey.worker()
    for job in long:
        assert (await journey.ended(job)).attempts == 1
        assert await journey.outcomes(job) == ["released", "succeeded"]


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
async def test_a_second_signal_does_not_wait_for_a_stuck_thread(journey):
    worker = await journey.worker(worker_shutdown_timeout_seconds=300)
    jobs = [await journey.started("deaf"), await journey.started("async")]

    worker.terminate()
    await journey.ledger.moment("told to stop", pid=worker.pid)
    worker.terminate()
    assert await worker.ended() == 0

    assert [await journey.outcomes(job) for job in jobs] == [["released"], ["released"]]
    assert [(await journey.job(job)).attempts for job in jobs] == [0, 0]
