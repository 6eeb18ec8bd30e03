"""Bulk operations: previewed, frozen, worked on by any process, stopped, undone, recorded."""

import asyncio
from dataclasses import replace
from types import SimpleNamespace

import pytest

from tests.support.job_builders import (
    DAY,
    HOUR,
    MINUTE,
    a_job,
    enqueue,
    job,
    started,
    state_of,
)
from tests.support.principals import ACME, GLOBEX, ROOT, admin, an_engine, person
from windlass.core.access.roles import ROLES, Reach, Right, Role, freeze_roles
from windlass.core.jobs.change import JobChange
from windlass.core.jobs.models import JobPage
from windlass.core.jobs.query import JobQuery
from windlass.core.jobs.states import JobState
from windlass.engine.engine import Engine
from windlass.engine.jobs import operation_batches, operations
from windlass.errors import (
    DatabaseTimeout,
    Forbidden,
    OperationNotFound,
    OperationStateConflict,
    OperationTooLarge,
    OptionInvalid,
    TenantNotFound,
)
from windlass.ids import new_operation_id
from windlass.telemetry import Telemetry
from windlass.upkeep.bulk_operations import OperationRunner

ALL = JobQuery()
QUEUED, CANCELED, DEAD_LETTER = JobState.QUEUED, JobState.CANCELED, JobState.DEAD_LETTER


@pytest.fixture
async def engine(storage, heard):
    engine = await an_engine(storage, heard)
    yield engine
    await engine.nudges.close()


async def begin(engine, by=ROOT, action="cancel", jobs=ALL, **about):
    return await engine.operations.create(by, action, jobs, query="state:queued", **about)


async def test_a_preview_counts_by_state_and_skipped_jobs_and_shows_samples(engine, storage):
    for _ in range(4):
        await enqueue(storage, tenant=ACME)
    await a_job(storage, JobState.COMPLETED, tenant=ACME)
    await enqueue(storage, tenant=GLOBEX)

    preview = await engine.operations.preview(admin(), "cancel", ALL)

    assert (preview.total, preview.by_state) == (5, {"queued": 4, "completed": 1})
    assert preview.skipped == {
        "it is completed; only pending or queued or running jobs can be canceled": 1
    }
    assert len(preview.sample) == 3
    assert {each.tenant for each in preview.sample} == {ACME}
    assert not preview.more
    assert await engine.operations.list(ROOT) == []


async def test_an_operation_covers_the_jobs_that_matched_when_it_began(engine, storage):
    ids = [await enqueue(storage) for _ in range(5)]
    operation = await begin(engine)
    late = await enqueue(storage)

    assert (operation.total, operation.left, operation.state) == (5, 5, "running")
    settled = await OperationRunner(engine).tick()

    after = await engine.operations.get(ROOT, operation.id)
    assert (settled, after.state, after.done, after.left) == (5, "completed", 5, 0)
    assert after.finished_at is not None
    assert {await state_of(storage, id) for id in ids} == {CANCELED}
    assert await state_of(storage, late) is QUEUED


async def test_retry_puts_jobs_in_line_and_discard_deletes_them(engine, storage):
    ids = [(await a_job(storage, DEAD_LETTER)).id for _ in range(2)]
    dead = JobQuery.of(states=frozenset({"dead_letter"}))

    await begin(engine, action="retry", jobs=dead)
    await OperationRunner(engine).tick()

    assert {await state_of(storage, id) for id in ids} == {QUEUED}
    gone = (await a_job(storage, DEAD_LETTER)).id
    await begin(engine, action="discard", jobs=dead)
    await OperationRunner(engine).tick()
    assert await storage.jobs.existing_job_ids([gone]) == set()


async def test_run_now_makes_jobs_due(engine, storage):
    id = await enqueue(storage, delay=DAY)

    await begin(engine, action="run_now")
    await OperationRunner(engine).tick()

    assert (await job(storage, id)).due_at <= await storage.now()


