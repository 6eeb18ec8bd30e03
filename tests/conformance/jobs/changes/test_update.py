"""update: another priority, queue, due time or metadata for jobs that wait."""

import asyncio
from datetime import timedelta

import pytest

from tests.support.job_builders import (
    ACME,
    DAY,
    HOUR,
    START,
    a_definition,
    a_job,
    a_tenant,
    claim,
    claim_all,
    end,
    enqueue,
    enqueue_child,
    job,
    regate,
    settle,
    started,
    state_of,
    tables_of,
)
from windlass.core.jobs.change import JobChange
from windlass.core.jobs.models import ALL_TENANTS, Scope
from windlass.core.jobs.states import JobState
from windlass.ids import QueueName, new_job_id

MAIL = QueueName("mail")


async def counts(storage):
    """Waiting jobs by queue."""
    found = await storage.jobs.state_counts(ALL_TENANTS)
    return {
        row["queue"]: (int(row["pending"]), int(row["queued"]))
        for row in found
        if int(row["pending"]) or int(row["queued"])
    }


async def test_a_queued_job_runs_earlier_with_a_lower_priority_number(storage):
    first, second = await enqueue(storage), await enqueue(storage)

    result = await storage.jobs.update(ALL_TENANTS, [second], JobChange(priority=50))

    assert result == {second: JobState.QUEUED}
    assert (await job(storage, second)).priority == 50
    assert [lease.job_id for lease in await claim(storage, 1)] == [second]
    assert [lease.job_id for lease in await claim(storage, 1)] == [first]


async def test_a_job_moved_to_another_queue_is_counted_there(storage):
    stays, goes = await enqueue(storage), await enqueue(storage)
    held = await enqueue(storage, held=True)
    later = await enqueue(storage, delay=DAY)

    result = await storage.jobs.update(ALL_TENANTS, [goes, held, later], JobChange(queue=MAIL))

    assert result == {
        goes: JobState.QUEUED,
        held: JobState.PENDING,
        later: JobState.QUEUED,
    }
    assert await counts(storage) == {"default": (0, 1), "mail": (1, 2)}
    assert [lease.job_id for lease in await claim_all(storage, queues=["mail"])] == [goes]
    assert [lease.job_id for lease in await claim_all(storage, queues=["default"])] == [stays]


async def test_fields_not_given_are_unchanged(storage):
    id = await enqueue(storage, priority=7, metadata='{"team": "a"}')
    before = await job(storage, id)

    await storage.jobs.update(ALL_TENANTS, [id], JobChange(queue=MAIL))

    after = await job(storage, id)
    assert (after.priority, after.metadata, after.due_at) == (7, {"team": "a"}, before.due_at)
    assert after.queue == "mail"


async def test_metadata_is_replaced_completely(storage):
    ids = [
        await enqueue(storage, metadata='{"team": "a", "x": 1}', **how)
        for how in ({}, {"delay": DAY})
    ]

    await storage.jobs.update(ALL_TENANTS, ids, JobChange(metadata='{"team": "b"}'))

    assert [(await job(storage, id)).metadata for id in ids] == [{"team": "b"}] * 2


async def test_a_postponed_job_leaves_the_line_until_it_is_due(storage, clock):
    id = await enqueue(storage)

    await storage.jobs.update(
        ALL_TENANTS, [id], JobChange(due_at=START + HOUR, priority=3, queue=MAIL)
    )

    put_off = await job(storage, id)
    assert (put_off.state, put_off.due_at) == (JobState.QUEUED, START + HOUR)
    assert (put_off.priority, put_off.queue) == (3, "mail")
    assert await tables_of(storage, id) == ["windlass_later"]
    assert await claim_all(storage) == []
    await clock.advance(HOUR)
    await storage.leases.promote()
    assert [lease.job_id for lease in await claim_all(storage)] == [id]


async def test_a_scheduled_job_can_be_moved_earlier(storage, clock):
    id = await enqueue(storage, delay=DAY)

    await storage.jobs.update(ALL_TENANTS, [id], JobChange(due_at=START + HOUR))
    await clock.advance(HOUR)
    await storage.leases.promote()

    assert [lease.job_id for lease in await claim_all(storage)] == [id]


async def test_a_retrying_job_keeps_its_attempts(storage):
    lease = await started(storage)
    await end(storage, lease, JobState.QUEUED, delay=DAY, error="boom")

    await storage.jobs.update(ALL_TENANTS, [lease.job_id], JobChange(due_at=START, queue=MAIL))
    await storage.leases.promote()

    [again] = await claim_all(storage)
    assert (again.job_id, again.token, again.attempts, again.queue) == (lease.job_id, 2, 2, "mail")


async def test_a_postponed_job_keeps_its_used_attempts(storage):
    lease = await started(storage)
    await end(storage, lease, JobState.QUEUED, error="boom")
    await storage.leases.promote()
    before = await job(storage, lease.job_id)

    await storage.jobs.update(ALL_TENANTS, [lease.job_id], JobChange(due_at=START + DAY))

    after = await job(storage, lease.job_id)
    assert (after.attempts, after.last_error, after.lease_token) == (1, "boom", before.lease_token)
    assert await storage.jobs.attempts(after) == await storage.jobs.attempts(before)


async def test_a_child_waits_for_its_parent_in_another_queue(storage):
    lease = await started(storage)
    child = await enqueue_child(storage, lease.job_id)

    result = await storage.jobs.update(ALL_TENANTS, [child], JobChange(queue=MAIL, priority=1))
    await end(storage, lease, JobState.COMPLETED)
    await storage.leases.promote()

    assert result == {child: JobState.PENDING}
    [claimed] = await claim_all(storage)
    assert (claimed.job_id, claimed.queue, claimed.priority) == (child, "mail", 1)


