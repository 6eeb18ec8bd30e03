"""The user's side of the queue: enqueue, find, cancel, retry, explain."""

import asyncio
from collections.abc import Collection, Iterator
from dataclasses import replace
from datetime import timedelta
from typing import NoReturn

from windlass import clock
from windlass.core.access.principal import Principal
from windlass.core.access.roles import Right
from windlass.core.durations import words
from windlass.core.jobs import history as derived
from windlass.core.jobs.change import JobChange
from windlass.core.jobs.models import (
    ALL_TENANTS,
    Attempt,
    Job,
    LogLine,
    Scope,
    Transition,
)
from windlass.core.jobs.states import ENDED, JobState, Verb, states_for
from windlass.core.text import storable
from windlass.engine.jobs.bulk_enqueue import BulkEnqueue
from windlass.engine.jobs.explain import Explanation, explain, key_missing
from windlass.engine.jobs.update_time import begun
from windlass.engine.leases.maintenance import cancel_overdue
from windlass.errors import (
    AmbiguousId,
    DuplicateJob,
    IdInvalid,
    JobCanceled,
    JobFailed,
    JobNotFound,
    JobStateConflict,
    WaitTimeout,
)
from windlass.ids import JobId, parse_job_id, parse_suffix
from windlass.storage.jobs.jobs import (
    RelatedJob,
)

__all__ = ["Jobs", "RelatedJob"]

_POLLS = (0.02, 0.05, 0.1, 0.2, 0.5)


