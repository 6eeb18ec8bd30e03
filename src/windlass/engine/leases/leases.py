"""The worker's side of the queue: claim, renew, finish, reap."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from random import Random
from typing import TYPE_CHECKING, Any

from windlass.core.definitions.backoff import Backoff
from windlass.core.jobs import outcome
from windlass.core.jobs.models import ALL_TENANTS, LogLine
from windlass.core.jobs.outcome import AttemptEnd
from windlass.core.jobs.states import ENDED, JobState, Outcome
from windlass.core.leases.gates import is_suspect
from windlass.core.leases.lease import Lease, LeaseRef, ProgressReport, RenewedLease
from windlass.core.leases.suspects import LostAttempt, judge_loss
from windlass.core.payloads.encrypted_fields import SEALED, is_sealed
from windlass.core.payloads.json_text import load_json
from windlass.core.payloads.result import encode_anything
from windlass.core.text import clean
from windlass.engine.jobs.payload_encryption import Sealer
from windlass.engine.leases.claim_planner import ClaimPlanner
from windlass.engine.leases.maintenance import cancel_overdue
from windlass.engine.nudges import Nudges
from windlass.errors import PayloadKeyMissing, PayloadUndecryptable, Stopped, WindlassError
from windlass.errors.wording import counted
from windlass.ids import JobId, TenantId, WorkerId
from windlass.storage.leases.expired import ExpiredLease
from windlass.storage.leases.leases import finish_batch, log_batch, once_key_batch
from windlass.storage.storage import Storage
from windlass.telemetry import Telemetry

if TYPE_CHECKING:
    from windlass.engine.triggers.events import Events
    from windlass.storage.callers import CallerSession

#: Hard ceilings on what an attempt may leave behind, in bytes; settings can lower them.
ERROR_BYTES = 64 * 1024
TYPE_BYTES = 191
NOTE_BYTES = 1024
LINE_BYTES = 16 * 1024

#: How long a job whose key is missing waits for a worker that has it.
_WITHOUT_KEY = timedelta(minutes=1)
_UNSTORABLE = "the outcome's own text could not be stored"
#: What the error of a lost attempt ends in that was given back.
UNCOUNTED = "(the attempt does not count)"


@dataclass(frozen=True, slots=True)
class ClaimResult:
    """What a claim brought, and how long until a job not yet due becomes so (None: none)."""

    leases: Sequence[Lease]
    next_due_in: timedelta | None


#: The worker of a `Leases` that was made without one. It holds no lease, so it can change none.
NO_WORKER = WorkerId("nobody")


class Leases:
    """One worker's hold on jobs. It keeps its turn among tenants, so make one per worker: all but
    `claim`, `expired` and `reap` touch only leases that `worker` holds.
    `who` tells the lease behind a token, while it is still known."""

    def __init__(
        self,
        storage: Storage,
        nudges: Nudges,
        events: "Events",
        telemetry: Telemetry,
        who: Callable[[LeaseRef], Lease | None] = lambda held: None,
        sealer: Sealer | None = None,
        worker: WorkerId = NO_WORKER,
    ) -> None:
        self._worker = worker
        self._sealer = sealer or Sealer()
        self._storage = storage
        self._nudges = nudges
        self._events = events
        self._telemetry = telemetry
        self._who = who
        self._claim_planner = ClaimPlanner(storage)

    async def claim(
        self,
        worker: WorkerId,
        limit: int,
        *,
        queues: Collection[str] | None,
        known: Collection[str],
        lease_time: timedelta,
        nudged: bool = False,
    ) -> ClaimResult:
        """Lease up to `limit` due jobs that `worker` knows how to run.

        Tenants share fairly and no limit is exceeded. Fewer than `limit`, even none, is an
        ordinary answer. Each lease carries its token. `queues` None means all; `nudged` says that
        something has just come.
        """
        if limit < 1 or not known:
            return ClaimResult((), None)
        leases, next_due_in = await self._claim_planner.claim(
            worker, limit, queues=queues, known=known, lease_time=lease_time, nudged=nudged
        )
        if any(SEALED in lease.payload and is_sealed(lease.payload) for lease in leases):
            leases = await self._open(leases)
        self._telemetry.claimed(worker, leases)
        return ClaimResult(leases, next_due_in)

    async def _open(self, leases: Sequence[Lease]) -> list[Lease]:
        """Leases with their payloads decrypted. Whose key is missing here is put back, not counted;
        what does not decrypt with its key never will, and fails."""
        opened: list[Lease] = []
        ends: list[AttemptEnd] = []
        for lease in leases:
            try:
                payload = self._sealer.open_text(lease.definition, lease.tenant, lease.payload)
                opened.append(lease._replace(payload=payload))
            except PayloadKeyMissing as error:
                self._telemetry.warn(str(error), code=error.code, job_id=str(lease.job_id))
                ends.append(outcome.released(lease.held, delay=_WITHOUT_KEY))
            except PayloadUndecryptable as error:
                ends.append(_undecryptable(lease, error))
        await self.finish(ends)
        return opened

    async def release_unknown(self, held: Collection[LeaseRef]) -> int:
        """Hand back, uncounted, the leases of this worker that are not among those it knows to hold: a
        claim took them, and its answer was lost. Never call it while a claim is under way."""
        known = set(held)  # as it is before the look: what ends meanwhile is not seen either
        unknown = await self._storage.leases.worker_leases(self._worker) - known
        released = await self.finish([outcome.released(lease) for lease in sorted(unknown)])
        if released:
            self._telemetry.warn(
                "handed back what a claim brought whose answer was lost",
                worker_id=self._worker,
                job_ids=[str(lease.job_id) for lease in released],
            )
            self._nudges.nudge_all()
        return len(released)

    async def renew(self, held: Sequence[LeaseRef], *, lease_time: timedelta) -> list[RenewedLease]:
        """Extend leases, in one statement. A lease missing from the answer is lost."""
        return (
            await self._storage.leases.renew(self._worker, held, lease_time=lease_time)
            if held
            else []
        )

    async def stops(self, held: Sequence[LeaseRef]) -> set[JobId]:
        """Which of these jobs are asked to stop; cheaper than a renewal, for looking often."""
        return await self._storage.leases.cancel_requests(self._worker, held) if held else set()

    async def report(self, progress: Sequence[ProgressReport]) -> None:
        """Record progress of leases still held; of others it is dropped."""
        if progress:
            await self._storage.leases.record_progress(
                self._worker,
                [replace(p, note=p.note and clean(p.note, NOTE_BYTES)) for p in progress],
            )

    async def log(self, lines: Sequence[LogLine]) -> None:
        """Add log lines of leases still held; of others they are dropped.

        One that a database refuses all the same must not keep the others, and its job's end,
        from being recorded.
        """
        cleaned = [replace(line, message=clean(line.message, LINE_BYTES)) for line in lines]
        try:
            if cleaned:
                await self._storage.leases.append_logs(self._worker, cleaned)
        except WindlassError:
            raise
        except Exception as error:  # noqa: BLE001  the content: an outage is a WindlassError
            self._telemetry.trouble("writing logs", error)
            if len(cleaned) > 1:
                for line in cleaned:
                    await self.log([line])

    async def is_done(self, tenant: TenantId, key: str) -> bool:
        """Whether a completed job that is kept has noted this key for its tenant."""
        return await self._storage.leases.once_key_exists(tenant, key)

    async def finish(self, finishes: Sequence[AttemptEnd]) -> dict[LeaseRef, JobState]:
        """Record how attempts ended. A lease missing from the answer was lost before.

        It cannot fail because of what the outcomes say: what no database would store is
        replaced, and if a batch is refused all the same, each outcome is recorded by itself.
        """
        if not finishes:
            return {}
        cleaned = [storable_finish(finish) for finish in finishes]
        try:
            ended = await self._storage.leases.finish(self._worker, cleaned)
        except WindlassError:
            raise
        except Exception as error:  # noqa: BLE001  the content: an outage is a WindlassError
            self._telemetry.trouble("finish", error)
            ended = await self._one_by_one(cleaned)
        await self._after_finish(finishes, ended)
        return ended

    async def expired(self) -> list[ExpiredLease]:
        """Leases that ran out and were not taken back yet; looking changes nothing."""
        return await self._storage.leases.expired_leases()

    async def reap(
        self, expired: Sequence[ExpiredLease], seen: Collection[ExpiredLease] = ()
    ) -> dict[LeaseRef, JobState]:
        """Take back leases that are still run out: their jobs go again, or are set aside.

        `seen` are all that ran out of late, also those that were taken back already: a job that was
        not alone on its worker is not to blame yet.
        """
        if not expired:
            return {}
        losses = await self._find_losses(expired, [*expired, *seen])
        ended = await self._storage.leases.reap(
            [_lost(lease, losses[lease.held]) for lease in expired]
        )
        for lease in expired:
            if state := ended.get(lease.held):
                self._telemetry.reaped(lease, state, losses[lease.held])
        if ended:
            self._nudges.nudge_all()
        await self._after_finish([], ended)
        return ended

    async def _find_losses(
        self, expired: Sequence[ExpiredLease], seen: Sequence[ExpiredLease]
    ) -> dict[LeaseRef, LostAttempt]:
        there: dict[WorkerId | None, dict[JobId, bool]] = {}
        for lease in seen:
            there.setdefault(lease.worker_id, {})[lease.job_id] = is_suspect(lease.gate)
        losses = {}
        for lease in expired:
            others = there[lease.worker_id].keys() - {lease.job_id}
            losses[lease.held] = LostAttempt(
                definition=lease.definition,
                gate=lease.gate,
                attempts=lease.attempts,
                max_attempts=lease.max_attempts,
                worker_deaths=lease.worker_deaths,
                neighbours=len(others),
                suspects=sum(there[lease.worker_id][other] for other in others),
                lost_before=0 if others else await self._lost_before(lease),
            )
        return losses

    async def _lost_before(self, lease: ExpiredLease) -> int:
        """How often its worker lost this job before, and lived on."""
        job = await self._storage.jobs.get(ALL_TENANTS, lease.job_id) if lease.token > 1 else None
        if job is None:
            return 0
        return sum(
            attempt.outcome is Outcome.LOST and attempt.worker_id == lease.worker_id
            for attempt in await self._storage.jobs.attempts(job)
            if attempt.number != lease.token
        )

    async def _one_by_one(self, finishes: Sequence[AttemptEnd]) -> dict[LeaseRef, JobState]:
        ended: dict[LeaseRef, JobState] = {}
        for finish in finishes:
            try:
                ended |= await self._storage.leases.finish(self._worker, [finish])
            except WindlassError:
                raise
            except Exception as error:  # noqa: BLE001  as above
                self._telemetry.trouble("finish", error, job_id=finish.job_id)
                ended |= await self._finish_without_text(finish)
        return ended

    async def _finish_without_text(self, finish: AttemptEnd) -> dict[LeaseRef, JobState]:
        try:
            # Without its event too: an end must not fail because of whom it is told.
            return await self._storage.leases.finish(
                self._worker, [without_text(finish)], emit=False
            )
        except WindlassError:
            raise
        except Exception as error:  # noqa: BLE001  others must not wait for it; its lease will run out
            self._telemetry.trouble("finish without its text", error, job_id=finish.job_id)
            return {}

    async def _after_finish(
        self, finishes: Sequence[AttemptEnd], ended: dict[LeaseRef, JobState]
    ) -> None:
        """Do at once what upkeep would find later: children of a failed parent end too, and who
        listens for dead-lettered jobs gets theirs."""
        self._telemetry.finished(finishes, ended, self._who)
        if JobState.DEAD_LETTER in ended.values():
            self._events.match_soon()
        if any(state is not JobState.COMPLETED and state in ENDED for state in ended.values()):
            try:
                await cancel_overdue(self._storage)
            except WindlassError as error:  # the ends are recorded, and must be seen as such
                self._telemetry.trouble("ending children", error)


def storable_fields(fields: Mapping[str, Any], limit: int = LINE_BYTES) -> dict[str, Any]:
    """A log line's fields as every database keeps them, whatever they are, cut at `limit` bytes."""
    if not fields:
        return {}
    kept: dict[str, Any] = load_json(encode_anything(dict(fields), limit)[0])
    return kept


