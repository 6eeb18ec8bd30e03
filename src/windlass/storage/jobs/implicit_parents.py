"""Jobs of definitions that run after others: what they wait for is looked up as they are stored."""

from collections.abc import Sequence

from windlass.core.jobs.models import NewJob
from windlass.ids import JobId
from windlass.storage.database import Session
from windlass.storage.sql import rows
from windlass.storage.sql.batches import Batch

#: So many of the newest open jobs are looked at, and so many of those found are waited for.
_LOOK = 10_000
_MOST = 1_000


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
