"""retry: puts dead-lettered and canceled jobs in line again."""

import pytest

from tests.support.job_builders import (
    ACME,
    HOUR,
    LEASE_TIME,
    MINUTE,
    SECOND,
    START,
    a_job,
    a_tenant,
    claim_all,
    end,
    enqueue,
    enqueue_child,
    job,
    lease_of,
    lost,
    new_job,
    offer,
    started,
    state_of,
)
from windlass.core.jobs.models import ALL_TENANTS, Scope
from windlass.core.jobs.states import JobState, Outcome
from windlass.ids import new_job_id


@pytest.mark.parametrize("state", [JobState.DEAD_LETTER, JobState.CANCELED])
async def test_a_retried_job_is_due_at_once_with_fresh_attempts(storage, clock, state):
    ended = await a_job(storage, state, priority=7, correlation_id="c", metadata='{"m": 1}')
    await clock.advance(MINUTE)

    result = await storage.jobs.retry(ALL_TENANTS, ended.id, actor="ada")

    again = await job(storage, ended.id)
    assert result == "queued"
    assert (again.state, again.due_at, again.finished_at) == (JobState.QUEUED, clock.now, None)
    assert (again.attempts, again.max_attempts, again.worker_deaths) == (0, 3, 0)
    assert (again.priority, again.correlation_id, again.metadata) == (7, "c", {"m": 1})
    assert again.created_at == START
    assert again.cancel_requested_at is again.cancel_requested_by is again.outcome is None
    assert [lease.job_id for lease in await claim_all(storage)] == [ended.id]


async def test_lease_tokens_keep_rising_and_earlier_attempts_stay_readable(storage, clock):
    lease = await started(storage, max_attempts=1)
    await end(storage, lease, JobState.DEAD_LETTER, error="one", error_type="A", error_trace="t")
    await storage.jobs.retry(ALL_TENANTS, lease.job_id)
    again = await lease_of(storage, lease.job_id)
    await end(storage, again, JobState.DEAD_LETTER, error="two")
    await storage.jobs.retry(ALL_TENANTS, lease.job_id)
    last = await lease_of(storage, lease.job_id)

    await end(storage, last)

    assert (again.token, again.attempts, again.max_attempts) == (2, 1, 1)
    attempts = await storage.jobs.attempts(await job(storage, lease.job_id))
    assert [(a.number, a.outcome, a.error) for a in attempts] == [
        (1, Outcome.FAILED, "one"),
        (2, Outcome.FAILED, "two"),
        (3, Outcome.SUCCEEDED, None),
    ]
    assert (attempts[0].error_type, attempts[0].error_trace) == ("A", "t")


async def test_a_retried_job_keeps_its_last_error(storage):
    lease = await started(storage)
    await end(storage, lease, JobState.DEAD_LETTER, error="boom")

    await storage.jobs.retry(ALL_TENANTS, lease.job_id)

    again = await job(storage, lease.job_id)
    assert (again.last_error, again.progress, again.result) == ("boom", 0.0, None)


async def test_a_stale_holder_cannot_change_a_retried_job(storage, clock):
    lease = await started(storage)
    await clock.advance(LEASE_TIME)
    await storage.leases.reap([lost(lease, JobState.DEAD_LETTER)])
    await storage.jobs.retry(ALL_TENANTS, lease.job_id)

    assert await end(storage, lease) is None
    await lease_of(storage, lease.job_id)
    assert await end(storage, lease) is None


async def test_a_job_in_another_state_is_not_retried(storage):
    for state in sorted(set(JobState) - {JobState.DEAD_LETTER, JobState.CANCELED}):
        before = await a_job(storage, state)

        assert await storage.jobs.retry(ALL_TENANTS, before.id) is None
        assert await job(storage, before.id) == before
        assert await storage.jobs.retry(ALL_TENANTS, new_job_id()) is None


async def test_a_retry_is_refused_while_an_open_job_has_its_key(storage):
    dead = await a_job(storage, JobState.DEAD_LETTER, dedupe_key="d")
    other = await enqueue(storage, dedupe_key="d")

    refused = await storage.jobs.retry(ALL_TENANTS, dead.id)
    assert refused == "duplicate"
    assert await job(storage, dead.id) == dead

    await storage.jobs.cancel(ALL_TENANTS, [other])
    assert await storage.jobs.retry(ALL_TENANTS, dead.id) == "queued"


