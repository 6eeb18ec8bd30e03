"""renew: a holder keeps its lease, also late, until it is reaped."""

from tests.support.job_builders import (
    ALDER,
    HOUR,
    LEASE_TIME,
    SECOND,
    claim,
    end,
    enqueue,
    held,
    job,
    lease_of,
    lost,
    new_jobs,
    release,
    started,
)
from windlass.core.jobs.models import ALL_TENANTS
from windlass.core.jobs.states import JobState
from windlass.core.leases.lease import LeaseRef, RenewedLease
from windlass.ids import new_job_id


async def renew(storage, *leases):
    return await storage.leases.renew(
        ALDER, [held(lease) for lease in leases], lease_time=LEASE_TIME
    )


async def test_a_renewal_counts_from_now(storage, clock):
    lease = await started(storage)
    await clock.advance(20 * SECOND)

    renewed = await renew(storage, lease)

    assert renewed == [RenewedLease(lease.job_id, lease.token, False)]
    assert (await job(storage, lease.job_id)).lease_expires_at == clock.now + LEASE_TIME


async def test_a_renewal_may_be_longer_or_shorter_than_the_claim(storage, clock):
    lease = await started(storage)

    await storage.leases.renew(ALDER, [held(lease)], lease_time=HOUR)

    assert (await job(storage, lease.job_id)).lease_expires_at == clock.now + HOUR


async def test_an_expired_lease_belongs_to_its_holder_until_it_is_reaped(storage, clock):
    lease = await started(storage)
    await clock.advance(10 * LEASE_TIME)
    assert len(await storage.leases.expired_leases()) == 1

    renewed = await renew(storage, lease)

    assert [r.job_id for r in renewed] == [lease.job_id]
    assert await storage.leases.expired_leases() == []
    assert await end(storage, lease) is JobState.COMPLETED


async def test_a_reaped_lease_cannot_be_renewed(storage, clock):
    lease = await started(storage)
    await clock.advance(LEASE_TIME)
    await storage.leases.reap([lost(lease)])

    assert await renew(storage, lease) == []


async def test_a_stale_token_renews_nothing(storage, clock):
    first = await started(storage)
    await storage.leases.finish(ALDER, [release(first)])
    second = await lease_of(storage, first.job_id)
    await clock.advance(SECOND)

    assert await renew(storage, first) == []
    assert (await job(storage, first.job_id)).lease_expires_at == clock.now - SECOND + LEASE_TIME
    assert [r.token for r in await renew(storage, first, second)] == [second.token]


async def test_an_ended_lease_cannot_be_renewed(storage):
    for state in [JobState.COMPLETED, JobState.DEAD_LETTER, JobState.QUEUED]:
        lease = await started(storage)
        await end(storage, lease, state)

        assert await renew(storage, lease) == []


async def test_an_unknown_lease_cannot_be_renewed(storage):
    queued = await enqueue(storage)

    renewed = await storage.leases.renew(
        ALDER,
        [LeaseRef(queued, 0), LeaseRef(queued, 1), LeaseRef(new_job_id(), 1)],
        lease_time=LEASE_TIME,
    )

    assert renewed == []
    assert await storage.leases.renew(ALDER, [], lease_time=LEASE_TIME) == []


async def test_a_renewal_returns_the_stop_request(storage):
    stopped, going_on = await started(storage), await started(storage)
    await storage.jobs.cancel(ALL_TENANTS, [stopped.job_id])

    renewed = await renew(storage, stopped, going_on)

    assert {r.job_id: r.cancel_requested for r in renewed} == {
        stopped.job_id: True,
        going_on.job_id: False,
    }


async def test_hundreds_of_leases_are_renewed_in_one_call(storage, clock):
    await storage.jobs.enqueue(new_jobs(300))
    leases = await claim(storage, 300)
    await clock.advance(LEASE_TIME)

    renewed = await renew(storage, *leases)

    assert {r.job_id for r in renewed} == {lease.job_id for lease in leases}
    assert await storage.leases.expired_leases() == []
