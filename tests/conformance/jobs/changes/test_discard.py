"""discard: deleting an ended job for good."""

from tests.support.invariants import check_invariants
from tests.support.job_builders import (
    ACME,
    ALDER,
    a_job,
    a_tenant,
    end,
    enqueue_child,
    job,
    lease_of,
    log_line,
    rows_of,
    started,
)
from windlass.core.jobs.models import ALL_TENANTS, Scope
from windlass.core.jobs.states import JobState
from windlass.ids import new_job_id


async def test_a_discarded_job_is_deleted_with_its_related_rows(storage):
    parent = await a_job(storage, JobState.COMPLETED)
    child = await enqueue_child(storage, parent.id, dedupe_key="d", idempotency_key="i")
    lease = await lease_of(storage, child)
    await storage.leases.append_logs(ALDER, [log_line(lease, "a line")])
    await end(storage, lease, JobState.DEAD_LETTER, exit_code=1)
    await storage.jobs.retry(ALL_TENANTS, child)
    await end(storage, await lease_of(storage, child), JobState.DEAD_LETTER, exit_code=1)

    assert await storage.jobs.discard(ALL_TENANTS, child)

    assert await storage.jobs.get(ALL_TENANTS, child) is None
    for table in ("attempts", "transitions", "logs", "keys"):
        assert await rows_of(storage, f"windlass_{table}", "job_id", child) == 0, table
    assert await rows_of(storage, "windlass_parents", "child_id", child) == 0


async def test_only_ended_jobs_are_discarded_and_leave_the_counts(storage, clock):
    for state in JobState:
        before = await a_job(storage, state)

        assert await storage.jobs.discard(ALL_TENANTS, before.id) is before.ended
        assert await storage.jobs.get(ALL_TENANTS, before.id) == (None if before.ended else before)
        assert not await storage.jobs.discard(ALL_TENANTS, new_job_id())
    await check_invariants(storage, clock)


async def test_a_discard_may_be_limited_to_one_state(storage):
    done = await a_job(storage, JobState.COMPLETED)

    assert not await storage.jobs.discard(ALL_TENANTS, done.id, only=JobState.DEAD_LETTER)
    assert await job(storage, done.id) == done


async def test_a_job_with_waiting_children_is_not_discarded(storage):
    lease = await started(storage)
    child = await enqueue_child(storage, lease.job_id, on_parent_failure="wait")
    await end(storage, lease, JobState.DEAD_LETTER)

    assert not await storage.jobs.discard(ALL_TENANTS, lease.job_id)

    await storage.jobs.cancel(ALL_TENANTS, [child])
    assert await storage.jobs.discard(ALL_TENANTS, lease.job_id)


async def test_another_tenant_discards_nothing(storage):
    await a_tenant(storage, "acme")
    dead = await a_job(storage, JobState.DEAD_LETTER, tenant=ACME)

    assert not await storage.jobs.discard(Scope.of("globex"), dead.id)
    assert await job(storage, dead.id) == dead
    assert await storage.jobs.discard(Scope(ACME), dead.id)
