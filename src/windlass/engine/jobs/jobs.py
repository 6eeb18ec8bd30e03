"""The user's side of the queue: enqueue, find, cancel, retry, explain."""

import asyncio
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import timedelta
from functools import partial
from graphlib import CycleError, TopologicalSorter
from types import MappingProxyType
from typing import NoReturn, assert_never

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
    NewJob,
    OnDuplicate,
    Receipt,
    ReceiptStatus,
    Scope,
    Transition,
)
from windlass.core.jobs.states import ENDED, JobState, Verb, states_for
from windlass.core.payloads.json_text import load_json
from windlass.core.text import storable
from windlass.engine.access.audit import Target
from windlass.engine.definitions.definitions import Definitions
from windlass.engine.jobs.enqueue_batcher import (
    EnqueueBatcher,
    requested_keys,
    store_with_retry,
)
from windlass.engine.jobs.enqueue_rights import EnqueueRights
from windlass.engine.jobs.explain import Explanation, explain, key_missing
from windlass.engine.jobs.open_job_caps import OpenJobCaps
from windlass.engine.jobs.payload_encryption import JobSealer, Sealer
from windlass.engine.jobs.update_time import PAST, begun
from windlass.engine.leases.leases import cancel_overdue
from windlass.engine.nudges import Nudges
from windlass.errors import (
    AmbiguousId,
    BatchRefused,
    DefinitionDisabled,
    DefinitionNotFound,
    DuplicateJob,
    IdInvalid,
    JobFailed,
    JobNotFound,
    JobStateConflict,
    KeyReused,
    OptionInvalid,
    ParentInvalid,
    TenantNotFound,
    TenantSuspended,
    WaitTimedOut,
    WindlassError,
)
from windlass.errors.wording import quoted
from windlass.ids import JobId, parse_job_id, parse_suffix
from windlass.storage.database import Session
from windlass.storage.jobs.enqueue import replace_waiting_job
from windlass.storage.jobs.jobs import (
    EnqueueRequest,
    EnqueueResult,
    EnqueueStatus,
    IncompleteBatch,
    RelatedJob,
    store,
)
from windlass.storage.storage import Storage

_CHUNK = 2000
_POLLS = (0.02, 0.05, 0.1, 0.2, 0.5)


class Jobs:
    """Verbs that make or change work take `by`, the principal whose right to enqueue is asked for;
    None is the program itself. `actor` is the name that the job's history shows."""

    def __init__(
        self,
        storage: Storage,
        definitions: Definitions,
        nudges: Nudges,
        rights: EnqueueRights,
        sealer: Sealer,
    ) -> None:
        self._storage = storage
        self._sealer = sealer
        self._job_sealer = JobSealer(sealer, definitions)
        self._definitions = definitions
        self._nudges = nudges
        self._rights = rights
        self._enqueue_batcher = EnqueueBatcher(storage)
        self.caps = OpenJobCaps(storage)

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
        if over := await self.caps.over([job]):
            return Receipt(ReceiptStatus.REJECTED, job.id, over[job.id])
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
        over = await self.caps.over(jobs)
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
        over = await self.caps.over(jobs)
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

    def check_repeated(self, job: NewJob, existing: Job, *, key: str) -> None:
        """Raise KeyReused if a job that was met by an idempotency key is of another definition, or has
        another payload."""
        if existing.idempotency_key != key or job.idempotency_key != key:
            return  # another key of it was met
        given = load_json(job.payload)
        stored = self._sealer.open_if_possible(existing).payload
        if (job.definition, given) != (existing.definition, stored):
            raise KeyReused(key)

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
        after = await self.get(job.id, scope)
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
        """The job once it has completed. Raises JobFailed if it ends otherwise."""
        job = await self.get(id, scope)
        until = clock.monotonic() + timeout.total_seconds()
        for poll in _polls():
            if job.state is JobState.COMPLETED:
                return job
            if job.ended:
                raise JobFailed(
                    job.id,
                    state=job.state,
                    error_type=job.error_type,
                    error=job.last_error or job.reason,
                )
            if clock.monotonic() >= until:
                raise WaitTimedOut(job.id, seconds=timeout.total_seconds(), state=job.state)
            await asyncio.sleep(min(poll, max(0.0, until - clock.monotonic())))
            job = await self.get(job.id, scope)
        raise AssertionError("unreachable")

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


def _polls() -> Iterator[float]:
    yield from _POLLS
    while True:
        yield _POLLS[-1]
