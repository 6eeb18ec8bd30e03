"""survey and claim: the effect of a claim on a job, and the order of jobs."""

from datetime import timedelta

import pytest

from tests.support.job_builders import (
    ALDER,
    DAY,
    HOUR,
    KNOWN,
    LEASE_TIME,
    MINUTE,
    SECOND,
    claim,
    claim_all,
    end,
    enqueue,
    job,
    lease_of,
    new_job,
    new_jobs,
    release,
    started,
    state_of,
)
from windlass.core.jobs.states import JobState
from windlass.ids import QueueName, WorkerId

# The effect of a claim on a job


async def test_a_claim_starts_an_attempt(storage, clock):
    id = await enqueue(storage)
    await clock.advance(SECOND)

    [lease] = await claim(storage, worker="alder")

    claimed = await job(storage, id)
    assert claimed.state is JobState.RUNNING
    assert (lease.job_id, lease.token, lease.attempts) == (id, 1, 1)
    assert (claimed.lease_token, claimed.attempts, claimed.worker_id) == (1, 1, "alder")
    assert claimed.lease_expires_at == clock.now + LEASE_TIME
    assert claimed.started_at == claimed.last_started_at == lease.started_at == clock.now
    assert claimed.updated_at == clock.now
    assert claimed.created_at == claimed.queued_at == clock.now - SECOND
    assert (claimed.outcome, claimed.finished_at) == (None, None)


async def test_lease_tokens_rise_and_the_first_start_time_is_kept(storage, clock):
    first = await started(storage)
    first_start = clock.now
    tokens = [first.token]
    lease = first
    for _ in range(2):
        await end(storage, lease, JobState.QUEUED)
        await clock.advance(MINUTE)
        lease = await lease_of(storage, first.job_id, worker="birch")
        tokens.append(lease.token)

    claimed = await job(storage, first.job_id)

    assert tokens == [1, 2, 3]
    assert (claimed.attempts, lease.attempts, lease.max_attempts) == (3, 3, 3)
    assert (claimed.started_at, claimed.last_started_at) == (first_start, clock.now)
    assert claimed.worker_id == "birch"


async def test_a_released_attempt_is_not_counted_but_uses_up_its_token(storage):
    lease = await started(storage)
    await storage.leases.finish(ALDER, [release(lease)])

    again = await lease_of(storage, lease.job_id)

    assert (again.token, again.attempts) == (2, 1)


async def test_a_claimed_job_is_not_claimed_again(storage):
    await enqueue(storage)
    await claim(storage)

    assert await claim_all(storage) == []


# Order and number


async def test_jobs_of_a_tenant_are_ordered_by_priority_due_time_and_id(storage, clock):
    new = [
        new_job(priority=100),
        new_job(priority=100, due_at=clock.now - SECOND),
        new_job(priority=100),
        new_job(priority=-5),
        new_job(priority=200, due_at=clock.now - DAY),
        new_job(priority=25),
    ]
    await storage.jobs.enqueue(new[::-1])

    one_by_one = [(await claim(storage))[0].job_id for _ in new]

    assert one_by_one == [new[n].id for n in (3, 5, 1, 0, 2, 4)]


async def test_leases_are_returned_in_line_order(storage, clock):
    new = [new_job(priority=n % 7, due_at=clock.now - n * SECOND) for n in range(50)]
    await storage.jobs.enqueue(new)

    leases = await claim(storage, 50)

    assert [lease.job_id for lease in leases] == [
        n.id for n in sorted(new, key=lambda n: (n.priority, n.due_at, n.id))
    ]


async def test_due_times_are_compared_to_the_microsecond(storage, clock):
    tiny = timedelta(microseconds=1)
    new = [new_job(due_at=clock.now - n * tiny) for n in range(5)]
    await storage.jobs.enqueue(new)

    assert [lease.job_id for lease in await claim(storage, 5)] == [n.id for n in new[::-1]]


@pytest.mark.parametrize("limit", [1, 2, 7])
async def test_a_claim_takes_no_more_than_its_limit(storage, limit):
    for queue in ("a", "b"):
        await storage.jobs.enqueue(new_jobs(10, queue=QueueName(queue)))

    assert len(await claim(storage, limit, queues=["a"])) == limit
    assert len(await claim(storage, limit)) <= limit


async def test_an_unlimited_claim_takes_everything(storage):
    await storage.jobs.enqueue(new_jobs(700))

    assert len(await claim(storage, 1000)) == 700


async def test_an_empty_line_returns_no_leases(storage):
    assert await claim(storage, 10) == []
    assert await storage.leases.claim(WorkerId("alder"), [], KNOWN, lease_time=LEASE_TIME) == []


async def test_a_retried_job_is_ordered_by_priority(storage):
    urgent = await started(storage, priority=1, queue=QueueName("q"))
    await enqueue(storage, priority=2, queue=QueueName("q"))
    await storage.leases.finish(ALDER, [release(urgent)])

    again = await lease_of(storage, urgent.job_id)

    assert again.job_id == urgent.job_id


# Queues


async def test_a_worker_claims_only_from_the_queues_it_serves(storage):
    ids = {q: await enqueue(storage, queue=QueueName(q)) for q in ("a", "b", "c")}

    leases = await claim(storage, 10, queues=["a", "c", "nobody's"])

    assert {lease.job_id for lease in leases} == {ids["a"], ids["c"]}
    assert await claim(storage, 10, queues=["nobody's"]) == []
    assert await claim(storage, 10, queues=[]) == []
    assert await state_of(storage, ids["b"]) is JobState.QUEUED


async def test_a_worker_of_all_queues_claims_from_each(storage):
    names = [f"queue {n}" for n in range(12)]
    await storage.jobs.enqueue([new_job(queue=QueueName(name)) for name in names])

    survey = await storage.leases.survey(None, KNOWN)

    assert {line.queue for line in survey.lines} == set(names)
    assert len(await claim_all(storage)) == len(names)


# Time


async def test_a_job_past_its_start_deadline_is_not_claimed(storage, clock):
    expired = await enqueue(storage, expires=MINUTE)
    later = await enqueue(storage, expires=2 * MINUTE)
    await clock.advance(MINUTE)

    assert [lease.job_id for lease in await claim_all(storage)] == [later]
    assert await state_of(storage, expired) is JobState.QUEUED


async def test_a_job_started_in_time_may_be_retried_after_its_start_deadline(storage, clock):
    lease = await started(storage, expires=MINUTE)
    await end(storage, lease, JobState.QUEUED, delay=HOUR)
    await clock.advance(HOUR)

    assert [again.job_id for again in await claim_all(storage)] == [lease.job_id]
    assert await storage.leases.jobs_to_cancel() == []


async def test_a_survey_returns_the_next_due_time(storage, clock):
    assert (await storage.leases.survey(None, KNOWN)).next_due_in is None
    await enqueue(storage, delay=HOUR)
    await enqueue(storage, delay=MINUTE)
    await enqueue(storage, held=True)

    assert (await storage.leases.survey(None, KNOWN)).next_due_in == MINUTE
    await clock.advance(2 * MINUTE)
    assert (await storage.leases.survey(None, KNOWN)).next_due_in == -MINUTE
    await storage.leases.promote()
    assert (await storage.leases.survey(None, KNOWN)).next_due_in == 58 * MINUTE


async def test_a_survey_sees_a_released_job_as_due(storage):
    lease = await started(storage)

    await storage.leases.finish(ALDER, [release(lease)])

    assert (await storage.leases.survey(None, KNOWN)).next_due_in <= timedelta()
