"""worker_heartbeat, workers, running_jobs, delete_worker and forget_workers: the rows of workers."""

import asyncio
from dataclasses import replace

from tests.support.job_builders import (
    ACME,
    ALDER,
    DAY,
    MINUTE,
    SECOND,
    START,
    a_tenant,
    claim_all,
    end,
    enqueue,
    held,
    started,
    state_of,
)
from windlass.core.jobs.models import ALL_TENANTS, Scope, WorkerRow
from windlass.core.jobs.states import JobState
from windlass.core.leases.lease import ProgressReport
from windlass.core.leases.worker_orders import WorkerOrder
from windlass.ids import WorkerId

BIRCH = WorkerId("birch")
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
    memory_mb=212,
    code="3f2a9c",
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


async def test_a_later_heartbeat_replaces_memory_and_code(storage):
    await storage.leases.worker_heartbeat(WORKER)

    await storage.leases.worker_heartbeat(replace(WORKER, memory_mb=None, code="b01"))

    [seen] = await storage.leases.workers()
    assert (seen.memory_mb, seen.code) == (None, "b01")


async def test_running_jobs_are_listed_by_worker_the_longest_first(storage, clock):
    await a_tenant(storage, "acme")
    first = await started(storage)
    await clock.advance(MINUTE)
    second = await started(storage, tenant=ACME, created_by="user:ada")
    other = await started(storage, by=BIRCH)
    waiting = await enqueue(storage)
    ended = await started(storage, by=BIRCH)
    await end(storage, ended)
    half = ProgressReport(job_id=first.job_id, token=first.token, fraction=0.5, note="half")
    await storage.leases.record_progress(ALDER, [half])

    everything = await storage.leases.running_jobs(ALL_TENANTS)
    of_alder = await storage.leases.running_jobs(ALL_TENANTS, ALDER)
    of_acme = await storage.leases.running_jobs(Scope.of("acme"))
    of_ada = await storage.leases.running_jobs(ALL_TENANTS, created_by="user:ada")
    few = await storage.leases.running_jobs(ALL_TENANTS, most_each=1)

    assert waiting not in {job.id for job in everything}
    assert [(job.worker_id, job.id) for job in everything] == [
        (ALDER, first.job_id),
        (ALDER, second.job_id),
        (BIRCH, other.job_id),
    ]
    assert [job.id for job in of_alder] == [first.job_id, second.job_id]
    assert [job.id for job in of_acme] == [job.id for job in of_ada] == [second.job_id]
    assert [job.id for job in few] == [first.job_id, other.job_id]
    assert (of_alder[0].elapsed, of_alder[0].started_at, of_alder[0].attempt) == (MINUTE, START, 1)
    assert (of_alder[0].progress, of_alder[0].progress_note) == (0.5, "half")
    assert (of_alder[0].definition, of_acme[0].tenant) == ("plain", "acme")


async def test_the_code_of_a_worker_outlives_its_row(storage, clock):
    await storage.leases.worker_heartbeat(WORKER)
    await storage.leases.record_worker_code(WORKER.id, "one")
    await storage.leases.record_worker_code(WORKER.id, "two")
    await storage.leases.record_worker_code(ALDER, "three")
    await clock.advance(DAY)

    with_row = await storage.leases.forget_worker_codes(older_seconds=3600)
    await storage.leases.delete_worker(WORKER.id)
    too_old = await storage.leases.forget_worker_codes(older_seconds=2 * DAY.total_seconds())
    without_row = await storage.leases.forget_worker_codes(older_seconds=3600)

    assert (with_row, too_old, without_row) == (1, 0, 1)


async def test_the_code_of_workers_is_told_with_when_it_was_first_run(storage, clock):
    await storage.leases.record_worker_code(ALDER, "one")
    await clock.advance(MINUTE)
    await storage.leases.record_worker_code(BIRCH, "one")
    await storage.leases.record_worker_code(WORKER.id, "two")

    codes = await storage.leases.worker_codes([BIRCH, WORKER.id, WorkerId("nobody")])

    assert codes == {BIRCH: ("one", START), WORKER.id: ("two", START + MINUTE)}
    assert await storage.leases.worker_codes([]) == {}


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
