"""worker_heartbeat, workers, delete_worker and forget_workers: the rows of workers."""

import asyncio
from dataclasses import replace

from tests.support.job_builders import (
    ALDER,
    DAY,
    MINUTE,
    SECOND,
    START,
    claim_all,
    enqueue,
    held,
    state_of,
)
from windlass.core.jobs.models import WorkerRow
from windlass.core.jobs.states import JobState
from windlass.core.leases.worker_orders import WorkerOrder
from windlass.ids import WorkerId

WORKER = WorkerRow(
    id=WorkerId("host – ü:1"),
    hostname="host",
    pid=4711,
    version="1.0",
    queues=("default", "mail – ü"),
    definitions=("plain", "other"),
    slots=10,
    slots_used=3,
    lease_seconds=12.5,
    metadata={"zone": "b", "n": 1},
)


async def test_a_worker_reads_back_as_reported(storage):
    await storage.leases.worker_heartbeat(WORKER)

    [seen] = await storage.leases.workers()

    expected = replace(WORKER, started_at=START, last_seen_at=START, age=0 * SECOND)
    assert seen == expected


async def test_a_later_heartbeat_keeps_the_start_time(storage, clock):
    await storage.leases.worker_heartbeat(WORKER)
    await clock.advance(MINUTE)

    await storage.leases.worker_heartbeat(
        replace(WORKER, slots_used=7, queues=("a",), definitions=(), metadata={})
    )

    await clock.advance(SECOND)
    [seen] = await storage.leases.workers()
    assert (seen.started_at, seen.last_seen_at, seen.age) == (START, START + MINUTE, SECOND)
    assert (seen.slots_used, seen.queues, seen.definitions) == (7, ("a",), ())
    assert seen.metadata == {}


async def test_a_stopped_worker_is_removed(storage):
    await storage.leases.worker_heartbeat(WORKER)
    await storage.leases.worker_heartbeat(replace(WORKER, id=WorkerId("other")))

    await storage.leases.delete_worker(WORKER.id)

    assert [worker.id for worker in await storage.leases.workers()] == ["other"]


async def test_a_worker_shows_its_latest_report(storage):
    await storage.leases.worker_heartbeat(WORKER)

    await storage.leases.worker_heartbeat(replace(WORKER, doing=WorkerOrder.DRAIN))

    [seen] = await storage.leases.workers()
    assert (seen.doing, seen.wanted) == (WorkerOrder.DRAIN, WorkerOrder.RUN)


async def test_workers_not_seen_for_long_are_deleted(storage, clock):
    await storage.leases.worker_heartbeat(WORKER)
    await clock.advance(DAY)
    await storage.leases.worker_heartbeat(replace(WORKER, id=WorkerId("young")))

    forgotten = await storage.leases.forget_workers(unseen_seconds=3600)

    assert (forgotten, await storage.leases.forget_workers(unseen_seconds=3600)) == (1, 0)
    assert [worker.id for worker in await storage.leases.workers()] == ["young"]


async def test_many_workers_send_heartbeats_concurrently(storage, twin):
    workers = [replace(WORKER, id=WorkerId(f"worker {n:02}")) for n in range(12)]

    await asyncio.gather(
        *((storage, twin)[n % 2].leases.worker_heartbeat(w) for n, w in enumerate(workers * 2))
    )

    assert [seen.id for seen in await storage.leases.workers()] == [worker.id for worker in workers]


async def test_deleting_a_worker_leaves_its_jobs_unchanged(storage):
    await storage.leases.worker_heartbeat(replace(WORKER, id=WorkerId("alder")))
    await enqueue(storage)
    [lease] = await claim_all(storage)

    await storage.leases.delete_worker(WorkerId("alder"))

    assert await state_of(storage, lease.job_id) is JobState.RUNNING
    assert len(await storage.leases.renew(ALDER, [held(lease)], lease_time=MINUTE)) == 1
