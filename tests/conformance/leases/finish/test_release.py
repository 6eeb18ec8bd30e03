"""finish with a release: the job is queued again and the attempt not counted."""

from tests.support.job_builders import (
    ALDER,
    HOUR,
    SECOND,
    START,
    end,
    held,
    job,
    lease_of,
    release,
    started,
)
from windlass.core.jobs.models import ALL_TENANTS
from windlass.core.jobs.states import JobState, Outcome, View


async def attempts_of(storage, id):
    return await storage.jobs.attempts(await job(storage, id))


async def outcomes_of(storage, id):
    return [attempt.outcome for attempt in await attempts_of(storage, id)]


async def test_a_released_job_is_queued_again_and_its_attempt_not_counted(storage, clock):
    lease = await started(storage)
    await clock.advance(SECOND)

    ended = await storage.leases.finish(ALDER, [release(lease)])

    back = await job(storage, lease.job_id)
    assert ended == {held(lease): JobState.QUEUED}
    assert (back.state, back.attempts, back.lease_token) == (JobState.QUEUED, 0, 1)
    assert (back.due_at, back.outcome, back.worker_deaths) == (START, None, 0)
    assert back.view(clock.now) is JobState.QUEUED
    assert await outcomes_of(storage, lease.job_id) == [Outcome.RELEASED]


async def test_a_snoozed_job_is_due_later(storage, clock):
    lease = await started(storage)

    await storage.leases.finish(ALDER, [release(lease, delay=HOUR)])

    snoozed = await job(storage, lease.job_id)
    assert (snoozed.due_at, snoozed.attempts) == (clock.now + HOUR, 0)
    assert snoozed.view(clock.now) is View.SCHEDULED


async def test_a_released_job_keeps_its_last_error(storage, clock):
    lease = await started(storage)
    await end(storage, lease, JobState.QUEUED, error="boom")
    await storage.leases.finish(ALDER, [release(await lease_of(storage, lease.job_id))])

    back = await job(storage, lease.job_id)

    assert (back.attempts, back.last_error, back.outcome) == (1, "boom", Outcome.FAILED)
    assert back.view(clock.now) is View.RETRYING


async def test_a_released_job_asked_to_stop_is_canceled(storage):
    lease = await started(storage)
    await storage.jobs.cancel(ALL_TENANTS, [lease.job_id])

    ended = await storage.leases.finish(ALDER, [release(lease)])

    assert ended == {held(lease): JobState.CANCELED}
