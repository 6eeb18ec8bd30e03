"""Builders: a job in any state by name, and what workers do with it."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from tests.databases.kinds import Database
from windlass.core.access.tenant import Tenant
from windlass.core.definitions import merge
from windlass.core.definitions.definition import Definition
from windlass.core.jobs.models import ALL_TENANTS, Job, LogLine, NewJob
from windlass.core.jobs.outcome import AttemptEnd, success
from windlass.core.jobs.states import JobState, Outcome
from windlass.core.leases import fair_share
from windlass.core.leases.lease import Lease, LeaseRef
from windlass.ids import DefinitionKey, JobId, QueueName, TenantId, WorkerId, new_job_id
from windlass.storage.connection.virtual_clock import VirtualClock
from windlass.storage.jobs.jobs import EnqueueResult
from windlass.storage.storage import Storage

#: What the clock says when a test begins.
START = datetime(2026, 1, 1, tzinfo=UTC)
SECOND = timedelta(seconds=1)
MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
LEASE_TIME = timedelta(seconds=30)
KNOWN = ("plain", "other", "limited")
ACME, GLOBEX = TenantId("acme"), TenantId("globex")
#: The worker that claims in a test, unless it says otherwise.
ALDER = WorkerId("alder")

DEFINITIONS = [
    Definition(key=DefinitionKey("plain"), title="Plain", code_hash="1"),
    Definition(key=DefinitionKey("other"), title="Other", code_hash="1"),
    Definition(key=DefinitionKey("limited"), title="Limited", code_hash="1", max_concurrency=2),
]


@dataclass(frozen=True)
class World:
    storage: Storage
    clock: VirtualClock
    database: Database


# Storing jobs


async def set_enabled(storage: Storage, key: str, enabled: bool) -> bool:
    """Enable or disable a definition, as an operator does; False if there is none."""
    return await _changed(storage, key, lambda d: merge.apply_edits(d, {"enabled": enabled}))


def new_job(**changes: Any) -> NewJob:
    """A job to enqueue; plain unless told otherwise."""
    job = NewJob(id=new_job_id(), definition=DefinitionKey("plain"), payload='{"n": 1}')
    return job._replace(**changes)


def new_jobs(count: int, **changes: Any) -> list[NewJob]:
    return [new_job(**changes) for _ in range(count)]


async def enqueue(storage: Storage, **changes: Any) -> JobId:
    """Store one job and answer its id."""
    job = new_job(**changes)
    stored = await offer(storage, job)
    assert stored.status == "created", stored
    return job.id


async def offer(storage: Storage, job: NewJob) -> EnqueueResult:
    """What became of one job that was offered."""
    [stored] = await storage.jobs.enqueue([job])
    return stored


async def enqueue_child(storage: Storage, *parents: JobId, **changes: Any) -> JobId:
    """Store a job that waits for others, by the same steps an enqueue takes."""
    id = await enqueue(storage, after=parents, **changes)
    await storage.leases.admit([id])
    return id


async def settle(storage: Storage) -> None:
    """What upkeep does for children: let in those that may, end those whose parent failed."""
    while unchecked := await storage.leases.children_to_admit():
        await storage.leases.admit(unchecked)
    while overdue := await storage.leases.jobs_to_cancel():
        for id, reason in overdue:
            await storage.jobs.cancel(ALL_TENANTS, [id], reason=reason)


# What workers do


async def claim(
    storage: Storage,
    limit: int = 1,
    worker: str = ALDER,
    known: Collection[str] = KNOWN,
    queues: Sequence[str] | None = None,
    cursor: str = "",
) -> list[Lease]:
    """What a worker with `limit` free slots gets in one round, by the steps a worker takes."""
    survey = await storage.leases.survey(queues, known, cursor=cursor)
    return await storage.leases.claim(
        WorkerId(worker), fair_share.share_quotas(survey.lines, limit), known, lease_time=LEASE_TIME
    )


async def claim_all(storage: Storage, **how: Any) -> list[Lease]:
    """Everything that can be claimed now, in as many rounds as it takes."""
    await storage.leases.promote()
    leases = []
    while got := await claim(storage, 100, **how):
        leases += got
    return leases


async def started(storage: Storage, *, by: str = ALDER, **changes: Any) -> Lease:
    """A job that runs. It is in a queue of its own, so no other job is claimed in its place."""
    id = await enqueue(storage, **{"queue": QueueName(f"of {new_job_id()}")} | changes)
    return await lease_of(storage, id, worker=by)


async def lease_of(storage: Storage, id: JobId, worker: str = ALDER) -> Lease:
    """Claim one job that is due and first in its queue."""
    await storage.leases.promote()
    queue = (await job(storage, id)).queue
    [lease] = await claim(storage, worker=worker, queues=[queue])
    assert lease.job_id == id, "another job was ahead of it"
    return lease


def worker_of(lease: Lease | LeaseRef) -> WorkerId:
    """The worker that holds a lease."""
    return (lease.worker if isinstance(lease, Lease) else None) or ALDER


def held(lease: Lease) -> LeaseRef:
    return LeaseRef(lease.job_id, lease.token)


def finish(
    lease: Lease | LeaseRef, state: JobState = JobState.COMPLETED, **changes: Any
) -> AttemptEnd:
    """The end of an attempt, as a worker records it: succeeded if it completes, canceled or failed
    otherwise. A success is plain unless `changes` say more: databases have a shorter way for it."""
    if state is JobState.COMPLETED:
        end = success(LeaseRef(lease.job_id, lease.token), result=None, warnings=None, keep=True)
    else:
        outcome = Outcome.CANCELED if state is JobState.CANCELED else Outcome.FAILED
        end = AttemptEnd(job_id=lease.job_id, token=lease.token, outcome=outcome, state=state)
    return end._replace(**changes)


def release(lease: Lease | LeaseRef, **changes: Any) -> AttemptEnd:
    """Handing a job back."""
    return finish(lease, JobState.QUEUED, outcome=Outcome.RELEASED, **changes)


def lost(lease: Lease | LeaseRef, state: JobState = JobState.QUEUED, **changes: Any) -> AttemptEnd:
    """What a reaper says of a lease that ran out."""
    return finish(lease, state, outcome=Outcome.LOST, **changes)


async def end(
    storage: Storage, lease: Lease | LeaseRef, state: JobState = JobState.COMPLETED, **changes: Any
) -> JobState | None:
    """End one attempt; where its job went, None if the lease was not held."""
    ended = await storage.leases.finish(worker_of(lease), [finish(lease, state, **changes)])
    return ended.get(LeaseRef(lease.job_id, lease.token))


def log_line(lease: Lease | LeaseRef, message: str, **changes: Any) -> LogLine:
    at = changes.pop("at", START)
    line = LogLine(job_id=lease.job_id, attempt=lease.token, level="info", message=message, at=at)
    return replace(line, **changes)


# Jobs as they stand


async def a_job(storage: Storage, state: JobState, **changes: Any) -> Job:
    """A job that rests in `state`, brought there by the verbs themselves."""
    if state in (JobState.PENDING, JobState.QUEUED, JobState.CANCELED):
        on_hold = {"held": True} if state is JobState.PENDING else {}
        id = await enqueue(storage, **on_hold | changes)
        if state is JobState.CANCELED:
            await storage.jobs.cancel(ALL_TENANTS, [id])
        return await job(storage, id)
    lease = await started(storage, **changes)
    if state is not JobState.RUNNING:
        await end(storage, lease, state)
    return await job(storage, lease.job_id)


async def job(storage: Storage, id: JobId) -> Job:
    """The job as it stands."""
    found = await storage.jobs.get(ALL_TENANTS, id)
    assert found is not None, "the job is gone"
    return found


async def state_of(storage: Storage, id: JobId) -> JobState:
    return (await job(storage, id)).state


async def tables_of(storage: Storage, id: JobId) -> list[str]:
    """In which of the three tables a job's row is; only ever one."""
    tables = ("windlass_live", "windlass_later", "windlass_ended")
    return [table for table in tables if await rows_of(storage, table, "id", id)]


