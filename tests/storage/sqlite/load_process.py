"""One of several processes that enqueue, claim and finish on one file as fast as they can.

    python -m tests.storage.sqlite.load_process URL JOBS

Each thing it was promised it says in a line: `+ID` for a job stored, `-ID` for one finished. It
ends when no job is left.
"""

import asyncio
import random
import sys
from datetime import timedelta

from windlass.core.jobs.models import NewJob
from windlass.core.jobs.outcome import AttemptEnd
from windlass.core.jobs.states import JobState, Outcome
from windlass.core.leases import fair_share
from windlass.core.leases.lease import Lease, LeaseRef
from windlass.ids import DefinitionKey, JobId, WorkerId, new_job_id
from windlass.storage.storage import Storage, open_storage

KEY = "plain"
#: Large enough for the log to be copied back and begun anew many times.
PAYLOAD = '"' + "x" * 6000 + '"'


async def hammer(storage: Storage, jobs: int) -> None:
    worker = WorkerId(f"hammer-{random.random()}")
    left = jobs
    while True:
        batch = [new_job_id() for _ in range(min(left, random.randint(1, 20)))]
        left -= len(batch)
        if batch:
            await storage.jobs.enqueue(
                [NewJob(id=id, definition=DefinitionKey(KEY), payload=PAYLOAD) for id in batch]
            )
            tell("+", batch)
        leases = await claim(storage, worker, random.randint(1, 30))
        if not leases and not batch:
            return
        await storage.leases.renew(
            worker,
            [LeaseRef(lease.job_id, lease.token) for lease in leases],
            lease_time=timedelta(hours=1),
        )
        finished = await storage.leases.finish(
            worker,
            [
                AttemptEnd(
                    job_id=lease.job_id,
                    token=lease.token,
                    outcome=Outcome.SUCCEEDED,
                    state=JobState.COMPLETED,
                )
                for lease in leases
            ],
        )
        tell("-", [held.job_id for held in finished])


async def claim(storage: Storage, worker: WorkerId, limit: int) -> list[Lease]:
    survey = await storage.leases.survey(None, [KEY])
    quotas = fair_share.share_quotas(survey.lines, limit)
    if not quotas:
        return []
    return await storage.leases.claim(worker, quotas, [KEY], lease_time=timedelta(hours=1))


def tell(what: str, ids: list[JobId]) -> None:
    print("\n".join(f"{what}{id}" for id in ids), flush=True)


async def main(url: str, jobs: int) -> None:
    storage = open_storage(url)
    try:
        await hammer(storage, jobs)
    finally:
        await storage.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2])))
