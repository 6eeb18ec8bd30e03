"""survey and claim: tenants share a claim and take turns."""

import pytest

from tests.support.job_builders import (
    ACME,
    GLOBEX,
    KNOWN,
    LEASE_TIME,
    a_tenant,
    claim,
    claim_all,
    enqueue,
    new_job,
    new_jobs,
)
from windlass.core.leases import fair_share
from windlass.ids import DefinitionKey, WorkerId


async def test_tenants_share_a_claim(storage):
    await a_tenant(storage, "acme")
    await a_tenant(storage, "globex")
    await storage.jobs.enqueue(new_jobs(300, tenant=ACME, priority=1))
    await storage.jobs.enqueue(new_jobs(5, tenant=GLOBEX, priority=200))

    leases = await claim(storage, 10)

    assert [lease.tenant for lease in leases].count(ACME) == 5
    assert [lease.tenant for lease in leases].count(GLOBEX) == 5


async def test_a_tenants_weight_determines_its_share(storage):
    await a_tenant(storage, "acme", weight=4)
    await a_tenant(storage, "globex", weight=1)
    for tenant in (ACME, GLOBEX):
        await storage.jobs.enqueue(new_jobs(50, tenant=tenant))

    leases = await claim(storage, 10)

    assert [lease.tenant for lease in leases].count(ACME) == 8
    assert [lease.tenant for lease in leases].count(GLOBEX) == 2


async def test_a_large_backlog_delays_another_tenants_first_job_by_at_most_one_round(storage):
    await a_tenant(storage, "acme")
    await a_tenant(storage, "globex")
    await storage.jobs.enqueue(new_jobs(500, tenant=ACME))
    await claim(storage, 3)
    await enqueue(storage, tenant=GLOBEX)

    leases = await claim(storage, 3)

    assert GLOBEX in {lease.tenant for lease in leases}


async def test_a_single_tenant_gets_all_slots(storage):
    await storage.jobs.enqueue(new_jobs(20))

    assert len(await claim(storage, 20)) == 20


async def test_with_more_tenants_than_slots_each_gets_its_turn(storage):
    tenants = [await a_tenant(storage, f"tenant {n:02}") for n in range(10)]
    for tenant in tenants:
        await storage.jobs.enqueue(new_jobs(20, tenant=tenant))
    cursor, served = "", []

    for _ in range(5):
        survey = await storage.leases.survey(None, KNOWN, cursor=cursor)
        quotas = fair_share.share_quotas(survey.lines, 4)
        cursor = quotas[-1].line.tenant
        got = await storage.leases.claim(WorkerId("alder"), quotas, KNOWN, lease_time=LEASE_TIME)
        served += [lease.tenant for lease in got]

    assert len(served) == 20
    assert {served.count(tenant) for tenant in tenants} == {2}


async def test_a_survey_sees_each_line_once_from_any_start(storage):
    tenants = [await a_tenant(storage, f"tenant {n}") for n in range(5)]
    for tenant in tenants:
        await storage.jobs.enqueue(
            [new_job(tenant=tenant), new_job(tenant=tenant, definition=DefinitionKey("limited"))]
        )

    for place, cursor in enumerate(["", *tenants, "zzz"]):
        survey = await storage.leases.survey(None, KNOWN, cursor=cursor)
        seen = [(line.tenant, line.gate) for line in survey.lines]
        turned = tenants[place % 6 :] + tenants[: place % 6]
        assert seen == [(t, gate) for t in turned for gate in ("", "limited")]


async def test_a_survey_respects_its_line_limit(storage):
    for n in range(8):
        await enqueue(storage, tenant=await a_tenant(storage, f"tenant {n}"))

    survey = await storage.leases.survey(None, KNOWN, most=3)

    assert [line.tenant for line in survey.lines] == [f"tenant {n}" for n in range(3)]


async def test_claims_of_two_lines_of_a_tenant_respect_its_share(storage):
    await a_tenant(storage, "acme")
    await a_tenant(storage, "globex")
    await storage.jobs.enqueue(new_jobs(10, tenant=ACME))
    await storage.jobs.enqueue(new_jobs(10, tenant=ACME, definition=DefinitionKey("limited")))
    await storage.jobs.enqueue(new_jobs(10, tenant=GLOBEX))

    leases = await claim(storage, 4)

    assert sorted(lease.tenant for lease in leases) == [ACME, ACME, GLOBEX, GLOBEX]


async def test_tenants_without_waiting_jobs_take_no_turn(storage):
    for n in range(20):
        await enqueue(storage, tenant=await a_tenant(storage, f"busy {n:02}"))
    await claim_all(storage)
    zeta = await enqueue(storage, tenant=await a_tenant(storage, "zeta"))

    assert [lease.job_id for lease in await claim(storage, 1)] == [zeta]


@pytest.mark.parametrize("state", ["suspended", "deleted"])
async def test_an_inactive_tenant_is_not_claimed_from(storage, state):
    await a_tenant(storage, "acme")
    waiting = await enqueue(storage, tenant=ACME)
    await a_tenant(storage, "acme", state=state)

    assert await claim_all(storage) == []

    await a_tenant(storage, "acme")
    assert [lease.job_id for lease in await claim_all(storage)] == [waiting]


async def test_a_tenant_suspended_after_the_survey_is_not_claimed_from(storage):
    await a_tenant(storage, "acme")
    await enqueue(storage, tenant=ACME)
    survey = await storage.leases.survey(None, KNOWN)
    await a_tenant(storage, "acme", state="suspended")

    leases = await storage.leases.claim(
        WorkerId("alder"), fair_share.share_quotas(survey.lines, 5), KNOWN, lease_time=LEASE_TIME
    )

    assert leases == []
