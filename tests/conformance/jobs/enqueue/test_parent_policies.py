"""Dependencies: the policy of a child for a failed parent."""

import pytest

from tests.support.job_builders import (
    DAY,
    HOUR,
    MINUTE,
    a_job,
    claim_all,
    end,
    enqueue,
    enqueue_child,
    job,
    lease_of,
    lost,
    settle,
    started,
    state_of,
)
from windlass.core.jobs.models import ALL_TENANTS
from windlass.core.jobs.states import ENDED, JobState
from windlass.storage.storage import Storage

COMPLETED, CANCELED, DEAD_LETTER = (
    JobState.COMPLETED,
    JobState.CANCELED,
    JobState.DEAD_LETTER,
)


PENDING, QUEUED = JobState.PENDING, JobState.QUEUED


POLICIES = ["cancel", "run", "wait"]


async def after(storage: Storage, child) -> JobState:
    await settle(storage)
    return await state_of(storage, child)


@pytest.mark.parametrize("end_state", sorted(ENDED))
@pytest.mark.parametrize("order", ["child first", "parent first"])
async def test_a_child_follows_its_policy(storage, end_state, order):
    for policy in POLICIES:
        expected = {"cancel": CANCELED, "run": QUEUED, "wait": PENDING}[policy]
        lease = await started(storage)
        if order == "parent first":
            await end(storage, lease, end_state)
        child = await enqueue_child(storage, lease.job_id, on_parent_failure=policy)
        if order == "child first":
            await end(storage, lease, end_state)

        state = await after(storage, child)

        assert state is (QUEUED if end_state is COMPLETED else expected)


@pytest.mark.parametrize("how", [{}, {"held": True}, {"delay": HOUR}])
async def test_a_child_follows_its_policy_when_a_waiting_parent_is_canceled(storage, how):
    for policy in POLICIES:
        parent = await enqueue(storage, **how)
        child = await enqueue_child(storage, parent, on_parent_failure=policy)

        await storage.jobs.cancel(ALL_TENANTS, [parent])

        assert (
            await after(storage, child)
            is {"cancel": CANCELED, "run": QUEUED, "wait": PENDING}[policy]
        )


@pytest.mark.parametrize("policy", POLICIES)
async def test_a_child_follows_its_policy_when_its_parent_is_lost(storage, clock, policy):
    lease = await started(storage)
    child = await enqueue_child(storage, lease.job_id, on_parent_failure=policy)
    await clock.advance(HOUR)

    await storage.leases.reap([lost(lease)])
    while_retrying = await after(storage, child)
    lease = await lease_of(storage, lease.job_id)
    await clock.advance(HOUR)
    await storage.leases.reap([lost(lease, DEAD_LETTER)])

    assert while_retrying is PENDING
    assert (
        await after(storage, child) is {"cancel": CANCELED, "run": QUEUED, "wait": PENDING}[policy]
    )


async def test_a_doomed_child_is_reported_overdue_with_the_reason(storage):
    lease = await started(storage)
    child = await enqueue_child(storage, lease.job_id)

    await end(storage, lease, DEAD_LETTER)

    assert await storage.leases.jobs_to_cancel() == [
        (child, "a job it waited for did not complete")
    ]
    await settle(storage)
    assert (await job(storage, child)).reason == "a job it waited for did not complete"
    assert await storage.leases.jobs_to_cancel() == []


async def test_a_doomed_child_never_runs(storage, clock):
    failing, good = await started(storage), await started(storage)
    child = await enqueue_child(storage, failing.job_id, good.job_id)
    await end(storage, failing, DEAD_LETTER)

    await end(storage, good)
    await clock.advance(DAY)

    assert await claim_all(storage) == []
    assert not await storage.jobs.run_now(ALL_TENANTS, child)
    assert await state_of(storage, child) is PENDING
    assert await after(storage, child) is CANCELED


async def test_a_child_with_policy_run_waits_for_all_parents_to_end(storage):
    failing, good = await started(storage), await started(storage)
    child = await enqueue_child(storage, failing.job_id, good.job_id, on_parent_failure="run")

    await end(storage, failing, DEAD_LETTER)
    between = await after(storage, child)
    await end(storage, good)

    assert between is PENDING
    assert await after(storage, child) is QUEUED


async def test_a_child_with_policy_wait_continues_when_its_parent_completes_after_a_retry(storage):
    lease = await started(storage)
    child = await enqueue_child(storage, lease.job_id, on_parent_failure="wait")
    await end(storage, lease, DEAD_LETTER)
    assert await after(storage, child) is PENDING
    await storage.jobs.retry(ALL_TENANTS, lease.job_id)

    await end(storage, await lease_of(storage, lease.job_id))

    assert await after(storage, child) is QUEUED


async def test_a_child_of_a_dead_lettered_parent_waits_for_its_retry(storage):
    dead = await a_job(storage, DEAD_LETTER)
    child = await enqueue_child(storage, dead.id, on_parent_failure="wait")
    assert await after(storage, child) is PENDING
    await storage.jobs.retry(ALL_TENANTS, dead.id)

    await end(storage, await lease_of(storage, dead.id))

    assert await after(storage, child) is QUEUED


async def test_a_retried_parent_does_not_rerun_a_finished_child(storage):
    lease = await started(storage)
    child = await enqueue_child(storage, lease.job_id, on_parent_failure="run")
    await end(storage, lease, DEAD_LETTER)
    await end(storage, await lease_of(storage, child))
    await storage.jobs.retry(ALL_TENANTS, lease.job_id)

    await end(storage, await lease_of(storage, lease.job_id))

    assert await state_of(storage, child) is COMPLETED
    assert await claim_all(storage) == []


@pytest.mark.parametrize("start", [DEAD_LETTER, CANCELED])
async def test_a_failure_propagates_down_the_chain(storage, start):
    lease = await started(storage)
    ids = [lease.job_id]
    for _ in range(6):
        ids.append(await enqueue_child(storage, ids[-1]))
    side = await enqueue_child(storage, ids[3], on_parent_failure="run")

    await end(storage, lease, start)
    await settle(storage)

    assert {await state_of(storage, id) for id in ids[1:]} == {CANCELED}
    assert await state_of(storage, side) is QUEUED


async def test_a_child_that_fails_does_not_change_its_parent(storage):
    parent = await a_job(storage, COMPLETED)
    child = await enqueue_child(storage, parent.id)

    await end(storage, await lease_of(storage, child), DEAD_LETTER)

    assert await job(storage, parent.id) == parent


async def test_a_closed_parent_counts_as_failed(storage):
    parent = await enqueue(storage)
    child = await enqueue_child(storage, parent)

    await storage.jobs.cancel(ALL_TENANTS, [parent], to=DEAD_LETTER)

    assert await after(storage, child) is CANCELED


async def test_an_expired_parent_counts_as_failed(storage, clock):
    parent = await enqueue(storage, expires=MINUTE)
    child = await enqueue_child(storage, parent)
    await clock.advance(MINUTE)

    assert await after(storage, child) is CANCELED
    assert (await job(storage, parent)).reason == "expired"
