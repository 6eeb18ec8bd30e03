"""Ends of attempts, and what each means for its job."""

from dataclasses import dataclass
from datetime import timedelta
from random import Random
from typing import NamedTuple

from windlass.core.definitions.backoff import Backoff, delay
from windlass.core.jobs.fingerprint import fingerprint
from windlass.core.jobs.models import ErrorClass
from windlass.core.jobs.states import JobState, Outcome
from windlass.core.leases.lease import LeaseRef
from windlass.core.leases.suspects import LossVerdict
from windlass.ids import JobId


class AttemptEnd(NamedTuple):
    """The recorded end of an attempt and where its job goes.

    `state` queued means another try after `delay`. An end asked for meanwhile wins over every
    state but completed. `keep=False` deletes the job, at the latest when it is next pruned,
    instead of keeping it among the ended ones; dead-lettered jobs are always kept.
    `gate`: the one to stand behind from now on, if its job is queued; None leaves it, or clears a
    suspect whose attempt ended. `uncounted`: the attempt is given back. `spared`: a lost attempt is no
    death of a worker. Both are None rather than False, which costs drivers nothing.
    `maybe_recorded`: the handler's own transaction may have recorded the end already.
    `permanent`: what happened ruled out another try, however many were left.
    `once`: keys of what was done, noted if the job completes and is kept.
    """

    job_id: JobId
    token: int
    outcome: Outcome
    state: JobState
    delay: timedelta = timedelta()
    result: str | None = None
    warnings: str | None = None
    error: str | None = None
    error_type: str | None = None
    error_class: ErrorClass | None = None
    error_trace: str | None = None
    progress: float | None = None
    pid: int | None = None
    exit_code: int | None = None
    stdout_tail: str | None = None
    stderr_tail: str | None = None
    fingerprint: str | None = None
    keep: bool = True
    gate: str | None = None
    uncounted: bool | None = None
    spared: bool | None = None
    maybe_recorded: bool = False
    permanent: bool = False
    once: tuple[str, ...] = ()

    @property
    def held(self) -> LeaseRef:
        return LeaseRef(self.job_id, self.token)


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Why an attempt did not succeed. A permanent one is not tried again; `retry_seconds` is the
    delay that the handler asked for, instead of the backoff's."""

    error: str
    error_type: str
    trace: str | None = None
    outcome: Outcome = Outcome.FAILED
    permanent: bool = False
    retry_seconds: float | None = None
    pid: int | None = None
    exit_code: int | None = None


@dataclass(frozen=True, slots=True)
class RetryAfter:
    after: timedelta


@dataclass(frozen=True, slots=True)
class DeadLetter:
    pass


def judge(
    failure: Failure, *, attempts: int, max_attempts: int, backoff: Backoff, random: Random
) -> RetryAfter | DeadLetter:
    """Decide what a failed attempt means for its job; `attempts` counts this one."""
    if failure.permanent or attempts >= max_attempts:
        return DeadLetter()
    if failure.retry_seconds is not None:
        return RetryAfter(after=timedelta(seconds=failure.retry_seconds))
    # A delay, not an instant: the database adds it to its own clock.
    return RetryAfter(after=delay(backoff, attempts, random))


def success(
    held: LeaseRef,
    *,
    result: str | None,
    warnings: str | None,
    keep: bool,
    once: tuple[str, ...] = (),
) -> AttemptEnd:
    """The end of an attempt that succeeded."""
    return AttemptEnd(
        job_id=held.job_id,
        token=held.token,
        outcome=Outcome.SUCCEEDED,
        state=JobState.COMPLETED,
        result=result,
        warnings=warnings,
        progress=1.0,
        keep=keep,
        once=once,
    )


def failed(held: LeaseRef, failure: Failure, verdict: RetryAfter | DeadLetter) -> AttemptEnd:
    """The end of an attempt that failed, timed out or was lost; of the last one also its cause."""
    finish = AttemptEnd(
        job_id=held.job_id,
        token=held.token,
        outcome=failure.outcome,
        state=JobState.DEAD_LETTER,
        error=failure.error,
        error_type=failure.error_type,
        error_class="permanent" if failure.permanent else "transient",
        error_trace=failure.trace,
        pid=failure.pid,
        exit_code=failure.exit_code,
        permanent=failure.permanent,
    )
    if isinstance(verdict, RetryAfter):
        return finish._replace(state=JobState.QUEUED, delay=verdict.after)
    cause = fingerprint(failure.error_type, failure.error, failure.trace)
    return finish._replace(fingerprint=cause.key)


def lost(held: LeaseRef, failure: Failure, verdict: LossVerdict) -> AttemptEnd:
    """The end of an attempt whose worker was lost."""
    if verdict.dead:
        return failed(held, failure, DeadLetter())
    return failed(held, failure, RetryAfter(after=timedelta()))._replace(
        gate=verdict.gate,
        uncounted=None if verdict.attempt_counts else True,
        spared=None if verdict.death_counts else True,
    )


def stopped(held: LeaseRef, *, keep: bool = True) -> AttemptEnd:
    """The end of an attempt that was asked to stop and did."""
    return AttemptEnd(
        job_id=held.job_id,
        token=held.token,
        outcome=Outcome.CANCELED,
        state=JobState.QUEUED,  # the wish to stop, kept on the job, decides where it goes
        keep=keep,
    )


def released(held: LeaseRef, *, delay: timedelta = timedelta()) -> AttemptEnd:
    """A job handed back, the attempt not counted."""
    return AttemptEnd(
        job_id=held.job_id,
        token=held.token,
        outcome=Outcome.RELEASED,
        state=JobState.QUEUED,
        delay=delay,
    )
