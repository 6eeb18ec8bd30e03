"""A job's history, derived from its row and attempts; only the rest is stored."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from functools import partial

from windlass.core.jobs.models import RETRIED_AFTER, Attempt, Job, Transition
from windlass.core.jobs.states import ENDED, JobState, Outcome

#: The step that people take when they lift a hold; a change of a pending job is none.
_ADMITTED = (JobState.PENDING, JobState.QUEUED)


def history(
    job: Job, attempts: Sequence[Attempt], stored: Sequence[Transition]
) -> list[Transition]:
    """Every step a job took, oldest first; the last one leads to the state it is in."""
    steps = [
        *_creation_steps(job, stored),
        *_operator_steps(stored),
        *_attempt_steps(job, attempts, stored),
        *_end_without_attempt(job, attempts),
    ]
    return [step for _, step in sorted(enumerate(steps), key=lambda pair: (pair[1].at, pair[0]))]


def _creation_steps(job: Job, stored: Sequence[Transition]) -> Iterator[Transition]:
    waited = job.queued_at is None or job.queued_at > job.created_at
    first = JobState.PENDING if waited else JobState.QUEUED
    yield Transition(at=job.created_at, from_state=None, to_state=first, actor=job.created_by)
    told = any((step.from_state, step.to_state) == _ADMITTED for step in stored)
    if waited and job.queued_at is not None and not told:
        yield Transition(at=job.queued_at, from_state=JobState.PENDING, to_state=JobState.QUEUED)


def _operator_steps(stored: Sequence[Transition]) -> Iterator[Transition]:
    """Steps of operators, without ends that an attempt shows better."""
    return (step for step in stored if step.from_state is not JobState.RUNNING)


def _attempt_steps(
    job: Job, attempts: Sequence[Attempt], stored: Sequence[Transition]
) -> Iterator[Transition]:
    ends = {step.at: step for step in stored if step.to_state in ENDED}
    for attempt in attempts:
        number = attempt.number
        yield Transition(
            at=attempt.started_at,
            from_state=JobState.QUEUED,
            to_state=JobState.RUNNING,
            actor=attempt.worker_id,
            attempt=number,
        )
        if attempt.outcome is None or attempt.finished_at is None:
            continue
        at = attempt.finished_at
        if number == job.lease_token and job.ended and at == job.finished_at:
            goes_to: JobState = job.state
        else:
            end = ends.get(at)
            goes_to = JobState(end.to_state) if end else JobState.QUEUED
        yield from _attempt_end_steps(attempt, at=at, goes_to=goes_to)


def _attempt_end_steps(
    attempt: Attempt, *, at: datetime, goes_to: JobState
) -> Iterator[Transition]:
    step = partial(Transition, at=at, attempt=attempt.number)
    if attempt.outcome in RETRIED_AFTER:
        yield step(from_state=JobState.RUNNING, to_state=attempt.outcome, message=attempt.error)
        yield step(from_state=attempt.outcome, to_state=goes_to)
    else:
        message = "handed back" if attempt.outcome is Outcome.RELEASED else None
        yield step(from_state=JobState.RUNNING, to_state=goes_to, message=message)


def _end_without_attempt(job: Job, attempts: Sequence[Attempt]) -> Iterator[Transition]:
    """The end of a job that was waiting: it has no attempt."""
    if not job.ended or job.finished_at is None:
        return
    if any(attempt.finished_at == job.finished_at for attempt in attempts):
        return
    yield Transition(
        at=job.finished_at,
        from_state=JobState.PENDING if job.queued_at is None else JobState.QUEUED,
        to_state=job.state,
        actor=job.cancel_requested_by,
        message=job.reason,
    )