async def test_an_update_changes_what_waits_with_a_delay_from_when_it_began(engine, storage, clock):
    mine, theirs = await enqueue(storage, tenant=ACME), await enqueue(storage, tenant=GLOBEX)
    change = JobChange.of(priority="low", delay=3600)
    began = clock.now

    begun = await begin(engine, admin(), "update", change=change)
    await clock.advance(MINUTE)
    await OperationRunner(engine).tick()

    changed = await job(storage, mine)
    assert (changed.priority, changed.due_at) == (200, began + HOUR)
    assert (await job(storage, theirs)).priority == 100
    entry = next(e for e in await storage.access.entries(ACME) if e.action == "operations.update")
    assert entry.after["changes"] == begun.changes
    with pytest.raises(Forbidden):
        await begin(engine, replace(admin(), rights=RIGHTS), "update", change=change)
    for wrong in [("update", None), ("cancel", change)]:
        with pytest.raises(OptionInvalid):
            await begin(engine, action=wrong[0], change=wrong[1])


#: All that an update needs but its own.
RIGHTS = frozenset({Right.OPERATIONS_WRITE, Right.JOBS_CANCEL, Right.JOBS_RETRY})


async def test_an_operation_needs_its_own_right_and_that_of_its_action(engine, storage):
    await a_job(storage, DEAD_LETTER, tenant=ACME)

    with pytest.raises(Forbidden):
        await begin(engine, admin(), "discard")
    with pytest.raises(Forbidden):
        await begin(engine, person(Role.USER))
    with pytest.raises(Forbidden):
        await begin(engine, replace(admin(), rights=frozenset({Right.JOBS_CANCEL})))
    with pytest.raises(TenantNotFound):
        await begin(engine, admin(), tenant=GLOBEX)
    with pytest.raises(OptionInvalid):
        await begin(engine, action="launder")

    assert await engine.operations.list(ROOT) == []
    assert [e.outcome for e in await storage.access.entries(ACME)] == ["refused"] * 4


async def test_an_operation_stays_in_its_tenant_whatever_its_filter(engine, storage):
    mine, theirs = await enqueue(storage, tenant=ACME), await enqueue(storage, tenant=GLOBEX)
    both = [await job(storage, mine), await job(storage, theirs)]

    class Everything:
        async def page(self, bounds, *, after, limit):
            return JobPage(both, None)

    operation = await begin(engine, admin(), jobs=Everything())
    await OperationRunner(engine).tick()

    assert operation.total == 1
    assert await state_of(storage, theirs) is QUEUED
    for verb in (engine.operations.get, engine.operations.stop, engine.operations.undo):
        for id in (operation.id, new_operation_id()):
            with pytest.raises(OperationNotFound):
                await verb(admin(GLOBEX), id)
    assert await engine.operations.list(admin(GLOBEX)) == []


async def test_a_role_limited_to_own_jobs_acts_on_own_jobs_only(storage, heard, engine):
    own = {Right.OPERATIONS_READ: Reach.OWN, Right.OPERATIONS_WRITE: Reach.OWN}
    table = freeze_roles({**ROLES, Role.USER: {**ROLES[Role.USER], **own}})
    mine = Engine(storage, engine.settings, Telemetry(heard), roles=table)
    ada, bob = person(Role.USER), person(Role.USER)
    ids = [await enqueue(storage, tenant=ACME, created_by=who.actor) for who in (ada, bob)]

    operation = await begin(mine, ada)
    nothing = await begin(mine, ada, jobs=JobQuery.of(created_by=bob.actor))
    await OperationRunner(mine).tick()

    assert (operation.total, nothing.total) == (1, 0)
    assert [await state_of(storage, id) for id in ids] == [CANCELED, QUEUED]
    assert await mine.operations.list(bob) == []
    with pytest.raises(OperationNotFound):
        await mine.operations.get(bob, operation.id)


async def test_too_many_jobs_are_split_into_several_operations(engine, storage, monkeypatch):
    monkeypatch.setattr(operations, "MOST", 3)
    monkeypatch.setattr(operations, "_PAGE", 2)
    for _ in range(5):
        await enqueue(storage)

    preview = await engine.operations.preview(ROOT, "cancel", ALL)
    with pytest.raises(OperationTooLarge):
        await begin(engine)

    assert preview.more
    assert preview.total == 3


