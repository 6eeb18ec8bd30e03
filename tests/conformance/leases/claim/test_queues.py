"""Queues: paused and limited, for the jobs of all tenants."""

import asyncio
from collections import Counter

from tests.support.job_builders import (
    ACME,
    GLOBEX,
    KNOWN,
    MINUTE,
    a_tenant,
    claim,
    claim_all,
    end,
    enqueue,
    new_jobs,
)
from windlass.core.jobs.states import JobState
from windlass.core.leases import fair_share
from windlass.ids import DefinitionKey, QueueName, WorkerId

SYNC = DefinitionKey("sync")
SYNCS = (*KNOWN, SYNC)
MAIL = QueueName("mail")


async def test_a_paused_queue_is_not_claimed_from_until_it_is_resumed(storage):
    await storage.jobs.enqueue(new_jobs(3, queue=MAIL))
    other = await enqueue(storage)

    paused = await storage.leases.upsert_queue(
        MAIL, paused=True, by="ada", reason="the relay is down"
    )
    leases = await claim_all(storage)
    await storage.leases.upsert_queue(MAIL, paused=False)

    assert [lease.job_id for lease in leases] == [other]
    assert (paused.paused_by, paused.pause_reason) == ("ada", "the relay is down")
    assert len(await claim_all(storage)) == 3


async def test_a_queue_paused_after_the_survey_is_not_claimed_from(storage):
    await storage.jobs.enqueue(new_jobs(3, queue=MAIL))
    survey = await storage.leases.survey(None, KNOWN)

    await storage.leases.upsert_queue(MAIL, paused=True)
    quotas = fair_share.share_quotas(survey.lines, 3)

    assert await storage.leases.claim(WorkerId("alder"), quotas, KNOWN, lease_time=MINUTE) == []


async def test_pausing_does_not_affect_running_jobs(storage):
    await storage.jobs.enqueue(new_jobs(2, queue=MAIL))
    [lease] = await claim(storage, 1)

    await storage.leases.upsert_queue(MAIL, paused=True)

    assert await end(storage, lease) is JobState.COMPLETED


async def test_a_queue_limit_is_respected_across_tenants(storage):
    await a_tenant(storage, "acme")
    await a_tenant(storage, "globex")
    await storage.leases.upsert_queue(MAIL, limit=3)
    await storage.jobs.enqueue(
        [*new_jobs(4, queue=MAIL, tenant=ACME), *new_jobs(4, queue=MAIL, tenant=GLOBEX)]
    )
    await storage.jobs.enqueue(new_jobs(2))

    leases = await claim_all(storage)

    assert Counter(lease.queue for lease in leases) == {"mail": 3, "default": 2}


async def test_a_queue_limit_holds_with_several_workers(storage, twin):
    await storage.leases.upsert_queue(MAIL, limit=5)
    await storage.jobs.enqueue(new_jobs(40, queue=MAIL))

    rounds = await asyncio.gather(
        *(claim((storage, twin)[n % 2], 4, worker=f"w{n}") for n in range(12))
    )

    assert sum(map(len, rounds)) <= 5


async def test_pausing_and_limiting_a_queue_are_independent(storage):
    await storage.leases.upsert_queue(MAIL, limit=3)
    await storage.leases.upsert_queue(MAIL, paused=True, reason="later")
    await storage.leases.upsert_queue(MAIL, limit=4)

    [queue] = await storage.leases.queues()
    assert (queue.max_concurrency, queue.pause_reason) == (4, "later")
