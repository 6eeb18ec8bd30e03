"""Verbs on jobs: enqueue, read, cancel, run now, update."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from windlass.core.jobs.change import JobChange
from windlass.core.jobs.models import Attempt, Job, LogLine, NewJob, Scope, Transition
from windlass.core.jobs.states import OPEN, JobState, Verb, states_for
from windlass.core.wire import instant
from windlass.ids import JobId
from windlass.storage.database import Database
from windlass.storage.jobs.enqueue import (
    EnqueueRequest,
    EnqueueResult,
    EnqueueStatus,
    IncompleteBatch,
    enqueue_params,
    store,
)
from windlass.storage.sql import rows
from windlass.storage.sql.statements import Batch


@dataclass(frozen=True, slots=True, kw_only=True)
class CountCorrection:
    """The number of jobs that the totals of a tenant, queue and definition lack in each state."""

    tenant: str
    queue: str
    definition: str
    missing: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class RelatedJob:
    """An edge between a job and one it waits for; a state is None when that job is gone."""

    child_id: JobId
    parent_id: JobId
    policy: str
    settled: bool
    child_state: JobState | None
    parent_state: JobState | None
    child_created_by: str | None = None
    parent_created_by: str | None = None

    def made_by(self, creator: str) -> bool:
        """Check that `creator` made both jobs."""
        return self.child_created_by == self.parent_created_by == creator


class JobVerbs:
    _db: Database

    async def existing_job_ids(self, ids: Sequence[JobId]) -> set[JobId]:
        """Those of the jobs that are stored, ended ones included."""
        found = await self._db.run("existing_job_ids", ids=Batch(id=ids))
        return {JobId(rows.uuid(row["id"])) for row in found}

    async def visible_job_ids(
        self, scope: Scope, ids: Sequence[JobId], *, created_by: str | None = None
    ) -> set[JobId]:
        """Those of the jobs that are within a scope and, if `created_by` is given, made by it; ended
        ones included."""
        found = await self._db.run(
            "visible_job_ids",
            ids=Batch(id=ids),
            tenant_id=scope.tenant,
            created_by=created_by,
        )
        return {JobId(rows.uuid(row["id"])) for row in found}

    async def key_holders(self, jobs: Sequence[NewJob]) -> set[JobId]:
        """Those of the jobs that would not be new: stored already, or of a key that another has."""
        found = await self.existing_job_ids([job.id for job in jobs])
        if keyed := [job for job in jobs if job.dedupe_key or job.idempotency_key]:
            holders = await self._db.run("key_holders", jobs=enqueue_params(keyed)["jobs"])
            found |= {JobId(rows.uuid(row["id"])) for row in holders if row["existing_id"]}
        return found

    async def get(self, scope: Scope, id: JobId) -> Job | None:
        """One job, or None if there is none or the scope may not see it."""
        for _ in range(2):  # a job that moved between two tables during the first look
            found = await self._db.run("get_job", id=id, tenant_id=scope.tenant)
            if found:
                return rows.job(found[0])
        return None

    async def find(self, scope: Scope, suffix: str, *, most: int = 10) -> list[JobId]:
        """The jobs whose id ends with `suffix`, newest first."""
        found = await self._db.run(
            "find_jobs_by_suffix", suffix=suffix, tenant_id=scope.tenant, most=most
        )
        return [JobId(rows.uuid(row["id"])) for row in found]

    async def cancel(
        self,
        scope: Scope,
        ids: Sequence[JobId],
        *,
        actor: str | None = None,
        reason: str | None = None,
        to: JobState = JobState.CANCELED,
    ) -> dict[JobId, JobState]:
        """End waiting jobs in state `to`, ask running ones to stop. Answers where each stands
        now; a job that is not open, or foreign to the scope, is not in the answer."""
        answer: dict[JobId, JobState] = {}
        for _ in range(5):  # a job that is claimed, promoted or finished meanwhile is missed
            missing = [id for id in ids if id not in answer]
            if not missing:
                break
            changed = await self._db.run(
                "cancel",
                ids=Batch(id=missing),
                tenant_id=scope.tenant,
                actor=actor,
                reason=reason,
                to_state=to,
            )
            answer.update(states_in(changed))
            if len(answer) < len(ids) and not await self._still(OPEN, scope, missing, answer):
                break
        return answer

    async def run_now(self, scope: Scope, id: JobId, *, actor: str | None = None) -> bool:
        """Make a waiting job due at once; False if it runs, has ended or waits for parents."""
        for _ in range(2):  # a job that was promoted during the first look
            if await self._db.run("run_now", id=id, tenant_id=scope.tenant, actor=actor):
                return True
        return False

    async def update(
        self, scope: Scope, ids: Sequence[JobId], change: JobChange, *, actor: str | None = None
    ) -> dict[JobId, JobState]:
        """Change jobs that wait. Answers where each stands; a job that runs, has ended, or is
        foreign to the scope, is not in the answer."""
        answer: dict[JobId, JobState] = {}
        for _ in range(5):  # a job that is promoted or admitted meanwhile is missed
            missing = [id for id in ids if id not in answer]
            params = update_params(scope, missing, change, actor)
            answer.update(states_in(await self._db.run("update", **params)))
            waits = states_for(Verb.UPDATE)
            if not await self._still(waits, scope, missing, answer):
                break
        return answer

    async def attempts(self, job: Job) -> list[Attempt]:
        """Every try at a job, oldest first; the last one is read off the job itself."""
        stored = [rows.attempt(row) for row in await self._db.run("attempts", id=job.id)]
        if job.last_started_at is None or any(a.number == job.lease_token for a in stored):
            return stored
        running = job.state is JobState.RUNNING
        failed = not running and job.state is not JobState.COMPLETED
        return [
            *stored,
            Attempt(
                job_id=job.id,
                number=job.lease_token,
                worker_id=job.worker_id,
                started_at=job.last_started_at,
                finished_at=None if running else job.finished_at,
                outcome=None if running else job.outcome,
                error=job.last_error if failed else None,
                error_type=job.error_type if failed else None,
                error_class=job.error_class if failed else None,
                error_trace=job.error_trace if failed else None,
            ),
        ]

    async def transitions(self, job: Job) -> list[Transition]:
        """The steps people took with a job; the rest is derived from job and attempts."""
        return [rows.transition(row) for row in await self._db.run("transitions", id=job.id)]

    async def job_edges(self, job: Job) -> list[RelatedJob]:
        """The edges to the jobs that a job waits for, and to those that wait for it."""
        return [
            RelatedJob(
                JobId(rows.uuid(row["child_id"])),
                JobId(rows.uuid(row["parent_id"])),
                row["policy"],
                bool(row["settled"]),
                JobState(row["child_state"]) if row["child_state"] else None,
                JobState(row["parent_state"]) if row["parent_state"] else None,
                row["child_created_by"],
                row["parent_created_by"],
            )
            for row in await self._db.run("job_edges", id=job.id)
        ]

    async def logs(self, job: Job, *, after: int = 0, limit: int = 1000) -> list[LogLine]:
        """A job's log lines in order, those past sequence number `after`."""
        found = await self._db.run("job_logs", id=job.id, after=after, most=limit)
        return [rows.log_line(row) for row in found]

    async def state_counts(self, scope: Scope) -> list[Mapping[str, Any]]:
        """Jobs by tenant, queue, definition and state, kept without scanning."""
        return [dict(row) for row in await self._db.run("state_counts", tenant_id=scope.tenant)]

    async def recount(self, scope: Scope) -> "CountDrift":
        """The same, beside what a count of every job says at the same instant; slow."""
        kept: list[Mapping[str, Any]] = []
        counted: list[Mapping[str, Any]] = []
        for row in await self._db.run("recount", tenant_id=scope.tenant):
            (counted if row["anew"] else kept).append(dict(row))
        return CountDrift(kept, counted)

    async def correct_counts(self, corrections: Sequence[CountCorrection]) -> None:
        """Add to the totals what they are off by."""
        batch = Batch(
            tenant_id=[each.tenant for each in corrections],
            queue=[each.queue for each in corrections],
            definition=[each.definition for each in corrections],
            **{state: [each.missing.get(state, 0) for each in corrections] for state in JobState},
        )
        await self._db.run("correct_counts", corrections=batch)

    async def _still(
        self,
        states: Collection[JobState],
        scope: Scope,
        missing: Sequence[JobId],
        answer: Mapping[JobId, JobState],
    ) -> bool:
        """Check if a job that a verb has missed is in a state that it should have found."""
        for id in missing:
            if id in answer:
                continue
            job = await self.get(scope, id)
            if job is not None and job.state in states:
                return True
        return False


class CountDrift(NamedTuple):
    """The totals as they stand, and as counted anew."""

    kept: list[Mapping[str, Any]]
    counted: list[Mapping[str, Any]]


def update_params(
    scope: Scope, ids: Sequence[JobId], change: JobChange, actor: str | None
) -> dict[str, Any]:
    """The parameters of `update`, for callers that run it in their own transaction too."""
    return {
        "ids": Batch(id=ids),
        "tenant_id": scope.tenant,
        "actor": actor,
        "priority": change.priority,
        "queue": change.queue,
        "due_at": change.due_at,
        "due_text": None if change.due_at is None else instant(change.due_at),
        "metadata": change.metadata,
    }


def states_in(changed: Sequence[Mapping[str, Any]]) -> dict[JobId, JobState]:
    """The state of each job in the rows of a verb."""
    return {JobId(rows.uuid(row["id"])): JobState(row["state"]) for row in changed}


__all__ = [
    "CountCorrection",
    "CountDrift",
    "EnqueueRequest",
    "EnqueueResult",
    "EnqueueStatus",
    "IncompleteBatch",
    "JobVerbs",
    "RelatedJob",
    "states_in",
    "store",
    "update_params",
]