@pytest.mark.parametrize("window", [None, HOUR])
async def test_a_retried_job_holds_its_dedupe_key_again(storage, window):
    dead = await a_job(storage, JobState.DEAD_LETTER, dedupe_key="d", dedupe_window=window)
    await storage.jobs.retry(ALL_TENANTS, dead.id)

    receipt = await offer(storage, new_job(dedupe_key="d"))
    await end(storage, await lease_of(storage, dead.id))
    after = await offer(storage, new_job(dedupe_key="d"))

    assert (receipt.status, receipt.existing_id) == ("existing", dead.id)
    assert after.status == ("existing" if window else "created")


async def test_a_retried_job_keeps_its_idempotency_key(storage):
    dead = await a_job(storage, JobState.DEAD_LETTER, idempotency_key="i")

    await storage.jobs.retry(ALL_TENANTS, dead.id)

    assert (await offer(storage, new_job(idempotency_key="i"))).existing_id == dead.id


async def test_a_retried_job_no_longer_expires(storage, clock):
    id = await enqueue(storage, expires=MINUTE)
    await clock.advance(MINUTE)
    await storage.jobs.cancel(ALL_TENANTS, [id], reason="expired")

    await storage.jobs.retry(ALL_TENANTS, id)

    assert [lease.job_id for lease in await claim_all(storage)] == [id]
    assert (await job(storage, id)).reason is None


async def test_a_retried_child_waits_for_no_parent(storage):
    parent = await enqueue(storage)
    child = await enqueue_child(storage, parent, max_attempts=9)
    await storage.jobs.cancel(ALL_TENANTS, [child])
    await storage.jobs.retry(ALL_TENANTS, child)
    await end(storage, await lease_of_child(storage, child), JobState.QUEUED, delay=HOUR)

    await storage.jobs.cancel(ALL_TENANTS, [parent])

    assert await state_of(storage, child) is JobState.QUEUED
    assert await storage.leases.jobs_to_cancel() == []


async def lease_of_child(storage, child):
    return next(lease for lease in await claim_all(storage) if lease.job_id == child)


async def test_another_tenant_retries_nothing(storage):
    await a_tenant(storage, "acme")
    dead = await a_job(storage, JobState.DEAD_LETTER, tenant=ACME)

    assert await storage.jobs.retry(Scope.of("globex"), dead.id) is None
    assert await job(storage, dead.id) == dead
    assert await storage.jobs.retry(Scope(ACME), dead.id) == "queued"


async def test_a_retry_is_recorded_with_its_actor(storage, clock):
    lease = await started(storage)
    await clock.advance(SECOND)
    await end(storage, lease, JobState.DEAD_LETTER, error="boom")
    await clock.advance(SECOND)

    await storage.jobs.retry(ALL_TENANTS, lease.job_id, actor="ada")

    steps = await storage.jobs.transitions(await job(storage, lease.job_id))
    assert [(s.at, s.from_state, s.to_state, s.actor) for s in steps] == [
        (START + SECOND, "running", "dead_letter", None),
        (START + 2 * SECOND, "dead_letter", "queued", "ada"),
    ]
    assert steps[0].message == "boom"


@pytest.mark.parametrize("came_from", ["pending", "queued", "retrying"])
async def test_a_retry_records_the_end_it_reverts(storage, clock, came_from):
    if came_from == "retrying":
        lease = await started(storage)
        await end(storage, lease, JobState.QUEUED, delay=HOUR, error="boom")
        id = lease.job_id
    else:
        id = await enqueue(storage, held=came_from == "pending")
    await clock.advance(SECOND)
    await storage.jobs.cancel(ALL_TENANTS, [id], actor="bob", reason="not needed")

    await storage.jobs.retry(ALL_TENANTS, id, actor="ada")

    first, second = await storage.jobs.transitions(await job(storage, id))
    assert first.from_state == ("pending" if came_from == "pending" else "queued")
    assert (first.to_state, first.actor, first.message) == ("canceled", "bob", "not needed")
    assert (second.from_state, second.to_state, second.actor) == ("canceled", "queued", "ada")
