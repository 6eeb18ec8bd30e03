"""Enqueue jobs in bulk, in one transaction, or through a caller's transaction."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType

from windlass.core.access.audit import Target
from windlass.core.access.principal import Principal
from windlass.core.access.roles import Right
from windlass.core.jobs.models import NewJob, OnDuplicate, Receipt, ReceiptStatus
from windlass.core.jobs.options import PreparedJob
from windlass.engine.jobs.enqueue import Enqueuer, requested_keys, store_with_retry
from windlass.errors import (
    BatchRefused,
    OptionInvalid,
    WindlassError,
)
from windlass.ids import JobId
from windlass.storage.database import Session
from windlass.storage.jobs.enqueue import replace_waiting_job
from windlass.storage.jobs.jobs import (
    EnqueueRequest,
    EnqueueResult,
    EnqueueStatus,
    IncompleteBatch,
    store,
)

#: Jobs stored by one statement.
_CHUNK = 2000


class BulkEnqueue(Enqueuer):
    """The enqueue verbs for more than one job, beside those for one."""

    async def submit_together(
        self, prepared: Sequence[PreparedJob], *, by: Principal | None = None
    ) -> list[Receipt]:
        """Enqueue jobs in one transaction, or none of them, inside the hooks."""
        with self.hooked([each.job for each in prepared]) as sent:
            asked = [
                EnqueueRequest(job, each.on_duplicate)
                for job, each in zip(sent, prepared, strict=True)
            ]
            return await self.enqueue_together(asked, by=by)

    async def enqueue_many(
        self,
        jobs: Sequence[NewJob],
        *,
        on_duplicate: OnDuplicate = "existing",
        progress: Callable[[int, int], None] | None = None,
    ) -> list[Receipt]:
        """Store many jobs, a few thousand per statement, and answer a receipt for each.

        Each statement stores all of its jobs or none; `progress` is told (done, all) after it.
        """
        await self.check(jobs)
        jobs = await self._job_sealer.seal(jobs)
        receipts: list[Receipt] = []
        over = await self._caps.over(jobs)
        enqueue = partial(self._storage.jobs.enqueue, whole=True, existing=on_duplicate != "error")
        for chunk in _chunks(jobs):
            fitting = [job for job in chunk if job.id not in over] if over else chunk
            try:
                stored = await store_with_retry(self._storage, fitting, enqueue)
            except IncompleteBatch as refused:
                await self._receipts(fitting, refused.stored, on_duplicate)
                raise
            if on_duplicate == "replace":
                stored = [
                    await self._storage.jobs.replace(job, s.existing_id) if s.existing_id else s
                    for job, s in zip(fitting, stored, strict=True)
                ]
            stored = _merge_rejected(chunk, stored, over)
            receipts += await self._receipts(chunk, stored, on_duplicate)
            await self._publish_stored(chunk, stored)
            if progress:
                progress(len(receipts), len(jobs))
        return receipts

    async def enqueue_together(
        self, asked: Sequence[EnqueueRequest], *, by: Principal | None = None
    ) -> list[Receipt]:
        """Store jobs in one transaction, and answer a receipt for each.

        BatchRefused, and none is stored, if one is refused; it names all that are. A job for which its
        tenant has no room is answered `rejected`, as it is alone, and the others are stored.
        """
        jobs = [each.job for each in asked]
        await self._rights.require_all(by, jobs, Right.JOBS_ENQUEUE, Target("job"))
        refused: dict[int, WindlassError] = {}
        for place, job in enumerate(jobs):
            try:
                await self.check([job])
            except OptionInvalid as error:
                refused[place] = error
        if refused:
            raise BatchRefused(refused)
        over = await self._caps.over(jobs)
        sealed = await self._job_sealer.seal([job for job in jobs if job.id not in over])
        fitting = {
            job.id: EnqueueRequest(
                job, each.on_duplicate, self._rights.replaceable_owner(by, job.tenant)
            )
            for job, each in zip(sealed, (e for e in asked if e.job.id not in over), strict=True)
        }
        try:
            stored = await store_with_retry(
                self._storage,
                sealed,
                lambda left: self._storage.jobs.enqueue_together(
                    [[fitting[job.id] for job in chunk] for chunk in _chunks(left)]
                ),
            )
        except IncompleteBatch as error:
            for job, answer in zip(sealed, error.stored, strict=True):
                try:
                    await self.receipt(job, answer, fitting[job.id].on_duplicate)
                except WindlassError as problem:
                    refused[next(n for n, each in enumerate(jobs) if each.id == job.id)] = problem
            raise BatchRefused(refused) from None
        receipts = [
            await self.receipt(each.job, answer, each.on_duplicate)
            for each, answer in zip(asked, _merge_rejected(jobs, stored, over), strict=True)
        ]
        await self._publish_stored(sealed, stored)
        return receipts

    async def enqueue_in(
        self,
        session: Session,
        jobs: Sequence[NewJob],
        *,
        on_duplicate: OnDuplicate = "existing",
        over: Mapping[JobId, str] = MappingProxyType({}),
    ) -> list[EnqueueResult]:
        """Store jobs through a caller's own transaction: they exist once that commits.

        Awaits nothing but the session, so that it can be driven without a loop over a blocking
        one; `joined` then says what the answer means.
        """
        answers: list[EnqueueResult] = []
        jobs = self._job_sealer.seal_known(jobs)
        for chunk in _chunks([job for job in jobs if job.id not in over]):
            for job, stored in zip(chunk, await store(session, chunk), strict=True):
                if on_duplicate == "replace" and stored.existing_id is not None:
                    answers.append(await replace_waiting_job(session, job, stored.existing_id))
                else:
                    answers.append(stored)
        return _merge_rejected(jobs, answers, over)

    async def joined(
        self, jobs: Sequence[NewJob], stored: Sequence[EnqueueResult], on_duplicate: OnDuplicate
    ) -> list[Receipt]:
        """What the answer of `enqueue_in` means. Workers are woken about when the caller's
        transaction is likely to have committed."""
        receipts = await self._receipts(jobs, stored, on_duplicate)
        self._nudges.nudge_after_commit({job.queue for job in jobs})
        return receipts

    async def _receipts(
        self, jobs: Sequence[NewJob], stored: Sequence[EnqueueResult], on_duplicate: OnDuplicate
    ) -> list[Receipt]:
        return [
            Receipt(ReceiptStatus.CREATED, job.id)
            if s.status is EnqueueStatus.CREATED
            else await self.receipt(job, s, on_duplicate)
            for job, s in zip(jobs, stored, strict=True)
        ]


def _merge_rejected(
    jobs: Sequence[NewJob], stored: Sequence[EnqueueResult], over: Mapping[JobId, str]
) -> list[EnqueueResult]:
    """The answers for all jobs: for those that were stored, and for those that never were."""
    if not over:
        return list(stored)
    rest = iter(stored)
    return [
        EnqueueResult(job.id, EnqueueStatus.REJECTED, because=over[job.id])
        if job.id in over
        else next(rest)
        for job in jobs
    ]


def _chunks(jobs: Sequence[NewJob]) -> list[list[NewJob]]:
    """A few thousand jobs each; a key that comes again begins a new one, so that it is met."""
    if not any(map(requested_keys, jobs)):
        return [list(jobs[n : n + _CHUNK]) for n in range(0, len(jobs), _CHUNK)]
    chunks: list[list[NewJob]] = [[]]
    seen: set[tuple[str, str, str]] = set()
    for job in jobs:
        keys = set(requested_keys(job))
        if len(chunks[-1]) >= _CHUNK or keys & seen:
            chunks.append([])
            seen = set()
        chunks[-1].append(job)
        seen |= keys
    return [chunk for chunk in chunks if chunk]
