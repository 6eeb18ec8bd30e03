"""Bulk operations: a frozen set of jobs, one process working on it, and a result for each job."""

import asyncio
from datetime import timedelta

import pytest

from tests.conformance.account_builders import an_entry, an_operation, begun
from tests.support.job_builders import (
    ACME,
    DAY,
    GLOBEX,
    HOUR,
    MINUTE,
    START,
    a_job,
    a_tenant,
    enqueue,
    enqueue_child,
    job,
    new_job,
    offer,
    started,
    state_of,
)
from windlass.core.jobs.models import ALL_TENANTS, Scope
from windlass.core.jobs.operations import STATES, BulkAction, skip_reason
from windlass.core.jobs.query import JobQuery
from windlass.core.jobs.states import JobState
from windlass.ids import new_job_id, new_operation_id

CANCELED, DEAD_LETTER, QUEUED = JobState.CANCELED, JobState.DEAD_LETTER, JobState.QUEUED


async def work(storage, operation, most=100):
    return await storage.jobs.work_operation(operation, most=most, hold=MINUTE)


async def counts_of(storage, operation):
    now = await storage.jobs.operation(ALL_TENANTS, operation.id)
    return now.done, now.failed, now.skipped


async def test_an_operation_reads_back_as_started(storage):
    await a_tenant(storage, ACME)
    created = an_operation("retry", tenant=ACME, reason="again", undo_of=new_operation_id())

    await storage.jobs.create_operation(created, [new_job_id(), new_job_id()], entry=an_entry(ACME))

    stored = await storage.jobs.operation(Scope(ACME), created.id)
    assert (stored.action, stored.query, stored.reason, stored.undo_of, stored.actor) == (
        BulkAction.RETRY,
        created.query,
        "again",
        created.undo_of,
        "user:1",
    )
    assert (stored.state, stored.total, stored.left, stored.created_at) == ("running", 2, 2, START)
    assert await storage.jobs.operation(Scope(GLOBEX), created.id) is None
    assert [each.id for each in await storage.jobs.operations(Scope(ACME))] == [created.id]
    assert await storage.jobs.operations(Scope(GLOBEX)) == []
    assert len(await storage.access.entries(ACME)) == 1


async def test_operations_are_listed_newest_first_in_pages(storage):
    created = [an_operation() for _ in range(3)]
    for each in created:
        await storage.jobs.create_operation(each, [])

    first = await storage.jobs.operations(ALL_TENANTS, most=2)
    rest = await storage.jobs.operations(ALL_TENANTS, before=first[-1].id)

    assert [each.id for each in first + rest] == [each.id for each in reversed(created)]


async def test_a_large_set_is_frozen_completely_and_in_order(storage):
    ids = [new_job_id() for _ in range(5_500)]
    created = an_operation()

    await storage.jobs.create_operation(created, ids)

    items, last = [], 0
    while page := await storage.jobs.operation_items(created.id, "waiting", after=last, most=3000):
        items += page
        last = page[-1].place
    assert [item.job_id for item in items] == ids


async def test_cancel_ends_waiting_jobs_stops_running_ones_and_skips_ended_ones(storage):
    waiting, later = await enqueue(storage), await enqueue(storage, delay=DAY)
    running = (await started(storage)).job_id
    ended = (await a_job(storage, JobState.COMPLETED)).id
    operation = await begun(
        storage, [waiting, later, running, ended, new_job_id()], reason="not needed"
    )

    worked = await work(storage, operation)

    assert (worked.looked, worked.settled) == (5, 5)
    assert await state_of(storage, waiting) is await state_of(storage, later) is CANCELED
    assert (await job(storage, waiting)).reason == "not needed"
    assert (await job(storage, running)).cancel_requested_by == "user:1"
    assert await counts_of(storage, operation) == (3, 0, 2)
    done = await storage.jobs.operation_items(operation.id, "done")
    assert [item.note for item in done] == ["canceled", "canceled", "running"]
    skipped = await storage.jobs.operation_items(operation.id, "skipped")
    assert skipped[0].note == skip_reason(BulkAction.CANCEL, JobState.COMPLETED)
    assert skipped[1].note == "it is no longer there"


