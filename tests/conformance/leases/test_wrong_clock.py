"""Rows written while the clock was ahead are corrected once the clock is right."""

from datetime import timedelta

import pytest

from tests.support.job_builders import (
    ALDER,
    DAY,
    HOUR,
    LEASE_TIME,
    MINUTE,
    SECOND,
    end,
    enqueue,
    held,
    job,
    started,
)
from windlass.core.jobs.states import JobState


async def test_the_lead_of_rows_dated_in_the_future_is_measured(storage, clock):
    nothing = await storage.leases.clock_ahead()
    await enqueue(storage)
    right = await storage.leases.clock_ahead()
    await clock.advance(DAY)
    await enqueue(storage)
    await clock.advance(-DAY)

    assert (nothing, right) == (timedelta(), timedelta())
    assert await storage.leases.clock_ahead() == DAY
    await storage.monitoring.roll_up_counts()
    assert DAY - MINUTE < await storage.leases.clock_ahead() <= DAY


async def test_a_lease_dated_in_the_future_is_taken_back(storage, clock):
    usual = await started(storage)
    await clock.advance(DAY)
    ahead = await started(storage)
    await clock.advance(-DAY)
    before = await storage.leases.expired_leases()

    assert await storage.leases.expire_overlong_leases() == 1
    assert await storage.leases.expire_overlong_leases() == 0

    assert before == []
    assert [lease.job_id for lease in await storage.leases.expired_leases()] == [ahead.job_id]
    assert (await job(storage, usual.job_id)).lease_expires_at == clock.now + LEASE_TIME


async def test_a_lease_taken_back_can_be_renewed_by_its_holder(storage, clock):
    await clock.advance(DAY)
    lease = await started(storage)
    await clock.advance(-DAY)
    await storage.leases.expire_overlong_leases()

    [renewed] = await storage.leases.renew(ALDER, [held(lease)], lease_time=LEASE_TIME)

    assert renewed.job_id == lease.job_id
    assert await storage.leases.expired_leases() == []


async def test_the_longest_possible_lease_is_not_changed(storage, clock):
    lease = await started(storage)
    await storage.leases.renew(ALDER, [held(lease)], lease_time=HOUR)

    assert await storage.leases.expire_overlong_leases() == 0


@pytest.mark.parametrize("delay", [timedelta(), 10 * SECOND, HOUR])
async def test_a_retry_dated_in_the_future_waits_its_original_delay(storage, clock, delay):
    await clock.advance(DAY)
    lease = await started(storage)
    await end(storage, lease, JobState.QUEUED, delay=delay)
    await clock.advance(-DAY)

    moved = await storage.leases.correct_retry_times()
    again = await storage.leases.correct_retry_times()

    after = await job(storage, lease.job_id)
    assert (moved, again) == (1, 0)
    assert after.due_at == clock.now + delay


async def test_a_job_with_an_explicit_due_time_keeps_it(storage, clock):
    at = clock.now + 3 * DAY
    await clock.advance(DAY)
    scheduled = await enqueue(storage, due_at=at)
    await clock.advance(-DAY)
    retried = await started(storage)
    await end(storage, retried, JobState.QUEUED, delay=HOUR)

    assert await storage.leases.correct_retry_times() == 0
    assert (await job(storage, scheduled)).due_at == at
    assert (await job(storage, retried.job_id)).due_at == clock.now + HOUR
