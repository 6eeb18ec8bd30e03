"""finish: the one recorded end of an attempt, by the holder of the current lease."""

import pytest

from tests.support.job_builders import (
    ALDER,
    HOUR,
    MINUTE,
    SECOND,
    START,
    claim,
    claim_all,
    end,
    finish,
    held,
    job,
    lease_of,
    new_jobs,
    release,
    started,
    state_of,
)
from windlass.core.jobs.models import ALL_TENANTS
from windlass.core.jobs.states import JobState, Outcome, View
from windlass.core.leases.lease import LeaseRef
from windlass.ids import new_job_id

# Where a job goes


async def test_a_completed_job_carries_its_result(storage, clock):
    lease = await started(storage)
    await clock.advance(MINUTE)

    ended = await storage.leases.finish(
        ALDER, [finish(lease, result='{"sent": [1, 2.5]}', warnings='["slow"]', progress=1.0)]
    )

    done = await job(storage, lease.job_id)
    assert ended == {held(lease): JobState.COMPLETED}
    assert (done.state, done.outcome) == (JobState.COMPLETED, Outcome.SUCCEEDED)
    assert (done.result, done.warnings, done.progress) == ({"sent": [1, 2.5]}, ("slow",), 1.0)
    assert done.finished_at == done.updated_at == clock.now
    assert (done.lease_expires_at, done.lease_token, done.worker_id) == (None, 1, "alder")
    assert (done.started_at, done.attempts, done.last_error) == (START, 1, None)


async def test_a_job_may_complete_without_a_result(storage):
    lease = await started(storage)

    await end(storage, lease)

    done = await job(storage, lease.job_id)
    assert (done.result, done.warnings, done.progress) == (None, (), 1.0)


async def test_a_failed_attempt_is_retried_after_its_delay(storage, clock):
    lease = await started(storage)
    await clock.advance(SECOND)

    ended = await storage.leases.finish(
        ALDER,
        [
            finish(
                lease,
                JobState.QUEUED,
                delay=MINUTE,
                error="boom",
                error_type="ValueError",
                error_trace="at line 1",
            )
        ],
    )

    waiting = await job(storage, lease.job_id)
    assert ended == {held(lease): JobState.QUEUED}
    assert (waiting.state, waiting.due_at) == (JobState.QUEUED, clock.now + MINUTE)
    assert (waiting.attempts, waiting.max_attempts, waiting.outcome) == (1, 3, Outcome.FAILED)
    assert (waiting.last_error, waiting.error_type) == ("boom", "ValueError")
    assert waiting.error_trace == "at line 1"
    assert waiting.view(clock.now) is View.RETRYING
    assert waiting.finished_at is None
    assert await claim_all(storage) == []
    await clock.advance(MINUTE)
    assert [again.job_id for again in await claim_all(storage)] == [lease.job_id]


async def test_a_failed_attempt_without_a_delay_is_due_at_once(storage):
    lease = await started(storage)

    await end(storage, lease, JobState.QUEUED)

    assert [again.job_id for again in await claim_all(storage)] == [lease.job_id]


async def test_a_job_out_of_attempts_is_dead_lettered_with_its_error(storage, clock):
    lease = await started(storage)
    await clock.advance(SECOND)

    await end(
        storage, lease, JobState.DEAD_LETTER, error="boom", error_type="E", error_trace="trace"
    )

    dead = await job(storage, lease.job_id)
    assert (dead.state, dead.outcome, dead.finished_at) == (
        JobState.DEAD_LETTER,
        Outcome.FAILED,
        clock.now,
    )
    assert (dead.last_error, dead.error_type, dead.error_trace) == ("boom", "E", "trace")
    assert dead.payload == {"n": 1}


async def test_one_call_records_ends_of_every_kind(storage):
    await storage.jobs.enqueue(new_jobs(200))
    leases = await claim(storage, 200)
    states = [JobState.COMPLETED, JobState.QUEUED, JobState.DEAD_LETTER, JobState.CANCELED]

    ended = await storage.leases.finish(
        ALDER, [finish(lease, states[n % 4], error=f"e{n}") for n, lease in enumerate(leases)]
    )

    assert ended == {held(lease): states[n % 4] for n, lease in enumerate(leases)}
    for n in (0, 1, 2, 3, 199):
        assert (await job(storage, leases[n].job_id)).last_error == f"e{n}"


async def test_an_empty_finish_is_allowed(storage):
    assert await storage.leases.finish(ALDER, []) == {}


# Only once, only by the holder


async def test_a_second_finish_changes_nothing(storage):
    lease = await started(storage)
    await end(storage, lease, result="1")
    before = await job(storage, lease.job_id)

    again = await storage.leases.finish(ALDER, [finish(lease, JobState.DEAD_LETTER, error="late")])

    assert again == {}
    assert await job(storage, lease.job_id) == before


async def test_a_repeated_finish_in_one_call_counts_once(storage):
    lease = await started(storage)

    ended = await storage.leases.finish(ALDER, [finish(lease), finish(lease)])

    assert ended == {held(lease): JobState.COMPLETED}


async def test_a_stale_token_is_left_out_of_the_result_and_others_are_recorded(storage):
    stale, good = await started(storage), await started(storage)
    await storage.leases.finish(ALDER, [release(stale)])
    current = await lease_of(storage, stale.job_id)

    ended = await storage.leases.finish(
        ALDER,
        [
            finish(stale),
            finish(good),
            finish(LeaseRef(new_job_id(), 1)),
            finish(LeaseRef(good.job_id, 2)),
        ],
    )

    assert ended == {held(good): JobState.COMPLETED}
    assert await state_of(storage, stale.job_id) is JobState.RUNNING
    assert await end(storage, current) is JobState.COMPLETED


async def test_a_finish_after_expiry_but_before_the_reap_counts(storage, clock):
    lease = await started(storage)
    await clock.advance(HOUR)

    assert await end(storage, lease) is JobState.COMPLETED


# A wish to stop


@pytest.mark.parametrize("state", [JobState.QUEUED, JobState.DEAD_LETTER, JobState.CANCELED])
async def test_a_cancel_request_overrides_every_outcome_but_success(storage, state):
    lease = await started(storage)
    await storage.jobs.cancel(ALL_TENANTS, [lease.job_id], actor="ada", reason="not needed")

    ended = await end(storage, lease, state, error="boom")

    stopped = await job(storage, lease.job_id)
    assert ended is stopped.state is JobState.CANCELED
    assert (stopped.cancel_requested_by, stopped.reason) == ("ada", "not needed")
    assert stopped.last_error == "boom"


async def test_success_overrides_a_cancel_request(storage):
    lease = await started(storage)
    await storage.jobs.cancel(ALL_TENANTS, [lease.job_id])

    assert await end(storage, lease, result="1") is JobState.COMPLETED
    assert (await job(storage, lease.job_id)).result == 1


@pytest.mark.parametrize("state", [JobState.QUEUED, JobState.DEAD_LETTER, JobState.CANCELED])
async def test_a_closed_job_is_dead_lettered_with_the_reason(storage, state):
    lease = await started(storage)
    await storage.jobs.cancel(
        ALL_TENANTS, [lease.job_id], reason="Tenant not found", to=JobState.DEAD_LETTER
    )

    ended = await end(storage, lease, state)

    closed = await job(storage, lease.job_id)
    assert ended is closed.state is JobState.DEAD_LETTER
    assert closed.last_error == closed.reason == "Tenant not found"
