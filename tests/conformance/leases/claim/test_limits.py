"""claim: no limit is ever exceeded, and an ended job frees its place."""

import asyncio

import pytest

from tests.support.job_builders import (
    ACME,
    ALDER,
    DAY,
    GLOBEX,
    KNOWN,
    LEASE_TIME,
    a_definition,
    a_tenant,
    claim,
    claim_all,
    end,
    enqueue,
    finish,
    ids_in,
    lost,
    new_jobs,
    regate,
    release,
)
from windlass.core.jobs.states import JobState
from windlass.core.leases import fair_share
from windlass.core.leases.lease import JobLine
from windlass.ids import DefinitionKey, QueueName, TenantId, WorkerId


async def test_a_definitions_limit_is_respected(storage):
    await storage.jobs.enqueue(new_jobs(5, definition=DefinitionKey("limited")))

    leases = await claim_all(storage)

    assert len(leases) == 2


@pytest.mark.parametrize(
    "ending",
    [
        pytest.param(finish, id="completing"),
        pytest.param(lambda lease: finish(lease, JobState.DEAD_LETTER), id="failing for good"),
        pytest.param(lambda lease: finish(lease, JobState.CANCELED), id="stopping"),
        pytest.param(lambda lease: finish(lease, JobState.QUEUED, delay=DAY), id="failing"),
        pytest.param(lambda lease: release(lease, delay=DAY), id="releasing"),
        pytest.param(lambda lease: finish(lease, keep=False), id="vanishing"),
    ],
)
async def test_a_job_frees_its_place_under_a_limit_by(storage, ending):
    await storage.jobs.enqueue(new_jobs(3, definition=DefinitionKey("limited")))
    [first, _] = await claim_all(storage)
    assert await claim_all(storage) == []

    await storage.leases.finish(ALDER, [ending(first)])

    assert len(await claim_all(storage)) == 1


async def test_a_reaped_job_frees_its_place_under_a_limit(storage, clock):
    await storage.jobs.enqueue(new_jobs(3, definition=DefinitionKey("limited")))
    leases = await claim_all(storage)

    await clock.advance(LEASE_TIME)
    expired_but_not_reaped = await claim_all(storage)
    await storage.leases.reap([lost(lease, delay=DAY) for lease in leases])

    assert expired_but_not_reaped == []
    assert len(await claim_all(storage)) == 1


async def test_a_limit_counts_across_tenants_and_queues(storage):
    for tenant in ("acme", "globex", "initech"):
        await a_tenant(storage, tenant)
        for queue in ("a", "b"):
            await enqueue(
                storage,
                tenant=TenantId(tenant),
                queue=QueueName(queue),
                definition=DefinitionKey("limited"),
            )

    assert len(await claim_all(storage)) == 2


async def test_a_tenants_limit_is_respected(storage):
    await a_tenant(storage, "acme", max_running=3)
    await storage.jobs.enqueue(new_jobs(5, tenant=ACME))
    await storage.jobs.enqueue(new_jobs(5, tenant=ACME, definition=DefinitionKey("other")))
    await storage.jobs.enqueue(new_jobs(2))

    leases = await claim_all(storage)

    assert [lease.tenant for lease in leases].count(ACME) == 3
    assert len(leases) == 5


async def test_a_job_under_two_limits_needs_capacity_in_both(storage):
    await a_tenant(storage, "acme", max_running=1)
    await a_tenant(storage, "globex", max_running=5)
    limited = DefinitionKey("limited")
    for tenant in (ACME, GLOBEX):
        await storage.jobs.enqueue(new_jobs(3, tenant=tenant, definition=limited))

    leases = await claim_all(storage)

    assert len(leases) == 2
    assert [lease.tenant for lease in leases].count(ACME) <= 1


async def test_tenants_take_turns_under_a_limit(storage):
    await a_definition(storage, "single", max_concurrency=1)
    known, single, served, cursor = ["single"], DefinitionKey("single"), set(), ""
    for tenant in ("acme", "globex", "initech"):
        await a_tenant(storage, tenant)
        await storage.jobs.enqueue(new_jobs(40, tenant=TenantId(tenant), definition=single))

    for _ in range(40):
        survey = await storage.leases.survey(None, known, cursor=cursor)
        quotas = fair_share.share_quotas(survey.lines, 10)
        cursor = quotas[-1].line.tenant
        [lease] = await storage.leases.claim(
            WorkerId("alder"), quotas, known, lease_time=LEASE_TIME
        )
        await end(storage, lease)
        served.add(lease.tenant)

    assert served == {"acme", "globex", "initech"}


