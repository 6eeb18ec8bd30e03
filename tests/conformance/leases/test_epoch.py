"""begin_epoch: leases from before a restore no longer count."""

import asyncio

from tests.support.job_builders import (
    ALDER,
    HOUR,
    LEASE_TIME,
    claim,
    claim_all,
    end,
    enqueue,
    finish,
    held,
    job,
    lease_of,
    log_line,
    new_jobs,
    started,
    state_of,
)
from windlass.core.jobs.models import ALL_TENANTS
from windlass.core.jobs.states import JobState
from windlass.ids import WorkerId
from windlass.storage.monitoring.installation import TOKEN_STEP


async def test_running_jobs_are_released_and_their_attempts_not_counted(storage):
    leases = [await started(storage, by=worker) for worker in ("alder", "birch", "birch")]
    limited = await started(storage, definition="limited")

    assert await storage.monitoring.begin_epoch(server=None) == 4

    for lease in [*leases, limited]:
        back = await job(storage, lease.job_id)
        assert (back.state, back.attempts, back.worker_deaths) == (JobState.QUEUED, 0, 0)
    assert {lease.job_id for lease in await claim_all(storage)} == {
        lease.job_id for lease in [*leases, limited]
    }


async def test_many_running_jobs_are_released(storage):
    await storage.jobs.enqueue(new_jobs(600))
    assert len(await claim(storage, 600)) == 600

    assert await storage.monitoring.begin_epoch(server=None) == 600


async def test_a_holder_from_an_earlier_epoch_changes_nothing(storage):
    lease = await started(storage)

    await storage.monitoring.begin_epoch(server=None)

    for _ in range(2):
        assert await storage.leases.finish(ALDER, [finish(lease)]) == {}
        assert await storage.leases.renew(ALDER, [held(lease)], lease_time=LEASE_TIME) == []
        assert await storage.leases.append_logs(ALDER, [log_line(lease, "late")]) == set()
        # The same worker has it again, by a token that was never given.
        if await state_of(storage, lease.job_id) is JobState.QUEUED:
            again = await lease_of(storage, lease.job_id)
            assert again.token == TOKEN_STEP + 1
    assert await end(storage, again) is JobState.COMPLETED


async def test_tokens_of_a_new_epoch_exceed_all_earlier_ones(storage):
    dead = await started(storage)
    await end(storage, dead, JobState.DEAD_LETTER)
    waiting = await enqueue(storage)
    later = await enqueue(storage, delay=HOUR)
    await storage.monitoring.begin_epoch(server=None)
    fresh = await enqueue(storage)

    await storage.jobs.retry(ALL_TENANTS, dead.job_id)
    await storage.jobs.run_now(ALL_TENANTS, later)

    leases = await claim_all(storage)
    assert {lease.job_id for lease in leases} == {dead.job_id, waiting, later, fresh}
    assert {lease.token for lease in leases} == {TOKEN_STEP + 1}
    await storage.leases.finish(ALDER, [finish(lease, JobState.QUEUED) for lease in leases])
    assert {lease.token for lease in await claim_all(storage)} == {TOKEN_STEP + 2}
    await storage.monitoring.begin_epoch(server=None)
    assert {lease.token for lease in await claim_all(storage)} == {2 * TOKEN_STEP + 1}


async def test_a_job_that_was_asked_to_stop_is_canceled(storage):
    lease = await started(storage)
    await storage.jobs.cancel(ALL_TENANTS, [lease.job_id])

    await storage.monitoring.begin_epoch(server=None)

    assert await state_of(storage, lease.job_id) is JobState.CANCELED


async def test_each_epoch_is_different(storage, clock):
    before = await storage.monitoring.installation()
    await clock.advance(HOUR)

    await storage.monitoring.begin_epoch(server="a/1")

    now = await storage.monitoring.installation()
    assert now.epoch != before.epoch
    assert (now.server, now.begun_at) == ("a/1", clock.now)


async def test_a_server_is_recorded_once(storage):
    await storage.monitoring.record_server("a/1")
    await storage.monitoring.record_server("b/1")

    assert (await storage.monitoring.installation()).server == "a/1"


async def test_processes_that_notice_a_new_server_together_begin_one_epoch(storage, twin):
    await storage.monitoring.record_server("a/1")
    lease = await started(storage, by=WorkerId("birch"))

    begun = await asyncio.gather(
        *(
            each.monitoring.begin_epoch(server="b/1", unless_on="b/1")
            for each in (storage, twin, storage)
        )
    )

    assert sorted(begun, key=str) == [1, None, None]
    assert (await lease_of(storage, lease.job_id)).token == TOKEN_STEP + 1
