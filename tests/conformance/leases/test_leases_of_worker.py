"""worker_leases: returns all leases of a worker, including those it does not know of."""

from tests.support.job_builders import (
    ALDER,
    LEASE_TIME,
    SECOND,
    claim,
    end,
    enqueue,
    held,
    job,
    lost,
    new_jobs,
    release,
)
from windlass.core.jobs.states import JobState


async def test_the_leases_of_one_worker_are_returned(storage):
    await storage.jobs.enqueue(new_jobs(5))
    mine, others = await claim(storage, 3), await claim(storage, 2, worker="birch")

    assert await storage.leases.worker_leases("alder") == {held(lease) for lease in mine}
    assert await storage.leases.worker_leases("birch") == {held(lease) for lease in others}
    assert await storage.leases.worker_leases("cedar") == set()


async def test_ended_leases_are_not_returned(storage):
    await storage.jobs.enqueue(new_jobs(4))
    done, back, failed, runs = await claim(storage, 4)
    await end(storage, done)
    await end(storage, failed, JobState.DEAD_LETTER)
    await storage.leases.finish(ALDER, [release(back)])

    assert await storage.leases.worker_leases("alder") == {held(runs)}


async def test_a_lease_taken_over_by_another_worker_is_not_returned(storage, clock):
    await enqueue(storage)
    [lease] = await claim(storage)
    await clock.advance(LEASE_TIME)
    await storage.leases.reap([lost(lease)])
    await storage.leases.promote()
    [again] = await claim(storage, worker="birch")

    assert await storage.leases.worker_leases("alder") == set()
    assert await storage.leases.worker_leases("birch") == {held(again)}


async def test_a_renewed_lease_is_returned(storage, clock):
    await enqueue(storage)
    [lease] = await claim(storage)
    for _ in range(5):
        await clock.advance(LEASE_TIME - SECOND)
        await storage.leases.renew(ALDER, [held(lease)], lease_time=LEASE_TIME)
        await storage.leases.drop_ended_claims()

    assert await storage.leases.worker_leases("alder") == {held(lease)}


async def test_a_released_lease_is_not_counted(storage):
    id = await enqueue(storage, max_attempts=1)
    await claim(storage)

    [unknown] = await storage.leases.worker_leases("alder")
    await storage.leases.finish(ALDER, [release(unknown)])

    back = await job(storage, id)
    assert (back.state, back.attempts, back.worker_deaths) == (JobState.QUEUED, 0, 0)
