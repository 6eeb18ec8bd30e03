"""expired_leases and reap: leases of dead workers are taken back, and no others."""

from tests.support.job_builders import (
    ALDER,
    HOUR,
    LEASE_TIME,
    SECOND,
    claim,
    end,
    enqueue,
    finish,
    held,
    job,
    lease_of,
    lost,
    new_jobs,
    started,
    state_of,
    worker_of,
)
from windlass.core.jobs.models import ALL_TENANTS
from windlass.core.jobs.states import JobState, Outcome, View
from windlass.core.leases.lease import LeaseRef
from windlass.storage.leases.expired import ExpiredLease


async def expired_ids(storage, **how):
    return [lease.job_id for lease in await storage.leases.expired_leases(**how)]


async def test_a_lease_expires_exactly_at_its_time(storage, clock):
    lease = await started(storage)

    await clock.advance(LEASE_TIME - SECOND)
    early = await storage.leases.expired_leases()
    await clock.advance(SECOND)
    late = await storage.leases.expired_leases()

    assert early == []
    assert late == [
        ExpiredLease(
            job_id=lease.job_id,
            token=1,
            tenant="default",
            definition="plain",
            correlation_id=None,
            worker_id="alder",
            attempts=1,
            max_attempts=3,
            worker_deaths=0,
        )
    ]


async def test_looking_for_expired_leases_changes_nothing(storage, clock):
    lease = await started(storage)
    await clock.advance(HOUR)
    before = await job(storage, lease.job_id)

    assert await storage.leases.expired_leases() == await storage.leases.expired_leases()

    assert await job(storage, lease.job_id) == before


async def test_only_expired_leases_are_returned(storage, clock):
    gone = await started(storage)
    ended = await started(storage)
    again = await started(storage)
    queued = await enqueue(storage)
    await clock.advance(LEASE_TIME)
    await end(storage, ended)
    await end(storage, again, JobState.QUEUED)
    renewed = await lease_of(storage, again.job_id)
    await storage.leases.renew(ALDER, [held(renewed)], lease_time=LEASE_TIME)

    seen = await expired_ids(storage)

    assert seen == [gone.job_id]
    assert await state_of(storage, queued) is JobState.QUEUED


async def test_a_renewed_lease_expires_later(storage, clock):
    await storage.jobs.enqueue(new_jobs(2))
    first, second = await claim(storage, 2)
    await clock.advance(LEASE_TIME - SECOND)
    await storage.leases.renew(ALDER, [held(first)], lease_time=LEASE_TIME)
    await clock.advance(2 * SECOND)
    await storage.leases.drop_ended_claims()

    one = await expired_ids(storage)
    await clock.advance(LEASE_TIME)
    await storage.leases.drop_ended_claims()
    both = await expired_ids(storage)

    assert one == [second.job_id]
    assert set(both) == {first.job_id, second.job_id}


async def test_cleanup_keeps_leases_that_can_still_expire(storage, clock):
    leases = []
    for n in range(12):
        await storage.jobs.enqueue(new_jobs(5))
        leases.append(await claim(storage, 5, worker=f"worker {n}"))
        await clock.advance(3 * SECOND)
    for some in leases[::2]:
        await storage.leases.finish(worker_of(some[0]), [finish(lease) for lease in some])
    for _ in range(20):
        await storage.leases.renew(
            worker_of(leases[1][0]), [held(leases[1][0])], lease_time=LEASE_TIME
        )
        await clock.advance(5 * SECOND)
        await storage.leases.drop_ended_claims()

    seen = await expired_ids(storage)
    await clock.advance(LEASE_TIME)

    running = {lease.job_id for some in leases[1::2] for lease in some}
    assert set(seen) == running - {leases[1][0].job_id}
    assert set(await expired_ids(storage)) == running


async def test_expired_leases_are_returned_up_to_the_limit(storage, clock):
    await storage.jobs.enqueue(new_jobs(10))
    await claim(storage, 10)
    await clock.advance(LEASE_TIME)

    assert len(await storage.leases.expired_leases(most=4)) == 4


async def test_a_reaped_job_is_queued_again_and_its_attempt_is_lost(storage, clock):
    lease = await started(storage)
    await clock.advance(LEASE_TIME)

    reaped = await storage.leases.reap([lost(lease, error="its worker is gone")])

    back = await job(storage, lease.job_id)
    assert reaped == {held(lease): JobState.QUEUED}
    assert (back.state, back.attempts, back.worker_deaths) == (JobState.QUEUED, 1, 1)
    assert (back.outcome, back.last_error) == (Outcome.LOST, "its worker is gone")
    assert back.view(clock.now) is View.RETRYING
    [attempt] = await storage.jobs.attempts(back)
    assert (attempt.outcome, attempt.error) == (Outcome.LOST, "its worker is gone")
    assert attempt.finished_at == clock.now


