"""Enqueue a job: check it, store it with those that come at the same time, return its receipt."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence, Set
from contextlib import AbstractContextManager, ExitStack, contextmanager
from graphlib import CycleError, TopologicalSorter
from typing import Any, assert_never
from uuid import UUID

from windlass import clock
from windlass.core.access.audit import Target
from windlass.core.access.principal import Principal
from windlass.core.access.roles import Right
from windlass.core.jobs.models import Job, NewJob, OnDuplicate, Receipt, ReceiptStatus, Scope
from windlass.core.jobs.options import OptionSet, PreparedJob
from windlass.core.payloads.json_text import load_json
from windlass.engine.definitions.definitions import Definitions
from windlass.engine.jobs.enqueue_rights import EnqueueRights
from windlass.engine.jobs.open_job_caps import OpenJobCaps
from windlass.engine.jobs.payload_encryption import JobSealer, Sealer
from windlass.engine.jobs.update_time import PAST
from windlass.engine.leases.maintenance import cancel_overdue
from windlass.engine.nudges import Nudges
from windlass.errors import (
    DatabaseOutage,
    DefinitionDisabled,
    DefinitionNotFound,
    DuplicateJob,
    KeyReused,
    OptionInvalid,
    ParentInvalid,
    TenantNotFound,
    TenantSuspended,
)
from windlass.errors.wording import quoted
from windlass.ids import JobId
from windlass.storage.jobs.jobs import (
    EnqueueResult,
    EnqueueStatus,
    IncompleteBatch,
)
from windlass.storage.storage import Storage
from windlass.tasks import bound_tenant, spawn_unbound

#: A job and the caller that waits for its result.
PendingEnqueue = tuple[NewJob, "asyncio.Future[EnqueueResult]"]
#: A verb of storage that stores jobs.
StoreJobs = Callable[[Sequence[NewJob]], Awaitable[list[EnqueueResult]]]

#: Jobs of one batch.
_MOST_AT_ONCE = 1000
#: Batches under way at once; more would only wait for the same disk.
_LANES = 2
#: Seconds to wait after each failed try of a store; None ends them.
_PAUSES = (0.1, 0.2, None)

EnqueueHook = Callable[[Sequence[NewJob]], AbstractContextManager[Sequence[NewJob]]]


class Enqueuer:
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


def _check_cycles(jobs: Sequence[NewJob]) -> None:
    children = {job.id: job.after for job in jobs if job.after}
    if not children:
        return
    try:
        TopologicalSorter(children).prepare()
    except CycleError as error:
        raise ParentInvalid(error.args[1][0], because="cycle") from None


class EnqueueBatcher:
    """Batches of single enqueues: those that come while a batch is being stored form the next one.

    A batch costs one round trip. No added latency: a lone job is sent immediately.
    """

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
            batch, self._waiting = self._waiting[:_MOST_AT_ONCE], self._waiting[_MOST_AT_ONCE:]
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
