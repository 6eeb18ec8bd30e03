"""Stores jobs: the steps of an enqueue, on a connection of our own or of a caller's."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import timedelta
from enum import StrEnum
from typing import Any, NamedTuple

from windlass.core.jobs.models import NewJob, OnDuplicate
from windlass.ids import JobId
from windlass.storage.connection.deadlock_retry import retry_deadlocks
from windlass.storage.database import Database, Lane, Session
from windlass.storage.sql import rows
from windlass.storage.sql.statements import Batch, Rows, fields_as_columns

_TRIES = 5
#: So many of the newest open jobs are looked at, and so many of those found are waited for.
_LOOK, _MOST = 10_000, 1_000
_EDGE = ("child_id", "place", "parent_id")
_NO_EDGES = Batch.of_rows(_EDGE, [])


class EnqueueStatus(StrEnum):
    """The outcome of one job of an enqueue: stored, met by an equal one, or refused."""

    CREATED = "created"
    EXISTING = "existing"
    #: The waiting job with its key took over its payload and time.
    REPLACED = "replaced"
    #: Its tenant has as many open jobs as it may.
    REJECTED = "rejected"
    UNKNOWN_DEFINITION = "unknown_definition"
    DISABLED_DEFINITION = "disabled_definition"
    UNKNOWN_TENANT = "unknown_tenant"
    SUSPENDED_TENANT = "suspended_tenant"
    UNKNOWN_PARENT = "unknown_parent"


class EnqueueResult(NamedTuple):
    """One job of an enqueue and its outcome; `existing_id` is the equal job that was met."""

    id: JobId
    status: EnqueueStatus = EnqueueStatus.CREATED
    existing_id: JobId | None = None
    because: str | None = None


class EnqueueRequest(NamedTuple):
    """A job to store, and the policy for an equal one that it meets. With an `owner` it replaces only
    jobs that `owner` made."""

    job: NewJob
    on_duplicate: OnDuplicate = "existing"
    owner: str | None = None

    def answers(self, stored: EnqueueResult) -> bool:
        """Check that a result is a success, and no refusal."""
        met = stored.status is EnqueueStatus.EXISTING and self.on_duplicate != "error"
        return met or stored.status in (EnqueueStatus.CREATED, EnqueueStatus.REPLACED)


class IncompleteBatch(Exception):
    """Some jobs of a batch were refused, so none was stored."""

    def __init__(self, stored: Sequence[EnqueueResult]) -> None:
        self.stored = stored
        super().__init__("a job of the batch was refused")


class EnqueueVerbs:
    _db: Database

    async def enqueue(
        self, jobs: Sequence[NewJob], *, whole: bool = False, existing: bool = True
    ) -> list[EnqueueResult]:
        """Store jobs and return their results in the same order.

        With `whole` either all are created, or `existing` if that may be, or none is stored.
        Repeating a call with the same ids stores nothing twice while the jobs are open.
        """
        if not whole and is_single_statement(jobs):
            return await store(_StoreSession(self._db), jobs)
        return await self._enqueue_in_transaction(jobs, whole=whole, existing=existing)

    @retry_deadlocks
    async def enqueue_together(
        self, chunks: Sequence[Sequence[EnqueueRequest]]
    ) -> list[EnqueueResult]:
        """Store jobs in one transaction and return their results in the same order.

        A key stands once in a chunk. IncompleteBatch, with all the results, if one is refused or met an equal
        job and may not: then none is stored. Repeated with the same ids, nothing is stored twice.
        """
        async with self._db.transaction(Lane.STORE) as session:
            return await store_batch(session, chunks)

    @retry_deadlocks
    async def replace(
        self, job: NewJob, existing: JobId, *, owner: str | None = None
    ) -> EnqueueResult:
        """Have the waiting job with a job's dedupe key run with its payload, at its time. If that one
        runs or has ended, the job itself is stored. One of another definition is left alone, and so
        is one that somebody else than `owner` made, if that is given: the answer is `existing`."""
        async with self._db.transaction(Lane.STORE) as session:
            return await replace_waiting_job(session, job, existing, owner=owner)

    @retry_deadlocks
    async def _enqueue_in_transaction(
        self, jobs: Sequence[NewJob], *, whole: bool, existing: bool
    ) -> list[EnqueueResult]:
        async with self._db.transaction(Lane.STORE) as session:
            stored = await store(session, jobs)
            fine = {EnqueueStatus.CREATED, *([EnqueueStatus.EXISTING] if existing else [])}
            if whole and any(s.status not in fine for s in stored):
                raise IncompleteBatch(stored)
            return stored


class _StoreSession:
    """Runs each verb in a transaction of its own, in the lane that stores jobs."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def run(self, verb: str, /, **params: Any) -> Rows:
        return await self._database.run(verb, lane=Lane.STORE, **params)