async def test_a_reaped_job_is_due_at_once_with_a_higher_token(storage, clock):
    lease = await started(storage)
    await clock.advance(LEASE_TIME)
    await storage.leases.reap([lost(lease)])

    again = await lease_of(storage, lease.job_id, worker="birch")

    assert (again.token, again.attempts, again.worker_deaths) == (2, 2, 1)


async def test_worker_deaths_accumulate_until_the_job_is_dead_lettered(storage, clock):
    lease = await started(storage, max_attempts=100)
    for _ in range(2):
        await clock.advance(LEASE_TIME)
        await storage.leases.reap([lost(lease)])
        lease = await lease_of(storage, lease.job_id)
    await clock.advance(LEASE_TIME)

    reaped = await storage.leases.reap([lost(lease, JobState.DEAD_LETTER, error="three times")])

    dead = await job(storage, lease.job_id)
    assert reaped == {held(lease): JobState.DEAD_LETTER}
    assert (dead.worker_deaths, dead.outcome, dead.last_error) == (3, Outcome.LOST, "three times")
    assert [a.outcome for a in await storage.jobs.attempts(dead)] == [Outcome.LOST] * 3


async def test_a_lease_renewed_after_the_first_look_is_not_reaped(storage, clock):
    lease = await started(storage)
    await clock.advance(LEASE_TIME)
    [seen] = await storage.leases.expired_leases()
    await storage.leases.renew(ALDER, [held(lease)], lease_time=LEASE_TIME)

    reaped = await storage.leases.reap([lost(LeaseRef(seen.job_id, seen.token))])

    assert reaped == {}
    assert await end(storage, lease) is JobState.COMPLETED


async def test_an_unexpired_lease_is_not_reaped(storage, clock):
    lease = await started(storage)
    await clock.advance(LEASE_TIME - SECOND)

    assert await storage.leases.reap([lost(lease)]) == {}
    assert await state_of(storage, lease.job_id) is JobState.RUNNING


async def test_reports_of_the_former_holder_change_nothing(storage, clock):
    former = await started(storage)
    await clock.advance(LEASE_TIME)
    await storage.leases.reap([lost(former)])
    waiting = await job(storage, former.job_id)

    while_waiting = await end(storage, former)
    assert await job(storage, former.job_id) == waiting
    current = await lease_of(storage, former.job_id)
    while_running = await end(storage, former, result='"late"')

    assert while_waiting is while_running is None
    assert await storage.leases.renew(ALDER, [held(former)], lease_time=LEASE_TIME) == []
    assert await end(storage, current, result='"right"') is JobState.COMPLETED
    assert (await job(storage, former.job_id)).result == "right"


async def test_a_job_is_reaped_once(storage, clock):
    lease = await started(storage)
    await clock.advance(LEASE_TIME)

    first = await storage.leases.reap([lost(lease)])
    second = await storage.leases.reap([lost(lease)])

    assert (len(first), second) == (1, {})
    assert (await job(storage, lease.job_id)).worker_deaths == 1


async def test_a_lost_job_asked_to_stop_is_canceled(storage, clock):
    lease = await started(storage)
    await storage.jobs.cancel(ALL_TENANTS, [lease.job_id])
    await clock.advance(LEASE_TIME)

    reaped = await storage.leases.reap([lost(lease)])

    assert reaped == {held(lease): JobState.CANCELED}
    assert (await job(storage, lease.job_id)).outcome is Outcome.LOST


async def test_many_leases_are_reaped_in_one_call(storage, clock):
    await storage.jobs.enqueue(new_jobs(150))
    leases = await claim(storage, 150)
    await clock.advance(LEASE_TIME)
    await storage.leases.renew(ALDER, [held(lease) for lease in leases[::3]], lease_time=LEASE_TIME)

    reaped = await storage.leases.reap([lost(lease) for lease in leases])

    assert set(reaped) == {held(lease) for n, lease in enumerate(leases) if n % 3}


async def test_reaping_works_without_a_worker_row(storage, clock):
    assert await storage.leases.workers() == []
    lease = await started(storage)
    await clock.advance(LEASE_TIME)

    assert len(await storage.leases.expired_leases()) == 1
    assert len(await storage.leases.reap([lost(lease)])) == 1
