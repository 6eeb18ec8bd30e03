"""Races of manual changes: cancel, retry, run now, discard."""

import pytest

from tests.conformance.races.race import ROUNDS, in_one_place, race
from tests.support.job_builders import (
    DAY,
    SECOND,
    a_job,
    claim_all,
    end,
    enqueue,
    enqueue_child,
    job,
    new_job,
    offer,
    rows_of,
    started,
    state_of,
    tables_of,
)
from windlass.core.jobs.models import ALL_TENANTS
from windlass.core.jobs.states import JobState
from windlass.ids import new_job_id

PENDING, QUEUED, RUNNING, COMPLETED, CANCELED, DEAD_LETTER = JobState


@pytest.mark.parametrize("how", [{}, {"delay": DAY}, {"held": True}], ids=["due", "later", "held"])
async def test_cancel_against_cancel(storage, twin, how):
    for number in range(ROUNDS):
        id = await enqueue(storage, **how)

        one, other = await race(
            number,
            storage.jobs.cancel(ALL_TENANTS, [id], actor="a"),
            twin.jobs.cancel(ALL_TENANTS, [id], actor="b", to=DEAD_LETTER),
        )

        assert sorted([one, other], key=len) == [{}, one or other]
        after = await job(storage, id)
        assert after.state is (one or other)[id]
        assert after.cancel_requested_by == ("a" if one else "b")


async def test_cancel_against_cancel_of_a_running_job(storage, twin):
    for number in range(ROUNDS):
        lease = await started(storage)
        id = lease.job_id

        one, other = await race(
            number,
            storage.jobs.cancel(ALL_TENANTS, [id], actor="a"),
            twin.jobs.cancel(ALL_TENANTS, [id], actor="b"),
        )

        assert one == other == {id: RUNNING}


async def test_cancel_of_batches_in_opposite_order(storage, twin):
    for number in range(ROUNDS):
        ids = [await enqueue(storage)]
        for _ in range(5):
            ids.append(await enqueue_child(storage, *ids[-3:]))

        one, other = await race(
            number,
            storage.jobs.cancel(ALL_TENANTS, ids),
            twin.jobs.cancel(ALL_TENANTS, ids[::-1]),
        )

        assert one.keys() | other.keys() == set(ids)
        assert one.keys().isdisjoint(other)


async def test_cancel_against_promote(storage, twin, clock):
    for number in range(ROUNDS):
        id = await enqueue(storage, delay=SECOND)
        await clock.advance(SECOND)

        result, _ = await race(
            number, storage.jobs.cancel(ALL_TENANTS, [id]), twin.leases.promote()
        )

        assert result == {id: CANCELED}
        assert await tables_of(storage, id) == ["windlass_ended"]


async def test_cancel_against_run_now(storage, twin):
    for number in range(ROUNDS):
        id = await enqueue(storage, **({"delay": DAY} if number % 4 < 2 else {"held": True}))

        result, _ = await race(
            number,
            storage.jobs.cancel(ALL_TENANTS, [id]),
            twin.jobs.run_now(ALL_TENANTS, id),
        )

        assert result == {id: CANCELED}
        assert await tables_of(storage, id) == ["windlass_ended"]


async def test_run_now_against_promote(storage, twin, clock):
    for number in range(ROUNDS):
        id = await enqueue(storage, delay=SECOND)
        await clock.advance(SECOND)

        result, _ = await race(number, storage.jobs.run_now(ALL_TENANTS, id), twin.leases.promote())

        assert result
        assert await tables_of(storage, id) == ["windlass_live"]
        assert [await end(storage, lease) for lease in await claim_all(storage)] == [COMPLETED]


async def test_run_now_against_run_now(storage, twin):
    for number in range(ROUNDS):
        id = await enqueue(storage, held=True)

        results = await race(
            number,
            storage.jobs.run_now(ALL_TENANTS, id),
            twin.jobs.run_now(ALL_TENANTS, id),
        )

        assert results == (True, True)
        assert await tables_of(storage, id) == ["windlass_live"]
        assert len(await storage.jobs.transitions(await job(storage, id))) == 1


