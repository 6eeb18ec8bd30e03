"""attempts: the record of each attempt."""

from tests.support.job_builders import (
    SECOND,
    START,
    a_job,
    end,
    enqueue,
    job,
    lease_of,
    started,
)
from windlass.core.jobs.models import ALL_TENANTS
from windlass.core.jobs.states import JobState, Outcome


async def attempts_of(storage, id):
    return await storage.jobs.attempts(await job(storage, id))


async def outcomes_of(storage, id):
    return [attempt.outcome for attempt in await attempts_of(storage, id)]


async def test_every_outcome_can_be_recorded(storage):
    for outcome in Outcome:
        lease = await started(storage)
        await end(storage, lease, JobState.DEAD_LETTER, outcome=outcome)

        assert (await job(storage, lease.job_id)).outcome is outcome
        assert await outcomes_of(storage, lease.job_id) == [outcome]


async def test_attempts_record_the_whole_run(storage, clock):
    lease = await started(storage)
    await clock.advance(SECOND)
    await end(storage, lease, JobState.QUEUED, error="one", error_type="A", error_trace="t1")
    lease = await lease_of(storage, lease.job_id, worker="birch")
    await clock.advance(SECOND)
    await end(storage, lease, JobState.QUEUED, outcome=Outcome.TIMED_OUT, error="two")
    lease = await lease_of(storage, lease.job_id)
    running = await attempts_of(storage, lease.job_id)
    await clock.advance(SECOND)

    await end(storage, lease)

    attempts = await attempts_of(storage, lease.job_id)
    assert running[-1].outcome is running[-1].finished_at is running[-1].error is None
    assert running[:2] == attempts[:2]
    assert [a.number for a in attempts] == [1, 2, 3]
    assert [a.outcome for a in attempts] == [Outcome.FAILED, Outcome.TIMED_OUT, Outcome.SUCCEEDED]
    assert [a.error for a in attempts] == ["one", "two", None]
    assert [a.error_type for a in attempts] == ["A", None, None]
    assert [a.error_trace for a in attempts] == ["t1", None, None]
    assert [a.worker_id for a in attempts] == ["alder", "birch", "alder"]
    assert [a.started_at for a in attempts] == [START + n * SECOND for n in range(3)]
    assert [a.duration for a in attempts] == [SECOND] * 3
    assert {a.job_id for a in attempts} == {lease.job_id}


async def test_a_job_that_never_started_has_no_attempts(storage):
    queued = await enqueue(storage)
    canceled = await a_job(storage, JobState.CANCELED)

    assert await attempts_of(storage, queued) == await attempts_of(storage, canceled.id) == []


async def test_an_attempt_that_was_stopped_does_not_inherit_an_earlier_error(storage):
    lease = await started(storage)
    await end(storage, lease, JobState.QUEUED, error="one", error_type="A", error_trace="t")
    lease = await lease_of(storage, lease.job_id)
    await storage.jobs.cancel(ALL_TENANTS, [lease.job_id])

    await end(storage, lease, JobState.CANCELED)

    attempts = await attempts_of(storage, lease.job_id)
    assert [(a.outcome, a.error, a.error_type, a.error_trace) for a in attempts] == [
        (Outcome.FAILED, "one", "A", "t"),
        (Outcome.CANCELED, None, None, None),
    ]
    assert (await job(storage, lease.job_id)).last_error == "one"


async def test_an_error_without_a_type_does_not_inherit_an_earlier_one(storage):
    lease = await started(storage)
    await end(storage, lease, JobState.QUEUED, error="one", error_type="A", error_trace="t")
    lease = await lease_of(storage, lease.job_id)

    await end(storage, lease, JobState.DEAD_LETTER, outcome=Outcome.TIMED_OUT, error="two")

    dead = await job(storage, lease.job_id)
    assert (dead.last_error, dead.error_type, dead.error_trace) == ("two", None, None)


async def test_a_closed_jobs_attempt_keeps_its_own_error(storage):
    lease = await started(storage)
    await storage.jobs.cancel(ALL_TENANTS, [lease.job_id], reason="closed", to=JobState.DEAD_LETTER)

    await end(storage, lease, JobState.CANCELED, error="stopped", error_type="Canceled")

    assert [a.error for a in await attempts_of(storage, lease.job_id)] == ["stopped"]
    assert (await job(storage, lease.job_id)).last_error == "closed"


async def test_a_commands_attempt_keeps_its_output_and_exit_code(storage):
    facts = {"pid": 4711, "exit_code": -9, "stdout_tail": "out – 😀", "stderr_tail": "err\n"}
    ends = [JobState.QUEUED, JobState.QUEUED, JobState.DEAD_LETTER]
    lease = await started(storage)
    for n, state in enumerate(ends):
        lease = lease if n == 0 else await lease_of(storage, lease.job_id)
        await end(storage, lease, state, error="exit code -9", **facts)

    attempts = await attempts_of(storage, lease.job_id)

    assert [a.outcome for a in attempts] == [Outcome.FAILED] * 3
    for attempt in attempts:
        assert {name: getattr(attempt, name) for name in facts} == facts
        assert attempt.error == "exit code -9"


async def test_a_command_that_succeeded_keeps_its_output_too(storage):
    lease = await started(storage)

    await end(storage, lease, exit_code=0, stdout_tail="fine")

    [attempt] = await attempts_of(storage, lease.job_id)
    assert (attempt.outcome, attempt.exit_code, attempt.stdout_tail) == (
        Outcome.SUCCEEDED,
        0,
        "fine",
    )


TEXTS = {
    "empty": "",
    "long": "x" * 65_536,
    "long in bytes": "漢" * 21_000,
    "outside the basic plane": "😀𝄞" * 1000,
    "quotes and escapes": "\\ ' \" ` \\' %s ? :id {now} $1 \r\n\t \x01\x7f",
    "right to left and combining": "שלום \u202e a\u0308\u200d",
    "replacement": "\ufffd",
    "trailing spaces": "  text  ",
}


async def test_any_text_of_an_error_is_recorded_as_it_is(storage):
    for text in TEXTS.values():
        first = await started(storage)
        texts = {"error": text, "error_trace": text, "stdout_tail": text, "stderr_tail": text}

        await end(storage, first, JobState.QUEUED, **texts)
        retrying = await job(storage, first.job_id)
        second = await lease_of(storage, first.job_id)
        await end(storage, second, JobState.DEAD_LETTER, **texts)

        dead = await job(storage, first.job_id)
        for found in (retrying, dead):
            assert (found.last_error, found.error_trace) == (text, text)
        for attempt in await attempts_of(storage, first.job_id):
            assert {name: getattr(attempt, name) for name in texts} == texts
