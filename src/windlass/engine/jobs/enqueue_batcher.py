"""Batches of single enqueues: those that come while a batch is being stored form the next one.

A batch costs one round trip. No added latency: a lone job is sent immediately.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence, Set
from uuid import UUID

from windlass.core.jobs.models import NewJob
from windlass.errors import DatabaseOutage
from windlass.storage.jobs.jobs import EnqueueResult, IncompleteBatch
from windlass.storage.storage import Storage
from windlass.tasks import bound_tenant, spawn_unbound

#: A job and the caller that waits for its result.
PendingEnqueue = tuple[NewJob, "asyncio.Future[EnqueueResult]"]
#: A verb of storage that stores jobs.
StoreJobs = Callable[[Sequence[NewJob]], Awaitable[list[EnqueueResult]]]

_MOST = 1000
#: Batches under way at once; more would only wait for the same disk.
_LANES = 2
#: Seconds to wait after each failed try of a store; None ends them.
_PAUSES = (0.1, 0.2, None)


class EnqueueBatcher:
    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._waiting: list[PendingEnqueue] = []
        self._lanes: set[asyncio.Task[None]] = set()

    async def enqueue(self, job: NewJob) -> EnqueueResult:
        """Store one job, together with others that come at the same time.

        A task that is bound to a tenant shares no statement with others.
        """
        if bound_tenant() is not None:
            [stored] = await store_with_retry(self._storage, [job])
            return stored
        answer: asyncio.Future[EnqueueResult] = asyncio.get_running_loop().create_future()
        self._waiting.append((job, answer))
        if len(self._lanes) < _LANES:
            lane = spawn_unbound(self._drain())
            self._lanes.add(lane)
            lane.add_done_callback(self._lanes.discard)
        # A caller that gives up lets go of its answer, and takes nothing of the others' batch.
        return await answer

    async def _drain(self) -> None:
        while self._waiting:
            batch, self._waiting = self._waiting[:_MOST], self._waiting[_MOST:]
            batch, later = _split_conflicting(batch)
            self._waiting = later + self._waiting
            try:
                stored = await store_with_retry(self._storage, [job for job, _ in batch])
            except Exception as error:  # noqa: BLE001  every caller of the batch gets it
                for _, answer in batch:
                    if not answer.done():
                        answer.set_exception(error)
            else:
                for (_, answer), result in zip(batch, stored, strict=True):
                    if not answer.done():
                        answer.set_result(result)


async def store_with_retry(
    storage: Storage, jobs: Sequence[NewJob], store: StoreJobs | None = None
) -> list[EnqueueResult]:
    """Store jobs; after an outage, look which were stored and repeat the rest with the same ids."""
    stored: Set[UUID] = frozenset()
    for tries, pause in enumerate(_PAUSES):
        try:
            if tries:
                stored = await storage.jobs.existing_job_ids([job.id for job in jobs])
            left = [job for job in jobs if job.id not in stored] if stored else jobs
            results = await (store or storage.jobs.enqueue)(left) if left else []
            return _merge_stored(jobs, stored, results)
        except IncompleteBatch as refused:
            raise IncompleteBatch(_merge_stored(jobs, stored, refused.stored)) from None
        except DatabaseOutage:
            if pause is None:
                raise
            await asyncio.sleep(pause)
    raise AssertionError("unreachable")


def _merge_stored(
    jobs: Sequence[NewJob], stored: Set[UUID], results: Sequence[EnqueueResult]
) -> list[EnqueueResult]:
    """The results of all jobs: those an earlier try stored, and the rest."""
    rest = iter(results)
    return [EnqueueResult(job.id) if job.id in stored else next(rest) for job in jobs]


def _split_conflicting(
    batch: list[PendingEnqueue],
) -> tuple[list[PendingEnqueue], list[PendingEnqueue]]:
    """Split a batch so that a statement has one job per key: it cannot see a row of its own."""
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