@pytest.mark.parametrize("action", BulkAction)
@pytest.mark.parametrize("state", JobState)
async def test_an_action_applies_only_in_the_states_it_allows(storage, action, state):
    id = (await a_job(storage, state)).id
    operation = await begun(storage, [id], action)

    await work(storage, operation)

    acts = state in STATES[action]
    assert await counts_of(storage, operation) == ((1, 0, 0) if acts else (0, 0, 1))
    if not acts:
        assert await state_of(storage, id) is state


async def test_an_update_applies_the_values_it_was_started_with(storage):
    waiting, running = await enqueue(storage), (await started(storage, priority=5)).job_id
    changes = {
        "priority": 50,
        "queue": "mail",
        "due_at": "2026-01-02T00:00:00.000000Z",
        "metadata": {"a": 1},
    }
    operation = await begun(storage, [waiting, running], "update", changes=changes)

    await work(storage, operation)

    changed = await job(storage, waiting)
    assert (changed.priority, changed.queue, changed.metadata) == (50, "mail", {"a": 1})
    assert changed.due_at == START + DAY
    assert (await storage.jobs.operation(ALL_TENANTS, operation.id)).changes == changes
    [done] = await storage.jobs.operation_items(operation.id, "done")
    assert (done.job_id, done.note) == (waiting, "queued")
    [skipped] = await storage.jobs.operation_items(operation.id, "skipped")
    assert skipped.note == skip_reason(BulkAction.UPDATE, JobState.RUNNING)
    [step] = await storage.jobs.transitions(changed)
    assert step.actor == "user:1"


async def test_a_retry_is_skipped_when_an_open_job_has_the_key(storage):
    dead = await a_job(storage, DEAD_LETTER, dedupe_key="k")
    await offer(storage, new_job(dedupe_key="k"))
    operation = await begun(storage, [dead.id], "retry")

    await work(storage, operation)

    [item] = await storage.jobs.operation_items(operation.id, "skipped")
    assert item.note == "an open job has its dedupe key"


async def test_jobs_waiting_for_parents_are_not_run_now_and_their_parents_not_discarded(storage):
    dead = await a_job(storage, DEAD_LETTER)
    child = await enqueue_child(storage, dead.id, on_parent_failure="wait")
    one = await begun(storage, [child], "run_now")
    await work(storage, one)
    other = await begun(storage, [dead.id], "discard")
    await work(storage, other)

    notes = [(await storage.jobs.operation_items(o.id, "skipped"))[0].note for o in (one, other)]

    assert notes == ["it waits for other jobs", "another job waits for it"]


async def test_jobs_of_another_tenant_are_not_touched(storage):
    for tenant in (ACME, GLOBEX):
        await a_tenant(storage, tenant)
    foreign = {
        action: (await a_job(storage, state, tenant=GLOBEX)).id
        for action, state in {
            BulkAction.CANCEL: QUEUED,
            BulkAction.RETRY: DEAD_LETTER,
            BulkAction.RUN_NOW: JobState.PENDING,
            BulkAction.DISCARD: DEAD_LETTER,
        }.items()
    }

    for action, id in foreign.items():
        before = await job(storage, id)
        operation = await begun(storage, [id], action, tenant=ACME)
        await work(storage, operation)

        assert await counts_of(storage, operation) == (0, 0, 1)
        [item] = await storage.jobs.operation_items(operation.id, "skipped")
        assert item.note == "it is no longer there"
        assert await job(storage, id) == before


async def test_batches_continue_where_the_last_one_ended(storage):
    ids = [await enqueue(storage) for _ in range(5)]
    operation = await begun(storage, ids)

    looked = [(await work(storage, operation, most=2)).looked for _ in range(4)]

    assert looked == [2, 2, 1, 0]
    assert await counts_of(storage, operation) == (5, 0, 0)


async def test_one_process_holds_an_operation_until_its_hold_expires(storage, twin, clock):
    ids = [await enqueue(storage) for _ in range(2)]
    first = await begun(storage, ids)

    assert await twin.jobs.claim_operation(hold=MINUTE) is None
    await clock.advance(MINUTE)
    second = await twin.jobs.claim_operation(hold=MINUTE)

    assert (second.id, second.token) == (first.id, first.token + 1)
    assert await work(storage, first) is None
    assert not await storage.jobs.finish_operation(first, "completed", entry=an_entry())
    assert (await work(twin, second)).settled == 2
    assert await storage.access.entries(None) == []