async def rows_of(storage: Storage, table: str, column: str, id: UUID) -> int:
    """How many rows of a table name a job in a column."""
    [row] = await storage.database.query(
        f"select count(*) as n from {table} where {column} = :id", {"id": id}
    )
    return int(row["n"])


async def ids_in(storage: Storage, *states: str) -> set[JobId]:
    """The ids of all jobs in these states."""
    found = await storage.database.query("select id, state from windlass_jobs", {})
    return {JobId(as_uuid(row["id"])) for row in found if row["state"] in states}


def as_uuid(value: Any) -> UUID:
    return value if isinstance(value, UUID) else UUID(value)


# Tenants and definitions


async def a_tenant(storage: Storage, id: str, **changes: Any) -> TenantId:
    """A tenant, active unless told otherwise."""
    tenant = Tenant(id=TenantId(id), name=id.title(), **changes)
    if await storage.access.create_tenant(tenant) is not None:
        await storage.access.change_tenant(id, lambda _: tenant)
    return TenantId(id)


async def a_definition(storage: Storage, key: str, **changes: Any) -> DefinitionKey:
    """A definition as code declares it."""
    declared = Definition(key=DefinitionKey(key), title=key.title(), code_hash="1")
    await storage.definitions.sync_definitions([replace(declared, **changes)])
    return DefinitionKey(key)


async def regate(storage: Storage) -> None:
    """Move all jobs behind the gates of now, as is done after a definition changed."""
    cursor: JobId | None = JobId(UUID(int=0))
    while cursor:
        cursor = await storage.definitions.move_to_current_gate(cursor)


async def change_definition(storage: Storage, key: str, **changes: Any) -> None:
    """Give a definition's row other values."""
    await _changed(storage, key, lambda definition: replace(definition, **changes))


async def _changed(storage: Storage, key: str, change: Callable[[Definition], Definition]) -> bool:
    return bool(
        await storage.definitions.change_definitions(
            [key], lambda found: [change(definition) for definition in found.values()]
        )
    )