async def test_a_partial_operation_covers_the_newest_jobs(engine, storage, monkeypatch):
    monkeypatch.setattr(operations, "MOST", 3)
    monkeypatch.setattr(operations, "_PAGE", 2)
    ids = [await enqueue(storage) for _ in range(5)]

    await begin(engine, partly=True)
    await OperationRunner(engine).tick()

    states = [await state_of(storage, id) for id in ids]
    assert states == [QUEUED, QUEUED, CANCELED, CANCELED, CANCELED]


async def test_an_operation_is_stopped_between_batches(engine, storage, monkeypatch):
    monkeypatch.setattr(operation_batches, "_BATCH", 2)
    monkeypatch.setattr(operation_batches, "_TURN", 1)
    ids = [await enqueue(storage) for _ in range(6)]
    operation = await begin(engine)
    worked = OperationRunner(engine)
    taken = await storage.jobs.claim_operation(hold=MINUTE)
    await engine.operation_batches._process_batches(taken)

    stopping = await engine.operations.stop(ROOT, operation.id)
    await worked.tick()

    after = await engine.operations.get(ROOT, operation.id)
    assert (stopping.state, after.state, after.done, after.left) == ("running", "stopped", 2, 4)
    states = [await state_of(storage, id) for id in ids]
    assert (states.count(CANCELED), states.count(QUEUED)) == (2, 4)
    assert (await engine.operations.stop(ROOT, operation.id)).state == "stopped"


async def test_a_completed_operation_cannot_be_stopped(engine, storage):
    operation = await begin(engine)
    await OperationRunner(engine).tick()

    with pytest.raises(OperationStateConflict):
        await engine.operations.stop(ROOT, operation.id)


async def test_another_process_continues_after_one_dies(engine, storage, clock, monkeypatch):
    monkeypatch.setattr(operation_batches, "_BATCH", 2)
    for _ in range(5):
        await enqueue(storage)
    operation = await begin(engine)
    died = await storage.jobs.claim_operation(hold=MINUTE)
    await storage.jobs.work_operation(died, most=2, hold=MINUTE)

    assert await OperationRunner(engine).tick() == 0
    await clock.advance(HOUR)

    assert await OperationRunner(engine).tick() == 3
    after = await engine.operations.get(ROOT, operation.id)
    assert (after.state, after.done, after.skipped) == ("completed", 5, 0)


async def test_several_processes_share_operations_and_act_once_on_each_job(
    engine, storage, monkeypatch
):
    monkeypatch.setattr(operation_batches, "_BATCH", 3)
    monkeypatch.setattr(operation_batches, "_TURN", 2)
    ids = [(await a_job(storage, CANCELED)).id for _ in range(30)]
    made = await begin(engine, action="retry")

    settled = await asyncio.gather(*[OperationRunner(engine).tick() for _ in range(4)])

    after = await engine.operations.get(ROOT, made.id)
    assert (sum(settled), after.done, after.skipped, after.state) == (30, 30, 0, "completed")
    assert {await state_of(storage, id) for id in ids} == {QUEUED}


async def test_operations_take_turns(engine, storage, monkeypatch):
    monkeypatch.setattr(operation_batches, "_BATCH", 1)
    monkeypatch.setattr(operation_batches, "_TURN", 1)
    for tenant in (ACME, GLOBEX):
        for _ in range(3):
            await enqueue(storage, tenant=tenant)
    first, second = await begin(engine, tenant=ACME), await begin(engine, tenant=GLOBEX)
    taken = []
    take = storage.jobs.claim_operation

    async def take_and_tell(**how):
        got = await take(**how)
        taken.append(got and got.id)
        return got

    monkeypatch.setattr(storage.jobs, "claim_operation", take_and_tell)
    await OperationRunner(engine).tick()

    assert {first.id, second.id} <= set(taken[:3])