class Jobs(BulkEnqueue):
    """Verbs that make or change work take `by`, the principal whose right to enqueue is asked for;
    None is the program itself. `actor` is the name that the job's history shows."""

    async def get(self, id: JobId | str, scope: Scope = ALL_TENANTS) -> Job:
        """One job by its id, or by any unambiguous ending of it of six or more characters."""
        job = await self._storage.jobs.get(scope, await self.resolve(id, scope))
        if job is None:
            raise JobNotFound(id)
        return job

    async def reveal(self, id: JobId | str, scope: Scope = ALL_TENANTS) -> Job:
        """A job with its payload as it was given, decrypted, and nothing redacted."""
        return self.opened(await self.get(id, scope))

    def opened(self, job: Job) -> Job:
        """A job with the values of its payload that are encrypted at rest."""
        return self._sealer.open_job(job)

    async def resolve(self, id: JobId | str, scope: Scope = ALL_TENANTS) -> JobId:
        """The whole id behind what a person typed."""
        if not isinstance(id, str):
            return id
        if whole := parse_job_id(id):
            return whole
        suffix = parse_suffix(id)
        if suffix is None:
            raise IdInvalid(id, noun="job")
        found = await self._storage.jobs.find(scope, suffix)
        if not found:
            raise JobNotFound(id)
        if len(found) > 1:
            raise AmbiguousId(id, found)
        return found[0]

    async def cancel(
        self,
        id: JobId | str,
        *,
        scope: Scope = ALL_TENANTS,
        actor: str | None = None,
        reason: str | None = None,
    ) -> Job:
        """End a waiting job, or ask a running one to stop. Asking twice is asking once."""
        job = await self.get(id, scope)
        changed = await self._storage.jobs.cancel(
            scope, [job.id], actor=actor, reason=reason and storable(reason)
        )
        try:
            after = await self.get(job.id, scope)
        except JobNotFound:
            if job.id not in changed:
                raise
            # With a retention of 0 days it may have been pruned since.
            after = replace(job, state=JobState.CANCELED)
        if job.id not in changed and not (
            after.state is JobState.RUNNING and after.cancel_requested_at
        ):
            await self.refuse(after, Verb.CANCEL)
        await cancel_overdue(self._storage)
        self._nudges.nudge_all()
        return after

    async def retry(
        self,
        id: JobId | str,
        *,
        scope: Scope = ALL_TENANTS,
        actor: str | None = None,
        by: Principal | None = None,
    ) -> Job:
        """Put a dead-lettered or canceled job in line again, due at once, with fresh attempts."""
        job = await self.get(id, scope)
        await self._rights.require_job(by, job, Right.JOBS_RETRY)
        answer = await self._storage.jobs.retry(scope, job.id, actor=actor)
        if answer is None:
            await self.refuse(await self.get(job.id, scope), Verb.RETRY)
        if answer == "duplicate":
            raise DuplicateJob(job.id, because=f"dedupe key {job.dedupe_key}")
        self._nudges.nudge([job.queue])
        return await self.get(job.id, scope)

    async def run_now(
        self,
        id: JobId | str,
        *,
        scope: Scope = ALL_TENANTS,
        actor: str | None = None,
        by: Principal | None = None,
    ) -> Job:
        """Make a job due at once: one due later, retrying, or on hold."""
        job = await self.get(id, scope)
        await self._rights.require_job(by, job, Right.JOBS_RUN_NOW)
        if not await self._storage.jobs.run_now(scope, job.id, actor=actor):
            await self.refuse(await self.get(job.id, scope), Verb.RUN_NOW)
        self._nudges.nudge([job.queue])
        return await self.get(job.id, scope)

    async def update(
        self,
        id: JobId | str,
        change: JobChange,
        *,
        scope: Scope = ALL_TENANTS,
        actor: str | None = None,
        by: Principal | None = None,
    ) -> Job:
        """Change a job that waits; JobStateConflict if it runs or has ended."""
        job = await self.get(id, scope)
        await self._rights.require_job(by, job, Right.JOBS_UPDATE)
        wanted = await begun(self._storage, change)
        if not await self._storage.jobs.update(scope, [job.id], wanted, actor=actor):
            await self.refuse(await self.get(job.id, scope), Verb.UPDATE)
        self._nudges.nudge_all()
        return await self.get(job.id, scope)

    async def discard(
        self, id: JobId | str, *, scope: Scope = ALL_TENANTS, only: JobState | None = None
    ) -> None:
        """Delete an ended job for good; with `only`, one in that state."""
        job = await self.get(id, scope)
        if not await self._storage.jobs.discard(scope, job.id, only=only):
            allowed = sorted(ENDED) if only is None else [only]
            raise JobStateConflict(job.id, verb="discard", state=job.state, allowed=allowed)

    async def attempts(self, id: JobId | str, scope: Scope = ALL_TENANTS) -> list[Attempt]:
        """Every try at a job, oldest first."""
        return await self._storage.jobs.attempts(await self.get(id, scope))

    async def history(self, id: JobId | str, scope: Scope = ALL_TENANTS) -> list[Transition]:
        """Every step a job took, oldest first."""
        job = await self.get(id, scope)
        attempts = await self._storage.jobs.attempts(job)
        return derived.history(job, attempts, await self._storage.jobs.transitions(job))

    async def logs(
        self, id: JobId | str, *, scope: Scope = ALL_TENANTS, after: int = 0, limit: int = 1000
    ) -> list[LogLine]:
        """A job's log lines in order."""
        return await self._storage.jobs.logs(await self.get(id, scope), after=after, limit=limit)

    async def family(
        self, id: JobId | str, scope: Scope = ALL_TENANTS, *, created_by: str | None = None
    ) -> list[RelatedJob]:
        """What a job waits for and what waits for it; with `created_by` only between jobs that it
        made."""
        edges = await self._storage.jobs.job_edges(await self.get(id, scope))
        return [edge for edge in edges if created_by is None or edge.made_by(created_by)]

    async def explain(
        self, id: JobId | str, scope: Scope = ALL_TENANTS, *, created_by: str | None = None
    ) -> Explanation:
        """Why a job is not running: one sentence. With `created_by` it names no jobs of others."""
        job = await self.get(id, scope)
        key_id = self._sealer.missing_key(job)
        if key_id is not None and not job.ended and job.state is not JobState.RUNNING:
            return key_missing(key_id)
        return await explain(self._storage, job, created_by=created_by)

    async def wait(self, id: JobId | str, timeout: timedelta, scope: Scope = ALL_TENANTS) -> Job:
        """The job once it has completed. Raises JobFailed if it ends otherwise, JobCanceled if it
        was canceled, and WaitTimeout."""
        job = await self.get(id, scope)
        until = clock.monotonic() + timeout.total_seconds()
        for poll in _polls():
            if job.state is JobState.COMPLETED:
                return job
            if job.ended:
                raise _failure_of(job)
            if clock.monotonic() >= until:
                raise WaitTimeout(job.id, seconds=timeout.total_seconds(), state=job.state)
            await asyncio.sleep(min(poll, max(0.0, until - clock.monotonic())))
            job = await self.get(job.id, scope)
        raise AssertionError("unreachable")

    async def refuse(
        self, job: Job, verb: Verb, *, allowed: Collection[JobState] | None = None
    ) -> NoReturn:
        """Say that a job is in no state for a verb; `allowed` if not all that the verb finds are."""
        since = words(await self._storage.now() - job.finished_at) if job.finished_at else ""
        raise JobStateConflict(
            job.id,
            verb=verb.replace("_", " "),
            state=job.state,
            since=since,
            allowed=sorted(states_for(verb) if allowed is None else allowed),
        )


def _failure_of(job: Job) -> JobFailed:
    error = job.last_error or job.reason
    if job.state is JobState.CANCELED:
        return JobCanceled(job.id, error_type=job.error_type, error=error)
    return JobFailed(job.id, state=job.state, error_type=job.error_type, error=error)


def _polls() -> Iterator[float]:
    yield from _POLLS
    while True:
        yield _POLLS[-1]