async def finish_in(
    session: "CallerSession", lease: Lease, finish: AttemptEnd, lines: Sequence[LogLine]
) -> None:
    """Record the end of a run, and the lines logged before it, through a handler's own transaction.
    Raises Stopped if the lease is lost. Awaits nothing but the session."""
    worker = lease.worker or NO_WORKER
    if lines:
        await session.run("append_logs", log_lines=log_batch(lines), worker_id=worker)
    if not await session.run("finish", **finish_batch(worker, [finish._replace(once=())])):
        raise Stopped("lost")
    if done := once_key_batch([finish]):
        await session.run("record_once_keys", done_keys=done)


def _lost(lease: ExpiredLease, loss: LostAttempt) -> AttemptEnd:
    worker = lease.worker_id or "unknown"
    others = f" of this job and {counted(loss.neighbours, 'other')}" if loss.neighbours else ""
    verdict = judge_loss(loss)
    uncounted = "" if verdict.attempt_counts else f" {UNCOUNTED}"
    failure = outcome.Failure(
        error=f"the worker was lost: {worker} did not renew its lease{others}{uncounted}",
        error_type="WorkerLost",
        outcome=Outcome.LOST,
    )
    return outcome.lost(lease.held, failure, verdict)


def _undecryptable(lease: Lease, error: PayloadUndecryptable) -> AttemptEnd:
    failure = outcome.Failure(
        error=str(error), error_type=type(error).__name__, trace=None, permanent=True
    )
    verdict = outcome.judge(
        failure,
        attempts=lease.attempts,
        max_attempts=lease.max_attempts,
        backoff=Backoff(),
        random=Random(),
    )
    return outcome.failed(lease.held, failure, verdict)


def storable_finish(finish: AttemptEnd) -> AttemptEnd:
    """An end whose texts are as long as may be, and hold nothing a database refuses."""
    texts = (finish.error, finish.error_trace, finish.stdout_tail, finish.stderr_tail)
    if texts == (None, None, None, None):
        return finish
    return finish._replace(
        error=_cut(finish.error, ERROR_BYTES),
        error_type=_cut(finish.error_type, TYPE_BYTES),
        error_trace=_cut(finish.error_trace, ERROR_BYTES),
        stdout_tail=_cut(finish.stdout_tail, ERROR_BYTES),
        stderr_tail=_cut(finish.stderr_tail, ERROR_BYTES),
    )


def _cut(text: str | None, limit: int) -> str | None:
    return None if text is None else clean(text, limit)


def without_text(finish: AttemptEnd) -> AttemptEnd:
    """An end without its own text, which was refused."""
    return finish._replace(
        result=None,
        warnings=f'["{_UNSTORABLE}"]',
        error=_UNSTORABLE if finish.error is not None else None,
        error_trace=None,
        stdout_tail=None,
        stderr_tail=None,
    )