async def test_concurrent_takes_of_an_operation_succeed_once(storage, twin):
    await storage.jobs.create_operation(an_operation(), [await enqueue(storage)])

    taken = await asyncio.gather(
        *[side.jobs.claim_operation(hold=MINUTE) for side in (storage, twin) * 4]
    )

    assert sum(each is not None for each in taken) == 1


async def test_two_holders_of_an_operation_process_each_job_once(storage, twin):
    ids = [(await a_job(storage, CANCELED)).id for _ in range(20)]
    operation = await begun(storage, ids, "retry")

    worked = await asyncio.gather(
        *[side.jobs.work_operation(operation, most=5, hold=MINUTE) for side in (storage, twin) * 4]
    )

    assert sum(each.settled for each in worked) == 20
    assert await counts_of(storage, operation) == (20, 0, 0)
    for id in ids:
        steps = await storage.jobs.transitions(await job(storage, id))
        assert [step.message for step in steps].count("retry") == 1


async def test_the_operation_waiting_longest_is_taken_first(storage, clock):
    one = await begun(storage, [])
    await storage.jobs.create_operation(an_operation(), [])
    await clock.advance(HOUR)
    await storage.jobs.release_operation(one)

    two = await storage.jobs.claim_operation(hold=MINUTE)
    again = await storage.jobs.claim_operation(hold=MINUTE)

    assert two.id != one.id
    assert (again.id, again.token) == (one.id, 2)


async def test_a_stopping_operation_processes_no_more_jobs(storage):
    await a_tenant(storage, ACME)
    id = await enqueue(storage, tenant=ACME)
    operation = await begun(storage, [id], tenant=ACME)

    assert not await storage.jobs.stop_operation(Scope(GLOBEX), operation.id)
    assert await storage.jobs.stop_operation(Scope(ACME), operation.id, entry=an_entry(ACME))
    assert not await storage.jobs.stop_operation(Scope(ACME), operation.id)

    assert (await work(storage, operation)).stop_requested
    assert await state_of(storage, id) is QUEUED
    assert await storage.jobs.finish_operation(operation, "stopped", entry=an_entry(ACME))
    ended = await storage.jobs.operation(ALL_TENANTS, operation.id)
    assert (ended.state, ended.left, ended.finished_at) == ("stopped", 1, START)
    assert len(await storage.access.entries(ACME)) == 2
    assert await storage.jobs.claim_operation(hold=MINUTE) is None


async def test_a_job_that_cannot_be_processed_is_skipped(storage):
    ids = [await enqueue(storage) for _ in range(2)]
    operation = await begun(storage, ids)

    await storage.jobs.fail_item(operation, "it is cursed", hold=MINUTE)
    await work(storage, operation)

    assert await counts_of(storage, operation) == (1, 1, 0)
    [item] = await storage.jobs.operation_items(operation.id, "failed")
    assert (item.job_id, item.note) == (ids[0], "it is cursed")


async def test_old_operations_are_pruned_and_running_ones_are_not(storage, clock):
    ended = await begun(storage, [new_job_id()])
    await storage.jobs.finish_operation(ended, "completed")
    running = an_operation()
    await storage.jobs.create_operation(running, [])
    await clock.advance(10 * DAY)

    assert await storage.jobs.prune_operations(older=timedelta(days=11)) == 0
    assert await storage.jobs.prune_operations(older=timedelta(days=9)) == 1
    assert await storage.jobs.prune_operations(older=timedelta(days=9)) == 0

    assert [each.id for each in await storage.jobs.operations(ALL_TENANTS)] == [running.id]
    assert await storage.jobs.operation_items(ended.id, "waiting") == []


async def test_jobs_are_listed_by_creator(storage):
    mine = await enqueue(storage, created_by="user:1")
    await enqueue(storage, created_by="user:2")

    page = await storage.jobs.page(ALL_TENANTS, JobQuery.of(created_by="user:1"))

    assert [each.id for each in page.jobs] == [mine]