def is_single_statement(jobs: Sequence[NewJob]) -> bool:
    """Check that one statement stores these jobs, so that it needs no transaction around it."""
    if not any(job.after or (job.dedupe_key and job.idempotency_key) for job in jobs):
        return True
    ids = {job.id for job in jobs}
    return not any(
        (job.dedupe_key and job.idempotency_key) or not ids.isdisjoint(job.after) for job in jobs
    )


async def store(session: Session, jobs: Sequence[NewJob]) -> list[EnqueueResult]:
    """Run the enqueue statements, also on a caller's own connection.

    Jobs of definitions that run after others wait for the open jobs of those. Jobs that wait for
    others of the batch are stored after them: a refused parent refuses its children, and one that
    met an equal job is replaced by it.
    """
    results: dict[JobId, EnqueueResult] = {}
    left = jobs
    for _ in range(_TRIES):
        levels, refused = _levels(await add_implicit_parents(session, left))
        results |= refused
        for level in levels:
            results |= await _insert(session, [_with_stored_parents(job, results) for job in level])
        left = _to_store_again(left, results)
        if not left:
            break
    return [results[job.id] for job in jobs]


def _to_store_again(
    jobs: Sequence[NewJob], results: Mapping[JobId, EnqueueResult]
) -> Sequence[NewJob]:
    """The jobs whose results other transactions have made obsolete since."""
    again: dict[JobId, NewJob] = {}
    for job in jobs:
        result = results[job.id]
        # The job with its key ended, and gave the key back, before it could be named.
        freed = result.status is EnqueueStatus.EXISTING and result.existing_id is None
        # A parent found for it ended since and was not kept, or one of the batch is stored again.
        orphaned = result.status is EnqueueStatus.UNKNOWN_PARENT and (
            job.runs_after or not again.keys().isdisjoint(job.after)
        )
        if freed or orphaned:
            again[job.id] = job
    return list(again.values())


def _with_stored_parents(job: NewJob, results: Mapping[JobId, EnqueueResult]) -> NewJob:
    """A job that waits for those that its parents have met."""
    if not job.after:
        return job
    met = (results[id].existing_id if id in results else None for id in job.after)
    return job._replace(after=tuple(other or id for id, other in zip(job.after, met, strict=True)))


async def store_batch(
    session: Session, chunks: Sequence[Sequence[EnqueueRequest]]
) -> list[EnqueueResult]:
    """Store jobs on one connection, those of a chunk by one statement; IncompleteBatch if one is refused."""
    answers: list[EnqueueResult] = []
    for chunk in chunks:
        stored = await store(session, [asked.job for asked in chunk])
        for asked, each in zip(chunk, stored, strict=True):
            if asked.on_duplicate == "replace" and each.existing_id is not None:
                each = await replace_waiting_job(
                    session, asked.job, each.existing_id, owner=asked.owner
                )
            answers.append(each)
    every = [asked for chunk in chunks for asked in chunk]
    if not all(asked.answers(each) for asked, each in zip(every, answers, strict=True)):
        raise IncompleteBatch(answers)
    return answers


async def replace_waiting_job(
    session: Session, job: NewJob, existing: JobId, *, owner: str | None = None
) -> EnqueueResult:
    """Have the job that holds a job's dedupe key run with its payload, at its time, if it still waits.
    One that runs keeps its payload and lets go of the key: then the job itself is stored. A holder of
    another definition, or not made by `owner`, keeps both."""
    stored = EnqueueResult(job.id, EnqueueStatus.EXISTING, existing)
    for _ in range(_TRIES):
        holder = {
            "id": stored.existing_id,
            "tenant_id": job.tenant,
            "definition": job.definition,
            "owner": owner,
        }
        newer = {
            "payload": job.payload,
            "own_gate": job.gate,
            "due_at": job.due_at,
            "delay": job.delay.total_seconds() if job.delay else 0.0,
            "max_wait": job.max_wait.total_seconds() if job.max_wait else None,
            "actor": job.created_by,
        }
        if await session.run("replace", **holder, **newer):
            return stored._replace(status=EnqueueStatus.REPLACED)
        await session.run("release_dedupe_key", **holder)
        [stored] = await store(session, [job])
        if stored.status is not EnqueueStatus.EXISTING or stored.existing_id is None:
            break
    return stored


def _levels(jobs: Sequence[NewJob]) -> tuple[list[Sequence[NewJob]], dict[JobId, EnqueueResult]]:
    """Jobs by how many of the batch they wait for in a row, and those refused at once:
    a job may wait for earlier ones of its batch only, so that no circle can be stored."""
    if not any(job.after for job in jobs):
        return [jobs], {}
    places = {job.id: place for place, job in enumerate(jobs)}
    depths: dict[JobId, int] = {}
    levels: defaultdict[int, list[NewJob]] = defaultdict(list)
    refused: dict[JobId, EnqueueResult] = {}
    for place, job in enumerate(jobs):
        inside = [parent for parent in job.after if parent in places]
        depths[job.id] = max((depths.get(parent, 0) + 1 for parent in inside), default=0)
        if any(places[parent] >= place for parent in inside):
            refused[job.id] = EnqueueResult(job.id, EnqueueStatus.UNKNOWN_PARENT)
        else:
            levels[depths[job.id]].append(job)
    return [levels[depth] for depth in sorted(levels)], refused


