"""held_leases: returns the given leases that a worker holds, and no others."""

from datetime import timedelta

from tests.support.job_builders import ALDER, LEASE_TIME, end, held, lost, release, started
from windlass.core.jobs.models import ALL_TENANTS
from windlass.core.leases.lease import LeasedJob, LeaseRef
from windlass.ids import WorkerId, new_job_id


async def test_a_lease_is_returned_with_what_decides_its_end(storage, clock):
    lease = await started(storage, max_attempts=7)
    worker = (await storage.jobs.get(ALL_TENANTS, lease.job_id)).worker_id
    await clock.advance(timedelta(seconds=1.5))

    found = await storage.leases.held_leases(worker, [held(lease)])

    assert found == {
        held(lease): LeasedJob(
            tenant=lease.tenant,
            definition=lease.definition,
            queue=lease.queue,
            attempts=1,
            max_attempts=7,
            ran_seconds=1.5,
            cancel_requested=False,
        )
    }


async def test_a_stop_request_is_returned(storage):
    lease = await started(storage)
    worker = (await storage.jobs.get(ALL_TENANTS, lease.job_id)).worker_id
    await storage.jobs.cancel(ALL_TENANTS, [lease.job_id])

    found = await storage.leases.held_leases(worker, [held(lease)])

    assert found[held(lease)].cancel_requested


async def test_unknown_stale_foreign_and_ended_leases_are_not_returned(storage, clock):
    former, ended, reaped, current = [await started(storage) for _ in range(4)]
    worker = (await storage.jobs.get(ALL_TENANTS, current.job_id)).worker_id
    await storage.leases.finish(ALDER, [release(former)])
    await end(storage, ended)
    await clock.advance(2 * LEASE_TIME)
    await storage.leases.renew(ALDER, [held(current)], lease_time=LEASE_TIME)
    await storage.leases.reap([lost(reaped)])
    refs = [
        *(held(lease) for lease in (former, ended, reaped)),
        LeaseRef(current.job_id, current.token + 1),
        LeaseRef(new_job_id(), 1),
    ]

    assert await storage.leases.held_leases(worker, refs) == {}
    assert await storage.leases.held_leases(WorkerId("another"), [held(current)]) == {}
    assert await storage.leases.held_leases(worker, []) == {}
    assert list(await storage.leases.held_leases(worker, [*refs, held(current)])) == [held(current)]
