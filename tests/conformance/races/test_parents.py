"""Races between parents and children: no child waits forever."""

import pytest

from tests.conformance.races.race import ROUNDS, race
from tests.support.job_builders import (
    ALDER,
    DAY,
    HOUR,
    a_job,
    claim,
    claim_all,
    end,
    enqueue,
    enqueue_child,
    finish,
    job,
    lease_of,
    new_job,
    new_jobs,
    offer,
    settle,
    started,
    state_of,
    tables_of,
)
from windlass.core.jobs.models import ALL_TENANTS
from windlass.core.jobs.states import JobState
from windlass.core.leases.lease import LeaseRef
from windlass.ids import new_job_id

PENDING, QUEUED, RUNNING, COMPLETED, CANCELED, DEAD_LETTER = JobState


@pytest.mark.parametrize("policy", ["cancel", "run", "wait"])
@pytest.mark.parametrize("state", [COMPLETED, DEAD_LETTER])
async def test_enqueue_of_a_child_against_the_end_of_its_parent(storage, twin, policy, state):
    expected = {"cancel": CANCELED, "run": QUEUED, "wait": PENDING}[policy]
    for number in range(ROUNDS):
        lease = await started(storage)

        child, ended = await race(
            number,
            enqueue_child(storage, lease.job_id, on_parent_failure=policy),
            end(twin, lease, state),
        )

        assert ended is state
        await settle(storage)
        assert await state_of(storage, child) is (QUEUED if state is COMPLETED else expected)


async def test_enqueue_of_a_child_against_the_end_of_a_parent_that_is_not_kept(storage, twin):
    for number in range(ROUNDS):
        lease = await started(storage)
        child = new_job(after=(lease.job_id,))

        async def store(child=child) -> str:
            stored = await offer(storage, child)
            if stored.status == "created":
                await storage.leases.admit([child.id])
            return stored.status

        status, _ = await race(number, store(), end(twin, lease, keep=False))

        await settle(storage)
        assert status in ("created", "unknown_parent")
        if status == "created":
            assert await state_of(storage, child.id) is QUEUED


