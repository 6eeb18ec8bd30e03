"""enqueue: stored and refused jobs, and their due times."""

from datetime import timedelta

import pytest

from tests.support.job_builders import (
    ACME,
    DAY,
    GLOBEX,
    HOUR,
    MINUTE,
    SECOND,
    START,
    a_definition,
    a_tenant,
    claim,
    claim_all,
    enqueue,
    job,
    new_job,
    new_jobs,
    offer,
    set_enabled,
    state_of,
)
from windlass.core.jobs.models import ALL_TENANTS
from windlass.core.jobs.states import JobState, View
from windlass.ids import DefinitionKey, QueueName, TenantId, new_job_id
from windlass.storage.jobs.jobs import EnqueueResult, IncompleteBatch


async def test_a_new_job_is_queued_and_due_at_once(storage, clock):
    new = new_job()

    stored = await offer(storage, new)

    assert stored == EnqueueResult(new.id, "created", None)
    created = await job(storage, new.id)
    assert created.state is JobState.QUEUED
    assert (
        created.due_at == created.created_at == created.queued_at == created.updated_at == clock.now
    )
    assert (created.attempts, created.lease_token, created.progress, created.waits) == (
        0,
        0,
        0.0,
        0,
    )
    assert created.started_at is created.finished_at is created.outcome is created.worker_id is None


async def test_an_empty_enqueue_is_allowed(storage):
    assert await storage.jobs.enqueue([]) == []


# Refusals


async def test_jobs_that_may_not_be_stored_are_refused_individually(storage):
    await a_definition(storage, "off")
    await set_enabled(storage, "off", False)
    await a_tenant(storage, "asleep", state="suspended")
    await a_tenant(storage, "gone", state="deleted")
    foreign = await enqueue(storage, tenant=await a_tenant(storage, "globex"))
    refused = {
        "unknown_definition": [new_job(definition=DefinitionKey("nobody's"))],
        "disabled_definition": [new_job(definition=DefinitionKey("off"))],
        "unknown_tenant": [new_job(tenant=TenantId("nobody")), new_job(tenant=TenantId("gone"))],
        "suspended_tenant": [new_job(tenant=TenantId("asleep"))],
        "unknown_parent": [new_job(after=(new_job_id(),)), new_job(after=(foreign,))],
    }
    good = new_job()

    stored = await storage.jobs.enqueue([*(j for jobs in refused.values() for j in jobs), good])

    assert [s.status for s in stored] == [
        *(status for status, jobs in refused.items() for _ in jobs),
        "created",
    ]
    assert all(s.existing_id is None for s in stored)
    assert await storage.jobs.existing_job_ids([s.id for s in stored]) == {good.id}


async def test_a_refused_job_takes_no_key(storage):
    keys = {"dedupe_key": "d", "idempotency_key": "i"}
    refused = await offer(storage, new_job(definition=DefinitionKey("nobody's"), **keys))

    stored = await offer(storage, new_job(**keys))

    assert (refused.status, stored.status) == ("unknown_definition", "created")


async def test_an_atomic_batch_is_stored_completely(storage):
    new = new_jobs(3)

    stored = await storage.jobs.enqueue(new, whole=True)

    assert [s.status for s in stored] == ["created"] * 3
    assert await storage.jobs.existing_job_ids([n.id for n in new]) == {n.id for n in new}


async def test_an_atomic_batch_with_a_refused_job_stores_nothing(storage):
    good = new_job(dedupe_key="d", idempotency_key="i")
    bad = new_job(definition=DefinitionKey("nobody's"))

    with pytest.raises(IncompleteBatch) as refusal:
        await storage.jobs.enqueue([good, bad], whole=True)

    assert [s.status for s in refusal.value.stored] == ["created", "unknown_definition"]
    assert await storage.jobs.existing_job_ids([good.id, bad.id]) == set()
    await enqueue(storage, dedupe_key="d", idempotency_key="i")  # its keys were not taken