async def test_run_now_against_the_end_of_a_parent(storage, twin):
    for number in range(ROUNDS):
        lease = await started(storage)
        child = await enqueue_child(storage, lease.job_id, held=True)

        freed, _ = await race(number, storage.jobs.run_now(ALL_TENANTS, child), end(twin, lease))

        assert await state_of(storage, child) is (QUEUED if freed else PENDING)
        assert freed or await storage.jobs.run_now(ALL_TENANTS, child)


async def test_retry_against_retry(storage, twin):
    for number in range(ROUNDS):
        lease = await started(storage, dedupe_key=f"key {number}")
        await end(storage, lease, DEAD_LETTER)

        one, other = await race(
            number,
            storage.jobs.retry(ALL_TENANTS, lease.job_id, actor="a"),
            twin.jobs.retry(ALL_TENANTS, lease.job_id, actor="b"),
        )

        assert {one, other} == {"queued", None}
        after = await job(storage, lease.job_id)
        assert len(await storage.jobs.attempts(after)) == 1
        assert (await storage.jobs.transitions(after))[-1].actor == ("a" if one else "b")
        assert await in_one_place(storage, lease.job_id)


@pytest.mark.parametrize("by", ["days", "number", "hand"])
async def test_retry_against_deletion(storage, twin, clock, by):
    for number in range(ROUNDS):
        dead = await a_job(storage, DEAD_LETTER, idempotency_key=f"key {number}")
        await clock.advance(2 * DAY)
        bound = new_job_id()

        async def delete(id=dead.id, bound=bound) -> int:
            if by == "days":
                return await twin.monitoring.prune("plain", days=1, before_id=bound)
            if by == "number":
                return await twin.monitoring.prune_by_count("plain", keep=0)
            return await twin.jobs.discard(ALL_TENANTS, id)

        retried, deleted = await race(number, storage.jobs.retry(ALL_TENANTS, dead.id), delete())

        assert (retried == "queued") != bool(deleted)
        assert await storage.jobs.existing_job_ids([dead.id]) == ({dead.id} if retried else set())
        assert await rows_of(storage, "windlass_keys", "job_id", dead.id) == (1 if retried else 0)
        await storage.jobs.cancel(ALL_TENANTS, [dead.id], to=DEAD_LETTER)
        await twin.monitoring.prune_by_count("plain", keep=0)


async def test_retry_against_cancel(storage, twin):
    for number in range(ROUNDS):
        dead = await a_job(storage, DEAD_LETTER)

        retried, result = await race(
            number,
            storage.jobs.retry(ALL_TENANTS, dead.id),
            twin.jobs.cancel(ALL_TENANTS, [dead.id]),
        )

        assert retried == "queued"
        assert await state_of(storage, dead.id) is (CANCELED if result else QUEUED)
        assert await in_one_place(storage, dead.id)


async def test_retry_against_enqueue_of_its_key(storage, twin):
    for number in range(ROUNDS):
        key = f"key {number}"
        dead = await a_job(storage, DEAD_LETTER, dedupe_key=key)
        new = new_job(dedupe_key=key)

        retried, stored = await race(
            number, storage.jobs.retry(ALL_TENANTS, dead.id), offer(twin, new)
        )

        assert (retried, stored.status, stored.existing_id) in [
            ("queued", "existing", dead.id),
            ("duplicate", "created", None),
        ]


async def test_retry_against_retry_of_a_job_with_the_same_key(storage, twin):
    for number in range(ROUNDS):
        key = f"key {number}"
        first = await a_job(storage, DEAD_LETTER, dedupe_key=key)
        second = await a_job(storage, DEAD_LETTER, dedupe_key=key)

        results = await race(
            number,
            storage.jobs.retry(ALL_TENANTS, first.id),
            twin.jobs.retry(ALL_TENANTS, second.id),
        )

        assert sorted(results) == ["duplicate", "queued"]