@pytest.mark.parametrize("policy", ["cancel", "run", "wait"])
@pytest.mark.parametrize("how", [{}, {"delay": DAY}, {"held": True}], ids=["due", "later", "held"])
async def test_enqueue_of_a_child_against_the_cancel_of_its_parent(storage, twin, policy, how):
    expected = {"cancel": CANCELED, "run": QUEUED, "wait": PENDING}[policy]
    for number in range(ROUNDS // 2):
        parent = await enqueue(storage, **how)

        child, result = await race(
            number,
            enqueue_child(storage, parent, on_parent_failure=policy),
            twin.jobs.cancel(ALL_TENANTS, [parent]),
        )

        assert result == {parent: CANCELED}
        await settle(storage)
        assert await state_of(storage, child) is expected


@pytest.mark.parametrize("by", ["days", "hand"])
async def test_enqueue_of_a_child_against_the_deletion_of_its_parent(storage, twin, clock, by):
    for number in range(ROUNDS):
        parent = await a_job(storage, DEAD_LETTER)
        await clock.advance(2 * DAY)
        child, bound = new_job(after=(parent.id,), on_parent_failure="run"), new_job_id()

        async def store(child=child) -> str:
            stored = await offer(storage, child)
            if stored.status == "created":
                await storage.leases.admit([child.id])
            return stored.status

        async def delete(id=parent.id, bound=bound) -> int:
            if by == "days":
                return await twin.monitoring.prune("plain", days=1, before_id=bound)
            return await twin.jobs.discard(ALL_TENANTS, id)

        status, deleted = await race(number, store(), delete())

        await settle(storage)
        assert status in ("created", "unknown_parent")
        assert deleted or status == "created"
        if status == "created":
            assert await state_of(storage, child.id) is QUEUED
            await storage.jobs.cancel(ALL_TENANTS, [child.id])


async def test_two_parents_finishing_at_once(storage, twin):
    for number in range(ROUNDS):
        first, second = await started(storage), await started(storage)
        child = await enqueue_child(storage, first.job_id, second.job_id)

        await race(number, end(storage, first), end(twin, second))

        after = await job(storage, child)
        assert (after.state, after.waits) == (QUEUED, 0)
        assert len(await claim_all(storage)) == 1


async def test_one_parent_failing_while_the_other_completes(storage, twin):
    for number in range(ROUNDS):
        first, second = await started(storage), await started(storage)
        child = await enqueue_child(storage, first.job_id, second.job_id)

        await race(number, end(storage, first), end(twin, second, DEAD_LETTER))

        assert await claim_all(storage) == []
        await settle(storage)
        assert await state_of(storage, child) is CANCELED


async def test_parents_of_many_children_finishing_at_once(storage, twin):
    for number in range(ROUNDS // 2):
        await storage.jobs.enqueue(new_jobs(6))
        leases = await claim(storage, 6)
        parents = [lease.job_id for lease in leases]
        children = [new_job(after=tuple(parents[:: (-1) ** n])) for n in range(10)]
        await storage.jobs.enqueue(children)
        await storage.leases.admit([child.id for child in children])

        await race(
            number,
            storage.leases.finish(ALDER, [finish(lease) for lease in leases[:3]]),
            twin.leases.finish(ALDER, [finish(lease) for lease in leases[:2:-1]]),
        )

        ready = await claim_all(storage)
        assert {lease.job_id for lease in ready} == {child.id for child in children}
        await storage.leases.finish(ALDER, [finish(lease) for lease in ready])


async def test_cancel_of_a_parent_against_its_end(storage, twin):
    for number in range(ROUNDS):
        lease = await started(storage)
        child = await enqueue_child(storage, lease.job_id)

        ended, _ = await race(
            number,
            end(storage, lease, QUEUED, delay=HOUR),
            twin.jobs.cancel(ALL_TENANTS, [lease.job_id]),
        )

        assert ended in (QUEUED, CANCELED)
        await settle(storage)
        assert await state_of(storage, lease.job_id) is CANCELED
        assert await state_of(storage, child) is CANCELED


async def test_cancel_of_a_child_against_the_end_of_its_parent(storage, twin):
    for number in range(ROUNDS):
        lease = await started(storage)
        child = await enqueue_child(storage, lease.job_id)

        result, ended = await race(
            number, storage.jobs.cancel(ALL_TENANTS, [child]), end(twin, lease)
        )

        assert ended is COMPLETED
        assert result == {child: CANCELED}
        assert await tables_of(storage, child) == ["windlass_ended"]


async def test_cancel_of_one_parent_against_the_end_of_the_other(storage, twin):
    for number in range(ROUNDS):
        lease, other = await started(storage), await enqueue(storage, held=True)
        child = await enqueue_child(storage, lease.job_id, other, on_parent_failure="run")

        await race(number, storage.jobs.cancel(ALL_TENANTS, [other]), end(twin, lease))

        assert [ready.job_id for ready in await claim_all(storage)] == [child]
        await storage.leases.finish(ALDER, [finish(LeaseRef(child, 1))])


async def test_admit_against_the_end_of_a_parent(storage, twin):
    for number in range(ROUNDS):
        lease = await started(storage)
        child = new_job(after=(lease.job_id,))
        await storage.jobs.enqueue([child])

        await race(number, storage.leases.admit([child.id]), end(twin, lease))

        await settle(storage)
        after = await job(storage, child.id)
        assert (after.state, after.waits) == (QUEUED, 0)


async def test_admit_against_admit(storage, twin):
    for number in range(ROUNDS):
        parents = [(await a_job(storage, COMPLETED)).id for _ in range(2)]
        lease = await started(storage)
        children = [new_job(after=(*parents, lease.job_id)).id for _ in range(2)]
        await storage.jobs.enqueue(
            [new_job(id=id, after=(*parents, lease.job_id)) for id in children]
        )

        await race(number, storage.leases.admit(children), twin.leases.admit(children[::-1]))

        assert [(await job(storage, child)).waits for child in children] == [1, 1]


async def test_retry_of_a_parent_against_the_enqueue_of_a_child(storage, twin):
    for number in range(ROUNDS):
        dead = await a_job(storage, DEAD_LETTER)

        child, retried = await race(
            number,
            enqueue_child(storage, dead.id, on_parent_failure="wait"),
            twin.jobs.retry(ALL_TENANTS, dead.id),
        )

        assert retried == "queued"
        await end(storage, await lease_of(storage, dead.id))
        await settle(storage)
        assert await state_of(storage, child) is QUEUED
