"""Races of finish, release and reap: one end is recorded, regardless of the winner."""

import pytest

from tests.conformance.races.race import ROUNDS, in_one_place, race
from tests.support.job_builders import (
    ALDER,
    DAY,
    LEASE_TIME,
    claim,
    claim_all,
    end,
    finish,
    job,
    lease_of,
    lost,
    new_jobs,
    release,
    started,
    state_of,
)
from windlass.core.jobs.models import ALL_TENANTS
from windlass.core.jobs.states import JobState

PENDING, QUEUED, RUNNING, COMPLETED, CANCELED, DEAD_LETTER = JobState


@pytest.mark.parametrize("state", [COMPLETED, QUEUED, DEAD_LETTER])
async def test_finish_against_finish(storage, twin, state):
    for number in range(ROUNDS):
        lease = await started(storage)

        one, other = await race(number, end(storage, lease, state), end(twin, lease, CANCELED))

        assert (one is None) != (other is None)
        assert await state_of(storage, lease.job_id) is (one or other)
        assert await in_one_place(storage, lease.job_id)
        assert len(await storage.jobs.attempts(await job(storage, lease.job_id))) == 1


async def test_finish_of_batches_that_overlap_in_opposite_order(storage, twin):
    for number in range(ROUNDS):
        await storage.jobs.enqueue(new_jobs(20))
        leases = await claim(storage, 20)

        one, other = await race(
            number,
            storage.leases.finish(ALDER, [finish(lease) for lease in leases[:15]]),
            twin.leases.finish(
                ALDER, [finish(lease, QUEUED, delay=DAY) for lease in leases[:4:-1]]
            ),
        )

        assert len(one) + len(other) == 20
        assert one.keys().isdisjoint(other)


@pytest.mark.parametrize("state", [COMPLETED, QUEUED, DEAD_LETTER])
async def test_finish_against_reap(storage, twin, clock, state):
    for number in range(ROUNDS):
        lease = await started(storage)
        await clock.advance(LEASE_TIME)

        ended, reaped = await race(
            number, end(storage, lease, state), twin.leases.reap([lost(lease)])
        )

        assert (ended is not None) != bool(reaped)
        after = await job(storage, lease.job_id)
        assert after.state is (ended or QUEUED)
        assert after.worker_deaths == (1 if reaped else 0)
        assert await in_one_place(storage, lease.job_id)


async def test_reap_against_reap(storage, twin, clock):
    for number in range(ROUNDS):
        lease = await started(storage)
        await clock.advance(LEASE_TIME)

        one, other = await race(
            number, storage.leases.reap([lost(lease)]), twin.leases.reap([lost(lease)])
        )

        assert len(one) + len(other) == 1
        assert (await job(storage, lease.job_id)).worker_deaths == 1


async def test_release_against_reap(storage, twin, clock):
    for number in range(ROUNDS):
        lease = await started(storage)
        await clock.advance(LEASE_TIME)

        released, reaped = await race(
            number, storage.leases.finish(ALDER, [release(lease)]), twin.leases.reap([lost(lease)])
        )

        assert bool(released) != bool(reaped)
        after = await job(storage, lease.job_id)
        assert (after.attempts, after.worker_deaths) == ((0, 0) if released else (1, 1))
        assert (await lease_of(storage, lease.job_id)).token == 2


@pytest.mark.parametrize("state", [QUEUED, DEAD_LETTER, CANCELED])
async def test_an_unsuccessful_finish_against_cancel(storage, twin, state):
    for number in range(ROUNDS):
        lease = await started(storage)

        ended, result = await race(
            number,
            end(storage, lease, state),
            twin.jobs.cancel(ALL_TENANTS, [lease.job_id]),
        )

        after = await state_of(storage, lease.job_id)
        assert ended in (state, CANCELED)
        if result or state is not DEAD_LETTER:
            assert after is CANCELED
        else:
            assert after is DEAD_LETTER
        assert await in_one_place(storage, lease.job_id)
        assert await claim_all(storage) == []


async def test_success_against_cancel(storage, twin):
    for number in range(ROUNDS):
        lease = await started(storage)

        ended, result = await race(
            number, end(storage, lease), twin.jobs.cancel(ALL_TENANTS, [lease.job_id])
        )

        assert ended is COMPLETED
        assert result in ({}, {lease.job_id: RUNNING})
        assert await state_of(storage, lease.job_id) is COMPLETED


@pytest.mark.parametrize("to", [CANCELED, DEAD_LETTER], ids=["cancel", "close"])
async def test_release_against_cancel(storage, twin, to):
    for number in range(ROUNDS):
        lease = await started(storage)

        released, result = await race(
            number,
            storage.leases.finish(ALDER, [release(lease)]),
            twin.jobs.cancel(ALL_TENANTS, [lease.job_id], to=to),
        )

        assert len(released) == len(result) == 1
        assert await state_of(storage, lease.job_id) is to
        assert await claim_all(storage) == []
