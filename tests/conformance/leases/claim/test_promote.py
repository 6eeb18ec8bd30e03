"""promote: jobs that have become due join the line."""

import asyncio

from tests.support.job_builders import (
    ALDER,
    HOUR,
    MINUTE,
    SECOND,
    START,
    claim_all,
    end,
    enqueue,
    enqueue_child,
    job,
    lease_of,
    log_line,
    new_jobs,
    started,
    tables_of,
)
from windlass.core.jobs.states import JobState
from windlass.ids import QueueName


async def test_only_due_jobs_are_promoted(storage, clock):
    due = [
        await enqueue(storage, delay=n * SECOND, queue=QueueName(f"q{n % 2}")) for n in (1, 2, 3)
    ]
    later = await enqueue(storage, delay=HOUR)
    held = await enqueue(storage, held=True)
    waiting = await enqueue_child(storage, later)
    await clock.advance(3 * SECOND)

    moved = await storage.leases.promote()

    assert moved == {"q0": 1, "q1": 2}
    assert [await tables_of(storage, id) for id in due] == [["windlass_live"]] * 3
    assert [await tables_of(storage, id) for id in (later, held, waiting)] == [
        ["windlass_later"]
    ] * 3
    assert await storage.leases.promote() == {}


async def test_promoting_changes_no_field_of_a_job(storage, clock):
    lease = await started(storage, priority=7, metadata='{"m": 1}', idempotency_key="i")
    await storage.leases.append_logs(ALDER, [log_line(lease, "a line")])
    await end(storage, lease, JobState.QUEUED, delay=MINUTE, error="boom", error_trace="trace")
    before = await job(storage, lease.job_id)
    await clock.advance(MINUTE)

    await storage.leases.promote()

    assert await job(storage, lease.job_id) == before
    again = await lease_of(storage, lease.job_id)
    await storage.leases.append_logs(ALDER, [log_line(again, "another")])
    assert [line.sequence for line in await storage.jobs.logs(before)] == [1, 2]


async def test_jobs_are_promoted_in_due_order_up_to_the_limit(storage, clock):
    ids = [await enqueue(storage, due_at=START + n * SECOND) for n in (5, 1, 3, 2, 4)]
    await clock.advance(MINUTE)

    moved = await storage.leases.promote(most=2)

    assert moved == {"default": 2}
    promoted = [id for id in ids if await tables_of(storage, id) == ["windlass_live"]]
    assert promoted == [ids[1], ids[3]]


async def test_concurrent_promotes_promote_each_job_once(storage, twin, clock):
    await storage.jobs.enqueue(new_jobs(60, delay=SECOND))
    await clock.advance(SECOND)

    moved = await asyncio.gather(
        *((storage, twin)[n % 2].leases.promote(most=15) for n in range(8)), return_exceptions=False
    )

    assert sum(sum(by_queue.values()) for by_queue in moved) <= 60
    assert len(await claim_all(storage)) == 60
