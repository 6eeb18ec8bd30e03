"""Single enqueues that meet share one round trip.

While one batch is being stored the next gathers. Nobody waits for company: alone, a job is sent at
once.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence, Set
from uuid import UUID

from windlass.core.jobs.models import NewJob
from windlass.errors import DatabaseOutage
from windlass.storage.connection.tenant_binding import apart, bound
from windlass.storage.jobs.jobs import EnqueueResult
from windlass.storage.storage import Storage

#: A job and whoever waits to hear what became of it.
PendingEnqueue = tuple[NewJob, "asyncio.Future[EnqueueResult]"]

_MOST = 1000
#: Batches under way at once; more would only wait for the same disk.
_LANES = 2
_REPEATS = 3


class EnqueueBatcher:
    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._waiting: list[PendingEnqueue] = []
        self._lanes: set[asyncio.Task[None]] = set()

    async def enqueue(self, job: NewJob) -> EnqueueResult:
        """Store one job, together with others that come at the same moment.

        Who is bound to a tenant shares no statement with others.
        """
        if bound() is not None:
            [stored] = await store_with_retry(self._storage, [job])
            return stored
        answer: asyncio.Future[EnqueueResult] = asyncio.get_running_loop().create_future()
        self._waiting.append((job, answer))
        if len(self._lanes) < _LANES:
            lane = apart(self._drain())
            self._lanes.add(lane)
            lane.add_done_callback(self._lanes.discard)
        # A caller that gives up lets go of its answer, and takes nothing of the others' batch.
        return await answer

    async def _drain(self) -> None:
        while self._waiting:
            batch, self._waiting = self._waiting[:_MOST], self._waiting[_MOST:]
            batch, again = _split_conflicting(batch)
            self._waiting = again + self._waiting
            try:
                stored = await store_with_retry(self._storage, [job for job, _ in batch])
            except Exception as error:  # noqa: BLE001  told to whoever enqueued
                for _, answer in batch:
                    if not answer.done():
                        answer.set_exception(error)
            else:
                for (_, answer), result in zip(batch, stored, strict=True):
                    if not answer.done():
                        answer.set_result(result)


async def store_with_retry(
    storage: Storage, jobs: Sequence[NewJob], *, whole: bool = False, existing: bool = True
) -> list[EnqueueResult]:
    """Store jobs; if the answer was lost, find out and repeat with the same ids, harmlessly."""
    known: Set[UUID] = frozenset()
    now: list[EnqueueResult] = []
    for repeat in range(_REPEATS):
        try:
            if repeat:
                known = await storage.jobs.existing_job_ids([job.id for job in jobs])
            left = [job for job in jobs if job.id not in known] if known else jobs
            now = await storage.jobs.enqueue(left, whole=whole, existing=existing) if left else []
            break
        except DatabaseOutage:
            if repeat == _REPEATS - 1:
                raise
            await asyncio.sleep(0.1 * 2**repeat)
    if not known:
        return now
    rest = iter(now)
    return [EnqueueResult(job.id) if job.id in known else next(rest) for job in jobs]


async def retry_store(store: Callable[[], Awaitable[list[EnqueueResult]]]) -> list[EnqueueResult]:
    """Store jobs; if the answer was lost, repeat it, which stores nothing twice."""
    for repeat in range(1, _REPEATS):
        try:
            return await store()
        except DatabaseOutage:
            await asyncio.sleep(0.1 * 2**repeat)
    return await store()


def _split_conflicting(
    batch: list[PendingEnqueue],
) -> tuple[list[PendingEnqueue], list[PendingEnqueue]]:
    """Keep at most one job per key in a statement: it cannot meet a row it has just made."""
    now: list[PendingEnqueue] = []
    later: list[PendingEnqueue] = []
    seen: set[tuple[str, str, str]] = set()
    if not any(job.after or requested_keys(job) for job, _ in batch):
        return batch, []
    for job, answer in batch:
        keys = set(requested_keys(job))
        if keys & seen or any(parent in {j.id for j, _ in later} for parent in job.after):
            later.append((job, answer))
        else:
            seen |= keys
            now.append((job, answer))
    return now, later


def requested_keys(job: NewJob) -> list[tuple[str, str, str]]:
    """The keys a job asks for, as (tenant, kind, key)."""
    keys: list[tuple[str, str, str]] = []
    if job.dedupe_key is not None:
        keys.append((job.tenant, "dedupe", job.dedupe_key))
    if job.idempotency_key is not None:
        keys.append((job.tenant, "idempotency", job.idempotency_key))
    return keys
