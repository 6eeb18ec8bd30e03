"""survey and claim: only known and enabled definitions, and no job blocks another."""

import pytest

from tests.support.job_builders import (
    HOUR,
    KNOWN,
    LEASE_TIME,
    MINUTE,
    SECOND,
    a_definition,
    a_tenant,
    claim,
    claim_all,
    end,
    enqueue,
    job,
    new_job,
    new_jobs,
    regate,
    set_enabled,
    started,
)
from windlass.core.jobs.models import ALL_TENANTS
from windlass.core.jobs.states import JobState
from windlass.core.leases import fair_share
from windlass.ids import DefinitionKey, WorkerId


async def test_jobs_of_an_unknown_definition_wait_for_a_worker_that_knows_it(storage):
    ids = {
        key: await enqueue(storage, definition=DefinitionKey(key), priority=priority)
        for priority, key in enumerate(["plain", "limited", "other"])
    }

    leases = await claim(storage, 10, known=["other"])

    assert [lease.job_id for lease in leases] == [ids["other"]]
    assert await claim(storage, 10, known=["nobody's"]) == []
    assert await claim(storage, 10, known=[]) == []
    assert {(await job(storage, ids[key])).attempts for key in ("plain", "limited")} == {0}
    assert {lease.job_id for lease in await claim_all(storage)} == {ids["plain"], ids["limited"]}


async def test_urgent_jobs_of_unknown_definitions_do_not_block_others(storage):
    await storage.jobs.enqueue(new_jobs(300, priority=1))
    known = await enqueue(storage, definition=DefinitionKey("other"), priority=200)

    leases = await claim(storage, 5, known=["other"])

    assert [lease.job_id for lease in leases] == [known]


async def test_jobs_of_a_disabled_definition_wait_until_it_is_enabled(storage):
    queued = [await enqueue(storage), await enqueue(storage, delay=SECOND)]
    await set_enabled(storage, "plain", False)
    before_regate = await claim_all(storage)
    await regate(storage)
    after_regate = await claim_all(storage)
    other = await enqueue(storage, definition=DefinitionKey("other"), priority=200)

    assert before_regate == after_regate == []
    assert [lease.job_id for lease in await claim_all(storage)] == [other]
    await set_enabled(storage, "plain", True)
    await regate(storage)
    assert [lease.job_id for lease in await claim_all(storage)] == queued[:1]


async def test_a_delayed_job_follows_the_current_state_of_its_definition(storage, clock):
    id = await enqueue(storage, delay=MINUTE)
    await a_definition(storage, "plain", max_concurrency=1, code_hash="2")
    await regate(storage)
    await clock.advance(MINUTE)

    leases = await claim_all(storage)

    assert [lease.job_id for lease in leases] == [id]


async def test_a_job_run_now_follows_the_current_state_of_its_definition(storage):
    first = await enqueue(storage, delay=HOUR)
    second = await enqueue(storage, held=True)
    await a_definition(storage, "plain", max_concurrency=2, code_hash="2")
    await regate(storage)

    assert await storage.jobs.run_now(ALL_TENANTS, first)
    assert await storage.jobs.run_now(ALL_TENANTS, second)

    assert {lease.job_id for lease in await claim_all(storage)} == {first, second}


async def test_a_retried_job_follows_the_current_state_of_its_definition(storage):
    lease = await started(storage)
    await end(storage, lease, JobState.DEAD_LETTER)
    await a_definition(storage, "plain", max_concurrency=2, code_hash="2")
    await regate(storage)

    await storage.jobs.retry(ALL_TENANTS, lease.job_id)

    assert [again.job_id for again in await claim_all(storage)] == [lease.job_id]


async def test_removing_a_limit_moves_waiting_jobs_to_the_common_line(storage):
    await storage.jobs.enqueue(new_jobs(5, definition=DefinitionKey("limited")))
    assert len(await claim_all(storage)) == 2

    await a_definition(storage, "limited", max_concurrency=None, code_hash="2")
    await regate(storage)

    assert len(await claim_all(storage)) == 3


@pytest.mark.parametrize("key", ["plain", "limited"])
async def test_a_definition_disabled_after_the_survey_is_not_claimed(storage, key):
    await enqueue(storage, definition=DefinitionKey(key))
    survey = await storage.leases.survey(None, KNOWN)
    await set_enabled(storage, key, False)

    leases = await storage.leases.claim(
        WorkerId("alder"), fair_share.share_quotas(survey.lines, 5), KNOWN, lease_time=LEASE_TIME
    )

    assert leases == []


async def test_many_disabled_definitions_do_not_hide_the_next_line(storage):
    keys = [f"off {n:03}" for n in range(70)]
    for key in keys:
        await a_definition(storage, key)
    await storage.jobs.enqueue([new_job(definition=DefinitionKey(key), priority=1) for key in keys])
    for key in keys:
        await set_enabled(storage, key, False)
    await regate(storage)
    zeta = await enqueue(storage, tenant=await a_tenant(storage, "zeta"))

    leases = await claim(storage, 5, known=[*KNOWN, *keys])

    assert [lease.job_id for lease in leases] == [zeta]


async def test_many_suspended_tenants_do_not_hide_the_next_one(storage):
    for n in range(70):
        tenant = await a_tenant(storage, f"asleep {n:03}")
        await enqueue(storage, tenant=tenant)
        await a_tenant(storage, tenant, state="suspended")
    zeta = await enqueue(storage, tenant=await a_tenant(storage, "zeta"))

    assert [lease.job_id for lease in await claim(storage, 5)] == [zeta]


async def test_many_full_limits_do_not_hide_the_next_line(storage):
    keys = [f"full {n:03}" for n in range(60)]
    for key in keys:
        await a_definition(storage, key, max_concurrency=1)
    known = [*KNOWN, *keys]
    for _ in range(2):
        await storage.jobs.enqueue([new_job(definition=DefinitionKey(k), priority=1) for k in keys])
    while await claim(storage, 500, known=known):
        pass
    zeta = await enqueue(storage, tenant=await a_tenant(storage, "zeta"))
    cursor, got = "", []

    for _ in range(3):  # rounds of a worker's turn
        survey = await storage.leases.survey(None, known, cursor=cursor)
        quotas = fair_share.share_quotas(survey.lines, 2)
        cursor = quotas[-1].line.tenant if quotas else ""
        got += await storage.leases.claim(WorkerId("birch"), quotas, known, lease_time=LEASE_TIME)

    assert [lease.job_id for lease in got] == [zeta]
