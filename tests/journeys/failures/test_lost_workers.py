"""Workers that die or are suspended in the middle of a job."""

from tests.journeys.journey import RECOVERY_SECONDS
from windlass.core.jobs.states import JobState


async def test_a_job_whose_worker_is_killed_runs_again_on_another(journey):
    workers = await journey.workers(2)
    job = await journey.started("async")
    victim = await journey.holder(job)
    [other] = [worker for worker in workers if worker is not victim]

    killed_at = await journey.now()
    victim.kill()
    again = await journey.ledger.moment("started", job=job, attempt=2)

    assert again["pid"] == other.pid
    [lost, second] = await journey.attempts(job)
    assert lost.outcome == "lost"
    assert "did not renew its lease" in lost.error
    assert (second.started_at - killed_at).total_seconds() <= RECOVERY_SECONDS
    assert (await journey.job(job)).worker_deaths == 1


async def test_nothing_a_killed_worker_held_is_lost(journey):
    victim = await journey.worker(slots=4)
    jobs = [await journey.started("async") for _ in range(4)]
    waiting = [await journey.enqueue("quick") for _ in range(4)]

    victim.kill()
    journey.let_end()
    await journey.worker(slots=4)

    for job in jobs:
        assert (await journey.ended(job)).state is JobState.COMPLETED
        assert await journey.outcomes(job) == ["lost", "succeeded"]
    for job in waiting:
        assert (await journey.ended(job)).state is JobState.COMPLETED
        assert await journey.outcomes(job) == ["succeeded"]


async def test_runs_of_a_worker_suspended_past_its_lease_are_stopped(journey):
    sleeper = await journey.worker()
    jobs = [await journey.started(kind) for kind in ("async", "thread", "process")]
    others = await journey.workers(len(jobs))  # jobs lost together run apart

    await journey.freeze(sleeper)
    for job in jobs:
        await journey.ledger.moment("started", job=job, fence=2)
    sleeper.thaw()
    told = [await journey.ledger.moment("stopped", job=job) for job in jobs]
    journey.let_end()

    assert [line["fence"] for line in told] == [1, 1, 1]
    assert [line["why"] for line in told] == ["lost", "lost", "canceled"]
    for job in jobs:
        ended = await journey.ended(job)
        assert ended.state is JobState.COMPLETED
        assert str(ended.worker_id).split(":")[1] in {str(other.pid) for other in others}
        assert await journey.outcomes(job) == ["lost", "succeeded"]
        assert [line["fence"] for line in journey.ledger.lines("done", job=job)] == [2]


async def test_late_outcomes_of_a_suspended_worker_change_nothing(journey):
    sleeper = await journey.worker()
    jobs = [await journey.started(kind) for kind in ("async", "thread", "process")]
    others = await journey.workers(len(jobs))  # jobs lost together run apart

    await journey.freeze(sleeper)
    for job in jobs:
        await journey.ledger.moment("started", job=job, fence=2)
    for other in others:
        await journey.freeze(other)
    journey.let_end()
    sleeper.thaw()
    for job in jobs:
        # Its report came too late, or it heard of the loss before it could report.
        await journey.said(sleeper, rf"(late report ignored|lease lost).*{job}")
    held = [await journey.job(job) for job in jobs]
    for other in others:
        other.thaw()

    assert [(job.state, job.lease_token) for job in held] == [(JobState.RUNNING, 2)] * 3
    for job in jobs:
        ended = await journey.ended(job)
        assert ended.state is JobState.COMPLETED
        assert str(ended.worker_id).split(":")[1] in {str(other.pid) for other in others}
        assert await journey.outcomes(job) == ["lost", "succeeded"]
        fences = [line["fence"] for line in journey.ledger.lines("started", job=job)]
        assert fences == [1, 2], "a system that minds the fence can refuse the older run"


async def test_a_suspended_worker_continues_when_resumed(journey):
    sleeper = await journey.worker()
    job = await journey.started("async")
    other = await journey.worker()

    await journey.freeze(sleeper)
    await journey.ledger.moment("started", job=job, attempt=2)
    sleeper.thaw()
    await journey.ledger.moment("stopped", job=job, fence=1)
    other.kill()
    again = await journey.ledger.moment("started", job=job, attempt=3)

    assert again["pid"] == sleeper.pid
