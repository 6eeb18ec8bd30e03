"""get and find: reading one job."""

from uuid import UUID

import pytest

from tests.support.job_builders import (
    ACME,
    HOUR,
    START,
    a_job,
    a_tenant,
    enqueue,
    job,
)
from windlass.core.jobs.models import ALL_TENANTS, Scope
from windlass.core.jobs.states import JobState
from windlass.ids import new_job_id


async def test_another_tenant_reads_no_job(storage):
    await a_tenant(storage, "acme")
    id = await enqueue(storage, tenant=ACME)

    assert await storage.jobs.get(Scope.of("globex"), id) is None
    assert await storage.jobs.find(Scope.of("globex"), str(id)[-8:]) == []
    assert (await storage.jobs.get(Scope.of("acme"), id)).id == id


@pytest.mark.parametrize("state", [JobState.PENDING, JobState.RUNNING, JobState.DEAD_LETTER])
async def test_a_job_is_found_by_its_id_suffix(storage, state):
    for digits in [6, 8, 12, 13, 20, 31, 32]:
        found = await a_job(storage, state)
        await a_job(storage, state)

        assert await storage.jobs.find(ALL_TENANTS, found.id.hex[-digits:]) == [found.id]


async def test_an_ambiguous_suffix_finds_several_newest_first_up_to_the_limit(storage):
    ids = [
        await enqueue(storage, id=UUID(f"0190{n:04x}-0000-7000-8000-0000cafecafe"))
        for n in range(4)
    ]

    assert await storage.jobs.find(ALL_TENANTS, "cafecafe") == ids[::-1]
    assert await storage.jobs.find(ALL_TENANTS, "cafecafe", most=2) == ids[:1:-1]
    assert await storage.jobs.find(ALL_TENANTS, "cafe0000") == []


async def test_an_unknown_id_finds_nothing(storage):
    assert await storage.jobs.get(ALL_TENANTS, new_job_id()) is None


async def test_the_time_is_the_databases(storage, clock):
    await clock.advance(HOUR)

    assert await storage.now() == START + HOUR
    assert (await job(storage, await enqueue(storage))).created_at == START + HOUR