async def test_a_failed_job_is_reported_and_the_others_continue(
    engine, storage, heard, monkeypatch
):
    ids = sorted([await enqueue(storage) for _ in range(3)])
    operation = await begin(engine)
    work = storage.jobs.work_operation

    async def cursed(operation, *, most, hold):
        [item] = await storage.jobs.operation_items(operation.id, "waiting", most=1) or [None]
        if item and item.job_id <= ids[1] and (most > 1 or item.job_id == ids[1]):
            raise ValueError("secret payload")
        return await work(operation, most=most, hold=hold)

    monkeypatch.setattr(storage.jobs, "work_operation", cursed)
    await OperationRunner(engine).tick()

    after = await engine.operations.get(ROOT, operation.id)
    assert (after.state, after.done, after.failed) == ("completed", 2, 1)
    [item] = await engine.operations.items(ROOT, operation.id)
    assert (item.job_id, item.note) == (ids[1], "ValueError")


async def test_an_operation_continues_after_an_outage(engine, storage, clock, monkeypatch):
    await enqueue(storage)
    operation = await begin(engine)
    with monkeypatch.context() as outage:

        async def gone(*args, **kwargs):
            raise DatabaseTimeout("answer a statement", seconds=1)

        outage.setattr(storage.jobs, "work_operation", gone)
        with pytest.raises(DatabaseTimeout):
            await OperationRunner(engine).tick()

    await clock.advance(HOUR)
    await OperationRunner(engine).tick()

    assert (await engine.operations.get(ROOT, operation.id)).state == "completed"


async def test_jobs_that_keep_moving_are_retried_later(engine, storage, monkeypatch):
    await enqueue(storage)
    await begin(engine)

    async def moved(operation, *, most, hold):
        return SimpleNamespace(looked=1, settled=0, stop_requested=False)

    with monkeypatch.context() as busy:
        busy.setattr(storage.jobs, "work_operation", moved)
        assert await OperationRunner(engine).tick() == 0

    assert await OperationRunner(engine).tick() == 1


async def test_a_cancel_is_undone_for_jobs_that_were_waiting(engine, storage):
    waiting = [await enqueue(storage) for _ in range(3)]
    running = (await started(storage)).job_id
    operation = await begin(engine)
    with pytest.raises(OperationStateConflict):
        await engine.operations.undo(ROOT, operation.id)
    await OperationRunner(engine).tick()

    undoing = await engine.operations.undo(ROOT, operation.id)
    await OperationRunner(engine).tick()

    assert (undoing.action, undoing.total, undoing.undo_of) == ("retry", 3, operation.id)
    assert {await state_of(storage, id) for id in waiting} == {QUEUED}
    assert (await job(storage, running)).cancel_requested_at is not None
    with pytest.raises(OperationStateConflict):
        await engine.operations.undo(ROOT, undoing.id)


async def test_a_cancel_of_nothing_cannot_be_undone(engine):
    operation = await begin(engine)
    await OperationRunner(engine).tick()

    with pytest.raises(OperationStateConflict):
        await engine.operations.undo(ROOT, operation.id)


async def test_beginning_stopping_and_ending_are_recorded(engine, storage):
    by = admin()
    await enqueue(storage, tenant=ACME)
    operation = await begin(engine, by, reason="not needed", request_id="r-1")
    await engine.operations.stop(by, operation.id)
    await OperationRunner(engine).tick()

    ended, stopped, began = await storage.access.entries(ACME)

    assert (began.action, began.request_id) == ("operations.cancel", "r-1")
    assert (began.after["total"], began.after["reason"]) == (1, "not needed")
    assert stopped.action == "operations.stop"
    assert (ended.action, ended.actor) == ("operations.stopped", by.actor)
    assert ended.after == {"total": 1, "done": 0, "failed": 0, "skipped": 0}
    assert (await engine.audit.verify(ACME)).whole


async def test_old_operations_are_deleted(engine, storage, clock):
    await begin(engine)
    await OperationRunner(engine).tick()
    await clock.advance(31 * DAY)

    assert await engine.operations.prune() == 1
    assert await engine.operations.list(ROOT) == []
