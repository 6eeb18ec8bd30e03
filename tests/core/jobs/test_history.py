"""A job's history is derived from its row and its attempts."""

from datetime import UTC, datetime, timedelta

from windlass.core.jobs.history import history
from windlass.core.jobs.models import Attempt, Job, Transition
from windlass.core.jobs.states import JobState, Outcome
from windlass.ids import DefinitionKey, QueueName, TenantId, WorkerId, new_job_id

START = datetime(2026, 1, 1, tzinfo=UTC)
ID = new_job_id()

PENDING, QUEUED, RUNNING, COMPLETED, CANCELED, DEAD_LETTER = JobState


def at(minute):
    return START + timedelta(minutes=minute)


def a_job(state, **changes):
    return Job(
        **{
            "id": ID,
            "tenant": TenantId("default"),
            "definition": DefinitionKey("plain"),
            "queue": QueueName("default"),
            "state": state,
            "priority": 100,
            "due_at": START,
            "attempts": 0,
            "max_attempts": 3,
            "created_at": START,
            "updated_at": START,
            "queued_at": START,
            "created_by": "ada",
        }
        | changes
    )


def an_attempt(number, begin, end=None, outcome=None, error=None):
    return Attempt(
        job_id=ID,
        number=number,
        worker_id=WorkerId("alder"),
        started_at=at(begin),
        finished_at=None if end is None else at(end),
        outcome=outcome,
        error=error,
    )


def steps(job, attempts=(), stored=()):
    return [(s.from_state, s.to_state) for s in history(job, attempts, stored)]


def test_a_new_job_has_a_creator():
    [created] = history(a_job(QUEUED), [], [])

    assert (created.from_state, created.to_state, created.actor, created.at) == (
        None,
        QUEUED,
        "ada",
        START,
    )


def test_an_admitted_job_shows_its_admission():
    waiting = a_job(PENDING, queued_at=None)
    admitted = a_job(QUEUED, queued_at=at(5))

    assert steps(waiting) == [(None, PENDING)]
    assert steps(admitted) == [(None, PENDING), (PENDING, QUEUED)]


def test_a_change_of_a_pending_job_keeps_its_admission_visible():
    job = a_job(QUEUED, queued_at=at(2))
    changed = Transition(at=at(1), from_state=PENDING, to_state=PENDING, message="changed: queue")

    assert steps(job, stored=[changed]) == [
        (None, PENDING),
        (PENDING, PENDING),
        (PENDING, QUEUED),
    ]


def test_a_running_job_shows_its_start():
    job = a_job(RUNNING, lease_token=1)

    assert steps(job, [an_attempt(1, 1)]) == [(None, QUEUED), (QUEUED, RUNNING)]


def test_a_job_that_succeeded_on_retry_shows_the_earlier_failure():
    job = a_job(COMPLETED, lease_token=2, finished_at=at(6))
    tries = [
        an_attempt(1, 1, 2, Outcome.FAILED, "no such host"),
        an_attempt(2, 5, 6, Outcome.SUCCEEDED),
    ]

    entries = history(job, tries, [])

    assert [(s.from_state, s.to_state) for s in entries] == [
        (None, QUEUED),
        (QUEUED, RUNNING),
        (RUNNING, Outcome.FAILED),
        (Outcome.FAILED, QUEUED),
        (QUEUED, RUNNING),
        (RUNNING, COMPLETED),
    ]
    assert entries[2].message == "no such host"
    assert [s.attempt for s in entries] == [None, 1, 1, 1, 2, 2]
    assert entries[1].actor == "alder"


def test_the_last_failure_leads_to_the_dead_letter():
    for outcome in (Outcome.FAILED, Outcome.TIMED_OUT, Outcome.LOST):
        job = a_job(DEAD_LETTER, lease_token=1, finished_at=at(2))

        entries = steps(job, [an_attempt(1, 1, 2, outcome)])

        assert entries[-2:] == [(RUNNING, outcome), (outcome, DEAD_LETTER)]


def test_a_released_job_is_queued_again():
    job = a_job(QUEUED, lease_token=1)

    entries = history(job, [an_attempt(1, 1, 2, Outcome.RELEASED)], [])

    assert (entries[-1].from_state, entries[-1].to_state) == (RUNNING, QUEUED)
    assert entries[-1].message == "handed back"


def test_a_canceled_waiting_job_shows_the_actor():
    job = a_job(CANCELED, finished_at=at(1), cancel_requested_by="grace", reason="not needed")

    end = history(job, [], [])[-1]

    assert (end.from_state, end.to_state) == (QUEUED, CANCELED)
    assert (end.actor, end.message) == ("grace", "not needed")


def test_a_canceled_running_job_ends_with_its_attempt():
    job = a_job(CANCELED, lease_token=1, finished_at=at(3), cancel_requested_by="grace")

    entries = steps(job, [an_attempt(1, 1, 3, Outcome.CANCELED)])

    assert entries == [(None, QUEUED), (QUEUED, RUNNING), (RUNNING, CANCELED)]


def test_a_manual_retry_separates_two_runs():
    job = a_job(COMPLETED, lease_token=2, finished_at=at(9))
    tries = [an_attempt(1, 1, 2, Outcome.FAILED), an_attempt(2, 8, 9, Outcome.SUCCEEDED)]
    stored = [
        Transition(at=at(2), from_state=RUNNING, to_state=DEAD_LETTER),
        Transition(at=at(7), from_state=DEAD_LETTER, to_state=QUEUED, actor="grace"),
    ]

    assert steps(job, tries, stored) == [
        (None, QUEUED),
        (QUEUED, RUNNING),
        (RUNNING, Outcome.FAILED),
        (Outcome.FAILED, DEAD_LETTER),
        (DEAD_LETTER, QUEUED),
        (QUEUED, RUNNING),
        (RUNNING, COMPLETED),
    ]