async def test_an_atomic_batch_may_contain_existing_jobs(storage):
    first = await enqueue(storage, dedupe_key="d")
    good = new_job()

    stored = await storage.jobs.enqueue([good, new_job(dedupe_key="d")], whole=True)

    assert [(s.status, s.existing_id) for s in stored] == [("created", None), ("existing", first)]
    assert await state_of(storage, good.id) is JobState.QUEUED


async def test_an_atomic_batch_of_new_jobs_stores_nothing_if_one_exists(storage):
    first = await enqueue(storage, dedupe_key="d")
    good = new_job()

    with pytest.raises(IncompleteBatch) as refusal:
        await storage.jobs.enqueue([good, new_job(dedupe_key="d")], whole=True, existing=False)

    assert [s.existing_id for s in refusal.value.stored] == [None, first]
    assert await storage.jobs.existing_job_ids([good.id]) == set()


# Due times


async def test_a_delayed_job_waits_for_its_time_by_the_database_clock(storage, clock):
    id = await enqueue(storage, delay=MINUTE)

    created = await job(storage, id)
    assert (created.state, created.due_at) == (JobState.QUEUED, clock.now + MINUTE)
    assert created.view(clock.now) is View.SCHEDULED
    await clock.advance(MINUTE - timedelta(microseconds=1))
    assert await claim_all(storage) == []
    await clock.advance(timedelta(microseconds=1))
    assert [lease.job_id for lease in await claim_all(storage)] == [id]


async def test_a_due_time_overrides_a_delay(storage):
    id = await enqueue(storage, due_at=START + HOUR, delay=SECOND)

    assert (await job(storage, id)).due_at == START + HOUR


async def test_a_past_due_time_is_kept_and_due_at_once(storage):
    now = await enqueue(storage)
    past = await enqueue(storage, due_at=START - DAY)

    leases = await claim(storage, 2)

    assert [lease.job_id for lease in leases] == [past, now]
    assert leases[0].due_at == START - DAY


async def test_a_zero_delay_is_due_at_once(storage):
    id = await enqueue(storage, delay=timedelta())

    assert [lease.job_id for lease in await claim(storage)] == [id]


async def test_a_job_on_hold_is_pending_and_not_claimed(storage, clock):
    id = await enqueue(storage, held=True)

    await clock.advance(DAY)

    assert await claim_all(storage) == []
    created = await job(storage, id)
    assert (created.state, created.held, created.queued_at) == (JobState.PENDING, True, None)


# Batches


async def test_a_batch_of_five_thousand_returns_receipts_in_order(storage):
    new = new_jobs(5000)
    new[4321] = new[4321]._replace(definition=DefinitionKey("nobody's"))

    stored = await storage.jobs.enqueue(new)

    assert [s.id for s in stored] == [n.id for n in new]
    assert [s.status for s in stored].count("created") == 4999
    assert stored[4321].status == "unknown_definition"
    [counts] = await storage.jobs.state_counts(ALL_TENANTS)
    assert counts["queued"] == 4999


async def test_a_batch_may_mix_all_kinds_of_jobs(storage):
    await a_tenant(storage, "acme")
    await a_tenant(storage, "globex")
    new = [
        new_job(tenant=ACME, delay=HOUR),
        new_job(tenant=GLOBEX, held=True, queue=QueueName("b")),
        new_job(definition=DefinitionKey("limited")),
        new_job(tenant=ACME, expires=MINUTE),
        new_job(idempotency_key="i"),
    ]
    new.append(new_job(tenant=ACME, after=(new[0].id, new[3].id)))

    stored = await storage.jobs.enqueue(new)

    assert [s.status for s in stored] == ["created"] * len(new)
    states = [await state_of(storage, n.id) for n in new]
    assert [str(state) for state in states] == [
        "queued",
        "pending",
        "queued",
        "queued",
        "queued",
        "pending",
    ]
