"""claim: many workers at once, each job to one of them."""

import asyncio

from tests.support.job_builders import (
    claim,
    claim_all,
    end,
    enqueue,
    job,
    new_jobs,
)


async def test_two_claims_of_one_job_succeed_once(storage, twin):
    for _ in range(15):
        id = await enqueue(storage)

        both = await asyncio.gather(claim(storage, worker="a"), claim(twin, worker="b"))

        [lease] = [lease for leases in both for lease in leases]
        assert lease.job_id == id
        assert (await job(storage, id)).lease_token == lease.token
        await end(storage, lease)


async def test_many_workers_claim_hundreds_of_jobs_each_once(storage, twin):
    new = new_jobs(400)
    await storage.jobs.enqueue(new)

    async def drain(n: int) -> list:
        taken = []
        while got := await claim((storage, twin)[n % 2], 7, worker=f"worker {n}"):
            taken += got
        return taken

    workers = await asyncio.gather(*(drain(n) for n in range(8)))

    leases = [lease for taken in workers for lease in taken] + await claim_all(storage)
    assert sorted(lease.job_id for lease in leases) == sorted(n.id for n in new)
    assert {lease.token for lease in leases} == {1}
