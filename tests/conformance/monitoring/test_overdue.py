"""Overdue jobs: those that did not start in time."""

from datetime import timedelta

import pytest

from tests.support.job_builders import (
    DAY,
    HOUR,
    MINUTE,
    claim_all,
    end,
    enqueue,
    job,
    started,
    state_of,
)
from windlass.core.jobs.models import ALL_TENANTS
from windlass.core.jobs.states import OPEN, JobState


@pytest.mark.parametrize("how", [{}, {"delay": DAY}, {"held": True}])
async def test_a_job_that_did_not_start_in_time_is_overdue(storage, clock, how):
    id = await enqueue(storage, expires=MINUTE, **how)

    await clock.advance(MINUTE - timedelta(microseconds=1))
    early = await storage.leases.jobs_to_cancel()
    await clock.advance(timedelta(microseconds=1))

    assert early == []
    assert await storage.leases.jobs_to_cancel() == [(id, "expired")]
    assert await state_of(storage, id) in OPEN


async def test_a_job_that_started_in_time_is_not_overdue(storage, clock):
    running = await started(storage, expires=MINUTE)
    retrying = await started(storage, expires=MINUTE)
    await end(storage, retrying, JobState.QUEUED, delay=DAY)
    done = await started(storage, expires=MINUTE)
    await end(storage, done)
    await clock.advance(HOUR)

    assert await storage.leases.jobs_to_cancel() == []
    assert await end(storage, running) is JobState.COMPLETED


async def test_an_expired_job_ends_canceled_with_the_reason(storage, clock):
    id = await enqueue(storage, expires=MINUTE)
    await clock.advance(HOUR)

    for overdue, reason in await storage.leases.jobs_to_cancel():
        await storage.jobs.cancel(ALL_TENANTS, [overdue], reason=reason)

    ended = await job(storage, id)
    assert (ended.state, ended.reason, ended.cancel_requested_by) == (
        JobState.CANCELED,
        "expired",
        None,
    )
    assert await storage.leases.jobs_to_cancel() == []


async def test_jobs_without_expiry_wait_forever(storage, clock):
    id = await enqueue(storage)
    await clock.advance(5000 * DAY)

    assert await storage.leases.jobs_to_cancel() == []
    assert [lease.job_id for lease in await claim_all(storage)] == [id]
