"""record_progress: progress is visible before the job ends."""

import asyncio

from tests.support.job_builders import (
    ALDER,
    LEASE_TIME,
    MINUTE,
    SECOND,
    end,
    held,
    job,
    lease_of,
    release,
    started,
)
from windlass.core.jobs.states import JobState
from windlass.core.leases.lease import ProgressReport


async def renew(storage, *leases):
    return await storage.leases.renew(
        ALDER, [held(lease) for lease in leases], lease_time=LEASE_TIME
    )


async def report(storage, lease, fraction, note=None):
    progress = ProgressReport(job_id=lease.job_id, token=lease.token, fraction=fraction, note=note)
    return await storage.leases.record_progress(ALDER, [progress])


async def test_progress_is_visible_while_the_job_runs(storage, clock):
    lease = await started(storage)
    await clock.advance(SECOND)

    recorded = await report(storage, lease, 0.25, "a quarter – 𝄞")

    now = await job(storage, lease.job_id)
    assert recorded == {lease.job_id}
    assert (now.progress, now.progress_note) == (0.25, "a quarter – 𝄞")
    assert now.updated_at == clock.now


async def test_progress_keeps_its_last_value_and_may_clear_its_note(storage):
    lease = await started(storage)
    await report(storage, lease, 0.5, "half")

    await report(storage, lease, 0.75)

    now = await job(storage, lease.job_id)
    assert (now.progress, now.progress_note) == (0.75, None)


async def test_progress_of_a_stale_token_is_not_recorded(storage):
    first = await started(storage)
    await storage.leases.finish(ALDER, [release(first)])
    second = await lease_of(storage, first.job_id)
    await report(storage, second, 0.1, "mine")

    recorded = await report(storage, first, 0.9, "not mine")

    assert recorded == set()
    now = await job(storage, first.job_id)
    assert (now.progress, now.progress_note) == (0.1, "mine")


async def test_progress_of_several_jobs_is_recorded_in_one_call(storage):
    leases = [await started(storage) for _ in range(3)]

    recorded = await storage.leases.record_progress(
        ALDER,
        [
            ProgressReport(job_id=lease.job_id, token=lease.token, fraction=n / 4, note=str(n))
            for n, lease in enumerate(leases)
        ],
    )

    assert recorded == {lease.job_id for lease in leases}
    assert [(await job(storage, lease.job_id)).progress for lease in leases] == [0.0, 0.25, 0.5]
    assert await storage.leases.record_progress(ALDER, []) == set()


async def test_progress_restarts_with_the_next_attempt(storage):
    lease = await started(storage)
    await report(storage, lease, 0.5, "half")

    await end(storage, lease, JobState.QUEUED)

    now = await job(storage, lease.job_id)
    assert (now.progress, now.progress_note) == (0.0, None)


async def test_a_dead_lettered_job_keeps_its_last_progress(storage):
    lease = await started(storage)
    await report(storage, lease, 0.5, "half")

    await end(storage, lease, JobState.DEAD_LETTER)

    now = await job(storage, lease.job_id)
    assert (now.progress, now.progress_note) == (0.5, "half")


async def test_concurrent_renewals_and_progress_reports_do_not_conflict(storage, twin, clock):
    leases = [await started(storage) for _ in range(5)]
    await clock.advance(MINUTE)

    results = await asyncio.gather(
        *(renew(storage, *leases[::step]) for step in (1, -1)),
        *(report(twin, lease, 0.5) for lease in leases),
    )

    assert [len(result) for result in results] == [5, 5, 1, 1, 1, 1, 1]
    assert await storage.leases.expired_leases() == []
