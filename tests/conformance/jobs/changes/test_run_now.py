"""run_now: making a waiting job due at once."""

import pytest

from tests.support.job_builders import (
    ACME,
    DAY,
    SECOND,
    a_job,
    a_tenant,
    claim_all,
    end,
    enqueue,
    enqueue_child,
    job,
    started,
)
from windlass.core.jobs.models import ALL_TENANTS, Scope
from windlass.core.jobs.states import JobState
from windlass.ids import new_job_id


async def test_a_job_due_later_can_be_run_now(storage, clock):
    id = await enqueue(storage, delay=DAY)
    await clock.advance(SECOND)

    assert await storage.jobs.run_now(ALL_TENANTS, id, actor="ada")

    made_due = await job(storage, id)
    assert (made_due.state, made_due.due_at) == (JobState.QUEUED, clock.now)
    [step] = await storage.jobs.transitions(made_due)
    assert (step.from_state, step.to_state, step.actor) == ("queued", "queued", "ada")
    assert [lease.job_id for lease in await claim_all(storage)] == [id]


async def test_a_retrying_job_can_be_run_now_without_its_backoff(storage):
    lease = await started(storage)
    await end(storage, lease, JobState.QUEUED, delay=DAY, error="boom")

    assert await storage.jobs.run_now(ALL_TENANTS, lease.job_id)

    [again] = await claim_all(storage)
    assert (again.job_id, again.token, again.attempts) == (lease.job_id, 2, 2)
    assert (await job(storage, lease.job_id)).last_error == "boom"


async def test_a_job_on_hold_can_be_run_now(storage, clock):
    id = await enqueue(storage, held=True)
    await clock.advance(SECOND)

    assert await storage.jobs.run_now(ALL_TENANTS, id, actor="ada")

    queued = await job(storage, id)
    assert (queued.state, queued.held, queued.queued_at) == (JobState.QUEUED, False, clock.now)
    [step] = await storage.jobs.transitions(queued)
    assert (step.from_state, step.to_state, step.actor) == ("pending", "queued", "ada")
    assert [lease.job_id for lease in await claim_all(storage)] == [id]


async def test_a_job_on_hold_for_a_later_time_runs_now(storage):
    id = await enqueue(storage, held=True, delay=DAY)

    assert await storage.jobs.run_now(ALL_TENANTS, id)
    assert [lease.job_id for lease in await claim_all(storage)] == [id]


async def test_running_a_queued_job_now_changes_nothing(storage):
    id = await enqueue(storage)
    before = await job(storage, id)

    assert await storage.jobs.run_now(ALL_TENANTS, id)
    assert await job(storage, id) == before


@pytest.mark.parametrize("held", [True, False])
async def test_a_job_that_waits_for_parents_cannot_be_run_now(storage, held):
    parent = await enqueue(storage)
    child = await enqueue_child(storage, parent, held=held)
    before = await job(storage, child)

    assert not await storage.jobs.run_now(ALL_TENANTS, child)
    assert await job(storage, child) == before


async def test_a_job_that_does_not_wait_cannot_be_run_now(storage):
    for state in [JobState.RUNNING, JobState.COMPLETED, JobState.DEAD_LETTER]:
        before = await a_job(storage, state)

        assert not await storage.jobs.run_now(ALL_TENANTS, before.id)
        assert await job(storage, before.id) == before
        assert not await storage.jobs.run_now(ALL_TENANTS, new_job_id())


async def test_another_tenant_runs_nothing_now(storage):
    await a_tenant(storage, "acme")
    ids = [
        await enqueue(storage, tenant=ACME, **how) for how in ({}, {"delay": DAY}, {"held": True})
    ]
    before = [await job(storage, id) for id in ids]

    results = [await storage.jobs.run_now(Scope.of("globex"), id) for id in ids]

    assert results == [False] * 3
    assert [await job(storage, id) for id in ids] == before
    assert await storage.jobs.run_now(Scope(ACME), ids[1])
