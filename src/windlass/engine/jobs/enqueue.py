"""Enqueue jobs: alone, in bulk, in one transaction, or through a caller's transaction."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import partial
from graphlib import CycleError, TopologicalSorter
from types import MappingProxyType
from typing import Any, assert_never

from windlass import clock
from windlass.core.access.principal import Principal
from windlass.core.access.roles import Right
from windlass.core.jobs.models import Job, NewJob, OnDuplicate, Receipt, ReceiptStatus, Scope
from windlass.core.jobs.options import OptionSet, PreparedJob
from windlass.core.payloads.json_text import load_json
from windlass.engine.access.audit import Target
from windlass.engine.definitions.definitions import Definitions
from windlass.engine.jobs.enqueue_batcher import (
    EnqueueBatcher,
    requested_keys,
    store_with_retry,
)
from windlass.engine.jobs.enqueue_rights import EnqueueRights
from windlass.engine.jobs.open_job_caps import OpenJobCaps
from windlass.engine.jobs.payload_encryption import JobSealer, Sealer
from windlass.engine.jobs.update_time import PAST
from windlass.engine.leases.leases import cancel_overdue
from windlass.engine.nudges import Nudges
from windlass.errors import (
    BatchRefused,
    DefinitionDisabled,
    DefinitionNotFound,
    DuplicateJob,
    KeyReused,
    OptionInvalid,
    ParentInvalid,
    TenantNotFound,
    TenantSuspended,
    WindlassError,
)
from windlass.errors.wording import quoted
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
from windlass.storage.storage import Storage

#: Jobs stored by one statement.
_CHUNK = 2000

EnqueueHook = Callable[[Sequence[NewJob]], AbstractContextManager[Sequence[NewJob]]]


class Enqueue:
    """The enqueue verbs of `engine.jobs`. `by` is the principal whose right to enqueue is checked; None
    is the program itself."""

    def __init__(
        self,
        storage: Storage,
        definitions: Definitions,
        nudges: Nudges,
        rights: EnqueueRights,
        sealer: Sealer,
        caps: OpenJobCaps,
        hooks: Sequence[EnqueueHook] = (),
    ) -> None:
        self._storage = storage
        self._sealer = sealer
        self._job_sealer = JobSealer(sealer, definitions)
        self._definitions = definitions
        self._nudges = nudges
        self._rights = rights
        self._enqueue_batcher = EnqueueBatcher(storage)
        self._caps = caps
        self._hooks = hooks

    async def prepare(
        self, key: str, payload: Mapping[str, Any] | None, options: OptionSet
    ) -> PreparedJob:
        """A job of a definition by its key, with payload and options checked; nothing is stored."""
        definition, text = await self._definitions.encode_payload(key, payload)
        return PreparedJob(options.job(definition, text), options.on_duplicate(definition))

    async def submit(
        self,
        job: NewJob,
        *,
        on_duplicate: OnDuplicate = "existing",
        by: Principal | None = None,
    ) -> Receipt:
        """Enqueue a job inside the hooks that the program has set around enqueues."""
        if not self._hooks:
            return await self.enqueue(job, on_duplicate=on_duplicate, by=by)
        with self.hooked([job]) as [sent]:
            return await self.enqueue(sent, on_duplicate=on_duplicate, by=by)

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

    @contextmanager
    def hooked(self, jobs: Sequence[NewJob]) -> Iterator[Sequence[NewJob]]:
        """Enter the hooks around enqueues; yields the jobs that they return."""
        with ExitStack() as stack:
            for hook in self._hooks:
                jobs = stack.enter_context(hook(jobs))
            yield jobs

    async def enqueue(
        self,
        job: NewJob,
        *,
        on_duplicate: OnDuplicate = "existing",
        by: Principal | None = None,
    ) -> Receipt:
        """Store a job durably and say what became of it.

        Bad input raises; a duplicate is an ordinary answer unless `on_duplicate` is "error". With
        "replace", a waiting job of the same definition that `by` may change gets the new payload.
        """
        await self.check([job], by=by)
        if self._caps.caps and (over := await self._caps.over([job])):
            return Receipt(ReceiptStatus.REJECTED, job.id, over[job.id])
        if self._sealer.first_key_id is not None:
            [job] = await self._job_sealer.seal([job])
        stored = await self._enqueue_batcher.enqueue(job)
        if on_duplicate == "replace" and stored.existing_id is not None:
            owner = self._rights.replaceable_owner(by, job.tenant)
            stored = await self._storage.jobs.replace(job, stored.existing_id, owner=owner)
        receipt = await self.receipt(job, stored, on_duplicate)
        await self._publish_stored([job], [stored])
        return receipt

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

    async def check(self, jobs: Sequence[NewJob], *, by: Principal | None = None) -> None:
        """Refuse what can be seen to be wrong before anything is stored."""
        if by is not None:
            await self._rights.require_all(by, jobs, Right.JOBS_ENQUEUE, Target("job"))
        _check_cycles(jobs)
        # This machine's clock only says whom to ask about: the database's decides what is past.
        long_ago = clock.utcnow() - PAST
        asked = [job.due_at for job in jobs if job.due_at is not None and job.due_at < long_ago]
        if asked and min(asked) < await self._storage.now() - PAST:
            raise OptionInvalid("at", min(asked).isoformat(), allowed="a time from now on")

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

    def check_repeated(self, job: NewJob, existing: Job, *, key: str) -> None:
        """Raise KeyReused if a job that was met by an idempotency key is of another definition, or has
        another payload."""
        if existing.idempotency_key != key or job.idempotency_key != key:
            return  # another key of it was met
        given = load_json(job.payload)
        stored = self._sealer.open_if_possible(existing).payload
        if (job.definition, given) != (existing.definition, stored):
            raise KeyReused(key)

    async def check_parents(
        self, ids: Sequence[JobId], scope: Scope, *, created_by: str | None = None
    ) -> None:
        """Raise ParentInvalid for the first of these jobs that does not exist, is beyond the scope, or
        was made by somebody else than `created_by`, if that is given."""
        visible = (
            await self._storage.jobs.visible_job_ids(scope, ids, created_by=created_by)
            if ids
            else set()
        )
        for id in ids:
            if id not in visible:
                raise ParentInvalid(id, because="unknown")

    async def receipt(
        self, job: NewJob, stored: EnqueueResult, on_duplicate: OnDuplicate
    ) -> Receipt:
        """What enqueue answers for a job; raises for one that was refused."""
        match stored.status:
            case EnqueueStatus.CREATED:
                return Receipt(ReceiptStatus.CREATED, job.id)
            case EnqueueStatus.EXISTING:
                because = ", ".join(
                    f"{kind} key {quoted(key)}" for _, kind, key in requested_keys(job)
                )
                existing = stored.existing_id or job.id
                if on_duplicate == "error":
                    raise DuplicateJob(existing, because=because)
                return Receipt(ReceiptStatus.EXISTING, existing, because)
            case EnqueueStatus.REPLACED:
                return Receipt(
                    ReceiptStatus.EXISTING, stored.existing_id or job.id, "it has the new payload"
                )
            case EnqueueStatus.REJECTED:
                return Receipt(ReceiptStatus.REJECTED, job.id, stored.because)
            case EnqueueStatus.UNKNOWN_DEFINITION:
                await self._definitions.get(job.definition)  # names those that are alike
                raise DefinitionNotFound(job.definition, known=[])  # it was added since
            case EnqueueStatus.DISABLED_DEFINITION:
                raise DefinitionDisabled(job.definition)
            case EnqueueStatus.SUSPENDED_TENANT:
                raise TenantSuspended(job.tenant)
            case EnqueueStatus.UNKNOWN_PARENT:
                await self.check_parents(job.after, Scope(job.tenant))
                raise ParentInvalid(job.after[0], because="unknown")
            case EnqueueStatus.UNKNOWN_TENANT:
                raise TenantNotFound(job.tenant)
            case never:
                assert_never(never)

    async def _receipts(
        self, jobs: Sequence[NewJob], stored: Sequence[EnqueueResult], on_duplicate: OnDuplicate
    ) -> list[Receipt]:
        return [
            Receipt(ReceiptStatus.CREATED, job.id)
            if s.status is EnqueueStatus.CREATED
            else await self.receipt(job, s, on_duplicate)
            for job, s in zip(jobs, stored, strict=True)
        ]

    async def _publish_stored(
        self, jobs: Sequence[NewJob], stored: Sequence[EnqueueResult]
    ) -> None:
        """What upkeep would find later: children whose parents have ended already, and work."""
        created = [
            job for job, s in zip(jobs, stored, strict=True) if s.status is EnqueueStatus.CREATED
        ]
        if children := [job.id for job in created if job.after or job.runs_after]:
            await self._storage.leases.admit(children)
            await cancel_overdue(self._storage)
        due = {job.queue for job in created if not job.held and not job.delay and not job.due_at}
        if due:
            self._nudges.nudge(due)


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


def _check_cycles(jobs: Sequence[NewJob]) -> None:
    children = {job.id: job.after for job in jobs if job.after}
    if not children:
        return
    try:
        TopologicalSorter(children).prepare()
    except CycleError as error:
        raise ParentInvalid(error.args[1][0], because="cycle") from None


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
