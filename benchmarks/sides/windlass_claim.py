"""Claims of Windlass alone, and jobs that cannot be claimed: `windlass_claim.py VERB URL …`."""

import time
from collections.abc import Mapping
from datetime import timedelta
from statistics import median

from benchmarks.sides.windlass_app import PAYLOAD, Verb, app, declare_other, main
from windlass import Windlass
from windlass.core.jobs import outcome
from windlass.core.jobs.outcome import AttemptEnd
from windlass.core.leases.lease import Lease, LeaseRef
from windlass.engine.leases.leases import Leases
from windlass.ids import WorkerId

LONG = timedelta(hours=1)
WORKER = WorkerId("bench")


async def claim(url: str, rounds: str, held: str = "0") -> dict[str, float]:
    """How long one claim of a hundred takes while that many are held; each is handed back."""
    wl, noop, _ = app(url)
    engine = await wl.ready()
    await _hold(engine.leases(worker=WORKER), int(held), noop.key)
    leases = engine.leases(worker=WORKER)
    took = []
    for _n in range(int(rounds) + 1):
        began = time.perf_counter()
        claimed = await _claim(leases, 100, noop.key)
        took.append((time.perf_counter() - began) * 1000)
        await leases.finish([outcome.released(LeaseRef(x.job_id, x.token)) for x in claimed])
        await engine.storage.leases.promote()
    await wl.close()
    return {"p50_ms": median(took[1:])}  # the first one connects and prepares


async def first_claims(url: str, most: str, slots: str = "500") -> dict[str, float]:
    """After how many claims every tenant has had a job, at most `most`."""
    wl, noop, _ = app(url)
    engine = await wl.ready()
    waiting = {tenant.id for tenant in await wl.tenants.list()} - {"system"}
    leases = engine.leases(worker=WORKER)
    number = 0
    while waiting and number < int(most):
        number += 1
        claimed = await _claim(leases, int(slots), noop.key)
        if not claimed:
            break
        waiting -= {lease.tenant for lease in claimed}
        await leases.finish([_success(lease) for lease in claimed])
    await wl.close()
    return {"rounds": number}


async def unclaimable(url: str, why: str) -> dict[str, float]:
    """One job of a definition `other` that the worker of `drain` cannot claim."""
    wl = Windlass(url)
    job = declare_other(wl, why)
    async with wl:
        await job.enqueue(text=PAYLOAD)
        if why == "paused":
            await wl.queues.pause("paused")
        if why == "limited":
            await _hold((await wl.ready()).leases(worker=WORKER), 1, "other")
            await job.enqueue(text=PAYLOAD)
        if why == "disabled":
            await wl.definitions.disable("other")
    return {}


def _success(lease: Lease) -> AttemptEnd:
    return outcome.success(
        LeaseRef(lease.job_id, lease.token), result=None, warnings=None, keep=True
    )


async def _hold(leases: Leases, jobs: int, key: str) -> None:
    while jobs > 0:
        claimed = await _claim(leases, min(jobs, 1000), key)
        jobs -= len(claimed)
        if not claimed:
            raise RuntimeError(f"{jobs} more jobs should be held than there are")


async def _claim(leases: Leases, limit: int, key: str) -> list[Lease]:
    claimed = await leases.claim(WORKER, limit, queues=None, known=[key], lease_time=LONG)
    return list(claimed.leases)


VERBS: Mapping[str, Verb] = {
    "claim": claim,
    "first_claims": first_claims,
    "unclaimable": unclaimable,
}

if __name__ == "__main__":
    main(VERBS)
