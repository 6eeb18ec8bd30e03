"""once_key_exists: completed work is known for as long as its job is kept."""

from tests.support.job_builders import ACME, ALDER, GLOBEX, a_tenant, end, finish, started
from windlass.core.jobs.models import ALL_TENANTS
from windlass.core.jobs.states import JobState

KEY = "charge:42"


async def test_completed_work_is_known_to_its_tenant(storage):
    for tenant in (ACME, GLOBEX):
        await a_tenant(storage, tenant)
    lease = await started(storage, tenant=ACME)
    assert not await storage.leases.once_key_exists(ACME, KEY)

    await end(storage, lease, once=(KEY, "mail:42"))

    assert await storage.leases.once_key_exists(ACME, KEY)
    assert await storage.leases.once_key_exists(ACME, "mail:42")
    assert not await storage.leases.once_key_exists(ACME, "charge:4")
    assert not await storage.leases.once_key_exists(GLOBEX, KEY)


async def test_an_attempt_that_did_not_complete_its_job_does_not_count_as_done(storage):
    for state in (JobState.QUEUED, JobState.DEAD_LETTER):
        await end(storage, await started(storage), state, once=(KEY,))
    lease = await started(storage)
    await storage.leases.finish(ALDER, [finish(lease)])
    assert await end(storage, lease, once=(KEY,)) is None  # too late: it had ended

    assert not await storage.leases.once_key_exists(lease.tenant, KEY)


async def test_the_first_of_two_jobs_holds_the_key_until_it_is_deleted(storage):
    first, second = await started(storage), await started(storage)
    await end(storage, first, once=(KEY,))
    await end(storage, second, once=(KEY,))

    await storage.jobs.discard(ALL_TENANTS, second.job_id)
    assert await storage.leases.once_key_exists(first.tenant, KEY)
    await storage.jobs.discard(ALL_TENANTS, first.job_id)

    assert not await storage.leases.once_key_exists(first.tenant, KEY)


async def test_a_job_that_is_not_kept_does_not_count_as_done(storage):
    lease = await started(storage)

    assert await end(storage, lease, keep=False, once=(KEY,)) is JobState.COMPLETED

    assert not await storage.leases.once_key_exists(lease.tenant, KEY)