async def test_a_postponed_parent_still_blocks_its_child(storage):
    parent = await enqueue(storage)
    child = await enqueue_child(storage, parent)

    await storage.jobs.update(ALL_TENANTS, [parent], JobChange(due_at=START + HOUR))
    before = await state_of(storage, child)
    await storage.jobs.cancel(ALL_TENANTS, [parent])
    await settle(storage)

    assert (before, await state_of(storage, child)) == (JobState.PENDING, JobState.CANCELED)


async def test_a_postponed_job_keeps_its_dedupe_key(storage):
    id = await enqueue(storage, dedupe_key="x", idempotency_key="y")

    await storage.jobs.update(ALL_TENANTS, [id], JobChange(due_at=START + HOUR, queue=MAIL))

    # The invariants that are looked at after each test say the rest.
    assert (await job(storage, id)).dedupe_key == "x"


@pytest.mark.parametrize(
    "state", [JobState.RUNNING, JobState.COMPLETED, JobState.CANCELED, JobState.DEAD_LETTER]
)
async def test_a_job_that_does_not_wait_is_not_updated(storage, state):
    before = await a_job(storage, state)

    result = await storage.jobs.update(
        ALL_TENANTS,
        [before.id, new_job_id()],
        JobChange(priority=1, queue=MAIL, due_at=START + DAY),
    )

    assert result == {}
    assert await job(storage, before.id) == before
    assert await storage.jobs.transitions(before) == []


async def test_another_tenants_jobs_are_not_updated(storage):
    await a_tenant(storage, "acme")
    ids = [
        await enqueue(storage, tenant=ACME, **how) for how in ({}, {"delay": DAY}, {"held": True})
    ]
    before = [await job(storage, id) for id in ids]
    change = JobChange(priority=1, queue=MAIL, due_at=START + HOUR)

    foreign = await storage.jobs.update(Scope.of("globex"), ids, change)

    assert foreign == {}
    assert [await job(storage, id) for id in ids] == before
    assert set(await storage.jobs.update(Scope(ACME), ids, change)) == set(ids)


async def test_the_history_shows_each_change_and_its_actor(storage):
    id = await enqueue(storage, priority=100)

    await storage.jobs.update(ALL_TENANTS, [id], JobChange(priority=50, queue=MAIL), actor="ada")
    await storage.jobs.update(ALL_TENANTS, [id], JobChange(priority=50), actor="bob")  # as it is
    await storage.jobs.update(ALL_TENANTS, [id], JobChange(due_at=START + HOUR, metadata="{}"))

    steps = await storage.jobs.transitions(await job(storage, id))
    assert [(step.actor, step.message) for step in steps] == [
        ("ada", "changed: priority 100 to 50, queue default to mail"),
        (None, "changed: due 2026-01-01T01:00:00.000000Z, metadata"),
    ]
    assert {(step.from_state, step.to_state) for step in steps} == {("queued", "queued")}


async def test_a_moved_job_counts_under_the_limit_of_its_new_queue(storage):
    await storage.leases.upsert_queue(MAIL, limit=1)
    ids = [await enqueue(storage) for _ in range(2)]

    await storage.jobs.update(ALL_TENANTS, ids, JobChange(queue=MAIL))

    assert len(await claim_all(storage)) == 1


async def test_a_job_behind_a_gate_stays_behind_it(storage):
    ids = [await enqueue(storage, definition="limited") for _ in range(3)]

    await storage.jobs.update(ALL_TENANTS, ids, JobChange(queue=MAIL, priority=1))

    assert len(await claim_all(storage)) == 2  # what the definition allows


async def test_a_postponed_job_gets_the_current_gate_when_it_is_due(storage, clock):
    id = await enqueue(storage)
    await storage.jobs.update(ALL_TENANTS, [id], JobChange(due_at=START + HOUR))
    await a_definition(storage, "plain", max_concurrency=1, code_hash="2")
    await regate(storage)

    await clock.advance(HOUR)
    await storage.leases.promote()

    assert [lease.job_id for lease in await claim_all(storage)] == [id]


async def test_a_concurrent_claim_and_update_keep_a_job_consistent(storage, twin):
    ids = [await enqueue(storage) for _ in range(40)]

    leases, *results = await asyncio.gather(
        claim(twin, 20),
        *(
            storage.jobs.update(ALL_TENANTS, ids[n : n + 10], JobChange(queue=MAIL))
            for n in (0, 10, 20, 30)
        ),
    )

    changed = {id for result in results for id in result}
    running = {lease.job_id for lease in leases}
    jobs = [await job(storage, id) for id in ids]
    assert {each.id for each in jobs if each.queue == "mail"} == changed
    assert {each.id for each in jobs if each.state is JobState.RUNNING} == running
    assert {each.id for each in jobs if each.queue != "mail"} <= running


async def test_a_concurrent_update_and_promote_miss_no_job(storage, twin, clock):
    ids = [await enqueue(storage, delay=timedelta(seconds=1)) for _ in range(40)]
    await clock.advance(timedelta(seconds=1))

    result, _ = await asyncio.gather(
        storage.jobs.update(ALL_TENANTS, ids, JobChange(queue=MAIL)), twin.leases.promote()
    )

    assert set(result) == set(ids)
    assert {(await job(storage, id)).queue for id in ids} == {"mail"}