async def test_remaining_capacity_is_reported(storage):
    await a_tenant(storage, "acme", max_running=5)
    await storage.jobs.enqueue(new_jobs(3, tenant=ACME, definition=DefinitionKey("limited")))
    leases = await claim_all(storage)

    names = ("definition:limited", "tenant:acme", "tenant:nobody")
    line = JobLine(queue=QueueName("default"), tenant=ACME, gate="limited", limits=names)
    before = await storage.leases.limit_capacity(line)
    await end(storage, leases[0])

    definition, tenant = ("definition:limited", "running"), ("tenant:acme", "running")
    assert before == {definition: 0, tenant: 3}
    assert await storage.leases.limit_capacity(line) == {definition: 1, tenant: 4}


async def test_a_limit_of_zero_lets_nothing_run(storage):
    await a_tenant(storage, "acme", max_running=0)
    await enqueue(storage, tenant=ACME)

    assert await claim_all(storage) == []


async def test_a_full_limit_does_not_block_other_jobs(storage):
    await storage.jobs.enqueue(new_jobs(50, definition=DefinitionKey("limited"), priority=1))
    await claim_all(storage)
    plain = await enqueue(storage, priority=200)

    assert [lease.job_id for lease in await claim_all(storage)] == [plain]


async def test_a_limit_set_while_jobs_run_counts_them(storage):
    await a_tenant(storage, "acme")
    await storage.jobs.enqueue(new_jobs(6, tenant=ACME))
    running = await claim(storage, 2)
    await a_tenant(storage, "acme", max_running=3)

    assert len(await claim_all(storage)) == 1

    await storage.leases.finish(ALDER, [finish(lease) for lease in running])
    assert len(await claim_all(storage)) == 2


async def test_a_definitions_limit_set_while_jobs_run_counts_them(storage):
    await storage.jobs.enqueue(new_jobs(6))
    await claim(storage, 2)
    await a_definition(storage, "plain", max_concurrency=3, code_hash="2")
    await regate(storage)

    assert len(await claim_all(storage)) == 1


async def test_a_tenants_limit_set_after_the_survey_is_respected(storage):
    await a_tenant(storage, "acme")
    await storage.jobs.enqueue(new_jobs(3, tenant=ACME))
    survey = await storage.leases.survey(None, KNOWN)
    await a_tenant(storage, "acme", max_running=1)

    leases = await storage.leases.claim(
        WorkerId("alder"), fair_share.share_quotas(survey.lines, 5), KNOWN, lease_time=LEASE_TIME
    )

    assert len(leases) <= 1
    assert len(await ids_in(storage, "running")) <= 1


async def test_raising_or_lowering_a_limit_takes_effect(storage):
    await a_tenant(storage, "acme", max_running=2)
    await storage.jobs.enqueue(new_jobs(8, tenant=ACME))
    leases = await claim_all(storage)
    await a_tenant(storage, "acme", max_running=4)
    leases += await claim_all(storage)
    assert len(leases) == 4
    await a_tenant(storage, "acme", max_running=1)

    await storage.leases.finish(ALDER, [finish(lease) for lease in leases[:3]])

    assert await claim_all(storage) == []
    await storage.leases.finish(ALDER, [finish(leases[3])])
    assert len(await claim_all(storage)) == 1


async def test_a_limit_is_never_exceeded_with_many_workers(storage, twin):
    await a_tenant(storage, "acme", max_running=3)
    limited = DefinitionKey("limited")
    await storage.jobs.enqueue(new_jobs(15, definition=limited))
    await storage.jobs.enqueue(new_jobs(15, tenant=ACME))
    await storage.jobs.enqueue(new_jobs(15, tenant=ACME, definition=limited))
    done, most = 0, 0

    async def work(n: int) -> None:
        nonlocal done, most
        mine, idle = (storage, twin)[n % 2], 0
        while idle < 15:
            leases = await claim(mine, 4, worker=f"worker {n}")
            running = await mine.database.query(
                "select tenant_id, definition from windlass_live where state = 'running'", {}
            )
            assert [row["tenant_id"] for row in running].count("acme") <= 3
            assert [row["definition"] for row in running].count("limited") <= 2
            most = max(most, len(running))
            await mine.leases.finish(f"worker {n}", [finish(lease) for lease in leases])
            done += len(leases)
            idle = 0 if leases else idle + 1

    await asyncio.gather(*(work(n) for n in range(6)))

    done += len(await claim_all(storage))
    assert done == 45
    assert 2 <= most <= 5