async def _insert(session: Session, jobs: Sequence[NewJob]) -> dict[JobId, EnqueueResult]:
    """Run the enqueue statement, and find out which jobs it met."""
    params = enqueue_params(jobs)
    results = {job.id: EnqueueResult(job.id) for job in jobs}
    for row in await session.run("enqueue", **params):
        id = JobId(rows.uuid(row["id"]))
        results[id] = EnqueueResult(id, EnqueueStatus(row["status"]), _met(row))
    met = [job for job in jobs if results[job.id].status is EnqueueStatus.EXISTING]
    if halves := [job.id for job in met if job.dedupe_key and job.idempotency_key]:
        await session.run("release_unused_keys", ids=Batch(id=halves))
    if any(results[job.id].existing_id is None for job in met):
        # The other enqueue committed while ours ran, or was of the same batch: a newer statement
        # sees the job it made.
        holders = await session.run("key_holders", jobs=params["jobs"])
        found = {JobId(rows.uuid(row["id"])): _met(row) for row in holders}
        for job in met:
            result = results[job.id]
            results[job.id] = result._replace(existing_id=result.existing_id or found.get(job.id))
    return results


def _met(row: Mapping[str, Any]) -> JobId | None:
    return JobId(rows.uuid(row["existing_id"])) if row["existing_id"] else None


def enqueue_params(jobs: Sequence[NewJob]) -> dict[str, Batch]:
    """The batches of the enqueue statement."""
    new = fields_as_columns(NewJob._fields, jobs)
    parents = [dict.fromkeys(after) for after in new["after"]]
    edges = [(job.id, place, parent) for place, job in enumerate(jobs) for parent in parents[place]]
    return {
        "jobs": Batch(
            place=range(len(jobs)),
            id=new["id"],
            tenant_id=new["tenant"],
            definition=new["definition"],
            queue=new["queue"],
            priority=new["priority"],
            payload=new["payload"],
            due_at=new["due_at"],
            delay=_seconds(new["delay"]),
            expires=_seconds(new["expires"]),
            max_attempts=new["max_attempts"],
            timeout_seconds=new["timeout_seconds"],
            dedupe_key=new["dedupe_key"],
            dedupe_window=_seconds(new["dedupe_window"]),
            idempotency_key=new["idempotency_key"],
            parents=[len(after) for after in parents],
            on_parent_failure=new["on_parent_failure"],
            held=new["held"],
            correlation_id=new["correlation_id"],
            source=new["source"],
            source_ref=new["source_ref"],
            trigger_id=new["trigger_id"],
            trigger_due_at=new["trigger_due_at"],
            created_by=new["created_by"],
            metadata=new["metadata"],
            own_gate=new["gate"],
        ),
        "parents": Batch.of_rows(_EDGE, edges) if edges else _NO_EDGES,
    }


def _seconds(lengths: Sequence[timedelta | None]) -> list[float | None]:
    return [length.total_seconds() if length else None for length in lengths]


async def open_jobs_of_definitions(
    session: Session, tenant: str, definitions: Sequence[str]
) -> list[JobId]:
    """Open jobs of a tenant and of these definitions, the newest first; bounded."""
    names = Batch(name=definitions)
    found = await session.run(
        "open_jobs_of_definitions", tenant_id=tenant, names=names, look=_LOOK, most=_MOST
    )
    return [JobId(rows.uuid(row["id"])) for row in found]


async def add_implicit_parents(session: Session, jobs: Sequence[NewJob]) -> Sequence[NewJob]:
    """The jobs, each also waiting for the open jobs of the definitions it runs after, those before
    it in the batch included. Costs nothing where no job has such definitions."""
    if not any(job.runs_after for job in jobs):
        return jobs
    found: dict[tuple[str, tuple[str, ...]], list[JobId]] = {}
    waiting: list[NewJob] = []
    for job in jobs:
        if not job.runs_after:
            waiting.append(job)
            continue
        place = (job.tenant, job.runs_after)
        if place not in found:
            found[place] = await open_jobs_of_definitions(session, *place)
        before = [
            w.id for w in waiting if w.tenant == job.tenant and w.definition in job.runs_after
        ]
        after = dict.fromkeys([*job.after, *found[place], *before[-_MOST:]])
        after.pop(job.id, None)  # an enqueue that is repeated finds itself
        waiting.append(job._replace(after=tuple(after)))
    return waiting
