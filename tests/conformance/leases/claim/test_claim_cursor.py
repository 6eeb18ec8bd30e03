"""Claim cursors: a worker continues where its last claim stopped and misses no job."""

from dataclasses import replace
from datetime import timedelta

import pytest
import pytest_asyncio

from tests.support.job_builders import (
    ALDER,
    KNOWN,
    LEASE_TIME,
    claim,
    enqueue,
    new_job,
    release,
)
from windlass.core.jobs.models import TenantId
from windlass.core.leases import fair_share
from windlass.core.leases.lease import JobPosition
from windlass.engine.leases.claim_planner import ClaimPlanner
from windlass.ids import WorkerId

LONG_AGO = timedelta(days=1)


@pytest.fixture
def worker(storage):
    claims = ClaimPlanner(storage)

    async def claim_some(wanted: int):
        leases, _ = await claims.claim(
            WorkerId("alder"), wanted, queues=None, known=KNOWN, lease_time=LEASE_TIME
        )
        return leases

    return claim_some


async def test_a_claim_starts_at_its_cursor(storage):
    await storage.jobs.enqueue([new_job() for _ in range(6)])
    first = await claim(storage, 2)
    place = JobPosition(first[-1].priority, first[-1].due_at, first[-1].job_id)

    again = await claim_from(storage, place, 10)

    assert len(again) == 4
    assert not {lease.job_id for lease in again} & {lease.job_id for lease in first}


async def test_a_more_urgent_job_before_the_cursor_is_claimed(storage):
    await storage.jobs.enqueue([new_job(priority=100) for _ in range(4)])
    [first] = await claim(storage)
    urgent = await enqueue(storage, priority=50)

    found = await claim_from(storage, JobPosition(first.priority, first.due_at, first.job_id), 2)

    assert urgent in {lease.job_id for lease in found}
    assert len(found) == 2


async def test_a_worker_that_continues_finds_new_jobs_before_its_cursor(storage, worker):
    await storage.jobs.enqueue([new_job() for _ in range(8)])
    first = await worker(4)
    await storage.leases.finish(ALDER, [release(first[0])])
    await storage.leases.promote()

    rest = await worker(4) + await worker(4)

    assert len({lease.job_id for lease in rest}) == 5
    assert first[0].job_id in {lease.job_id for lease in rest}


async def test_an_earlier_due_job_before_the_cursor_is_found(storage, worker):
    await storage.jobs.enqueue([new_job() for _ in range(4)])
    await worker(2)
    old = await enqueue(storage, due_at=await storage.now() - LONG_AGO)

    found = await worker(10)

    assert len(found) == 3
    assert old in {lease.job_id for lease in found}


async def test_a_new_tenant_gets_its_turn(storage, worker, tenants):
    await storage.jobs.enqueue([new_job(tenant=tenants[0]) for _ in range(20)])
    await worker(4)
    other = await enqueue(storage, tenant=tenants[1])

    came = [lease.job_id for _ in range(6) for lease in await worker(4)]

    assert other in came
    assert len(came) == 17


@pytest_asyncio.fixture(loop_scope="session")
async def tenants(storage):
    names = [TenantId("acme"), TenantId("zeta")]
    known = (await storage.access.tenants())[0]
    for name in names:
        await storage.access.create_tenant(replace(known, id=name, name=name))
    return names


async def claim_from(storage, place, wanted):
    survey = await storage.leases.survey(None, KNOWN)
    quotas = [
        replace(quota, begin=place) for quota in fair_share.share_quotas(survey.lines, wanted)
    ]
    return await storage.leases.claim(WorkerId("alder"), quotas, KNOWN, lease_time=LEASE_TIME)
