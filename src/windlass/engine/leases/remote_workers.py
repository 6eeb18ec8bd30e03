"""The worker's side for workers without a database, whose word is taken only for what they hold.

A lease token is easily guessed, so every call is checked against the worker that holds the lease.
One that is unknown, stale or another's is answered alike: it is lost. The check cannot be overtaken,
because all that follows is guarded by the token and the worker too.

Jobs of system definitions are never leased to these workers: they work on the database, which these
workers do not have.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial

from windlass.core.jobs.models import LogLine, WorkerRow
from windlass.core.jobs.states import JobState, Outcome
from windlass.core.leases.gates import needs
from windlass.core.leases.lease import Lease, LeaseRef, ProgressReport
from windlass.core.leases.worker_orders import WorkerOrder
from windlass.core.leases.worker_wire import AttemptReport
from windlass.core.payloads.known_secrets import KnownSecrets
from windlass.core.text import clean
from windlass.engine.definitions.definitions import Definitions
from windlass.engine.jobs.payload_encryption import Sealer
from windlass.engine.leases.leases import NOTE_BYTES, ClaimResult, Leases, storable_fields
from windlass.engine.leases.remote_latency import RemoteLatencyRecorder
from windlass.engine.leases.remote_outcome import RemoteOutcomeResolver
from windlass.engine.leases.workers import Workers
from windlass.engine.redaction import create_redactor, run_in_thread_if_long
from windlass.ids import WorkerId
from windlass.settings import Settings
from windlass.storage.storage import Storage
from windlass.telemetry import Telemetry

#: So many workers keep their turn among tenants; one that is forgotten begins anew.
_MOST_WORKERS = 1000


@dataclass(slots=True)
class _RemoteWorkerState:
    """One worker's turn, and what its last claim brought."""

    leases: Leases
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    key: str | None = None
    last: ClaimResult = field(default_factory=lambda: ClaimResult((), None))


class RemoteWorkers:
    def __init__(
        self,
        leases: Callable[[WorkerId], Leases],
        storage: Storage,
        definitions: Definitions,
        workers: Workers,
        settings: Settings,
        telemetry: Telemetry,
        times: RemoteLatencyRecorder,
        sealer: Sealer,
    ) -> None:
        self.times = times
        self._make = leases
        self._storage = storage
        self._definitions = definitions
        self._workers = workers
        self._telemetry = telemetry
        self._redactor = create_redactor(settings)
        self._line_bytes = settings.limits.log_line_bytes
        self._outcome_resolver = RemoteOutcomeResolver(
            storage, definitions, settings, self._redactor, sealer
        )
        self._states: OrderedDict[WorkerId, _RemoteWorkerState] = OrderedDict()

    async def claim(
        self,
        worker: WorkerId,
        wanted: int,
        *,
        queues: Collection[str] | None,
        definitions: Mapping[str, int],
        lease_time: timedelta,
        nudged: bool = False,
        key: str | None = None,
    ) -> ClaimResult:
        """Lease due jobs of definitions that `worker` knows, by the latest version of each.
        System definitions, and those that have no row, are left out whatever the worker says.

        Asked again with the same key, because the answer was lost on its way, it brings what it
        brought before.
        """
        place = self._place(worker)
        async with place.turn:
            if key is not None and key == place.key:
                return await self._repeat_claim(worker, place.last)
            # Compared here, exactly: a database may take another case or a space at the end as equal.
            rows = await self._definitions.find(definitions)
            allowed = {
                key: version
                for key, version in definitions.items()
                if key in rows and not rows[key].system
            }
            claimed = await place.leases.claim(
                worker,
                wanted,
                queues=queues,
                known=needs(allowed),
                lease_time=lease_time,
                nudged=nudged,
            )
            self.times.started(claimed.leases)
            leases = [await self._with_operator_timeout(lease) for lease in claimed.leases]
            place.key, place.last = key, ClaimResult(leases, claimed.next_due_in)
            return place.last

    async def heartbeat(
        self,
        worker: WorkerId,
        held: Sequence[LeaseRef],
        *,
        lease_time: timedelta | None,
        progress: Sequence[ProgressReport] = (),
        lines: Sequence[LogLine] = (),
    ) -> dict[LeaseRef, bool]:
        """Take what runs tell, and extend their leases unless `lease_time` is None. Answers the
        leases that are still held, and whether their jobs should stop."""
        said = [LeaseRef(p.job_id, p.token) for p in progress] + [
            LeaseRef(line.job_id, line.attempt) for line in lines
        ]
        ours = await self._storage.leases.held_leases(worker, list(dict.fromkeys([*held, *said])))
        kept = [line for line in lines if LeaseRef(line.job_id, line.attempt) in ours]
        steps = [step for step in progress if LeaseRef(step.job_id, step.token) in ours]
        telling = {LeaseRef(line.job_id, line.attempt) for line in kept}
        telling |= {LeaseRef(step.job_id, step.token) for step in steps if step.note is not None}
        secrets = {
            one: await self._outcome_resolver.secrets_of(
                one, await self._outcome_resolver.row(ours[one].definition)
            )
            for one in telling
        }
        redact = partial(self._redact_lines, kept, secrets)
        told = await run_in_thread_if_long(redact, *((line.message, line.fields) for line in kept))
        leases = self._place(worker).leases
        await leases.log(told)
        await leases.report([self._redact_note(step, secrets) for step in steps])
        alive = {one: ours[one].cancel_requested for one in held if one in ours}
        if lease_time is None:
            return alive
        renewed = await leases.renew(list(alive), lease_time=lease_time)
        return {LeaseRef(one.job_id, one.token): one.cancel_requested for one in renewed}

    async def release_unknown(self, worker: WorkerId, held: Collection[LeaseRef]) -> int:
        """Hand back, uncounted, the leases of `worker` that are not among all those it holds."""
        return await self._place(worker).leases.release_unknown(held)

    async def finish(
        self, worker: WorkerId, ends: Sequence[AttemptReport]
    ) -> dict[LeaseRef, JobState]:
        """Record how attempts ended, and decide what that means for their jobs. A lease missing
        from the answer was not held, and nothing of it was recorded."""
        by_lease = {end.held: end for end in ends}
        ours = await self._storage.leases.held_leases(worker, list(by_lease))
        for held in by_lease.keys() - ours.keys():
            self._telemetry.warn(
                "late report ignored",
                job_id=str(held.job_id),
                attempt=held.token,
                worker_id=worker,
            )
        ended = await self._place(worker).leases.finish(
            [
                await self._outcome_resolver.resolve(end, ours[held])
                for held, end in by_lease.items()
                if held in ours
            ]
        )
        ran = [held for held in ended if by_lease[held].outcome is not Outcome.RELEASED]
        self.times.ended([ours[held] for held in ran])
        return ended

    async def heartbeat_of(self, worker: WorkerRow) -> tuple[WorkerOrder, list[str]]:
        """Record that a worker is alive, with the definitions it may run. Returns what operators
        want of it, and which of its definitions have no row here."""
        rows = await self._definitions.find(worker.definitions)
        runs = [key for key in worker.definitions if key not in rows or not rows[key].system]
        wanted = await self._workers.heartbeat_remote(replace(worker, definitions=runs))
        return wanted, [key for key in worker.definitions if key not in rows]

    def _place(self, worker: WorkerId) -> _RemoteWorkerState:
        place = self._states.setdefault(worker, _RemoteWorkerState(self._make(worker)))
        self._states.move_to_end(worker)
        if len(self._states) > _MOST_WORKERS:
            self._states.popitem(last=False)
        return place

    async def _repeat_claim(self, worker: WorkerId, before: ClaimResult) -> ClaimResult:
        still = await self._storage.leases.held_leases(
            worker, [lease.held for lease in before.leases]
        )
        leases = [lease for lease in before.leases if lease.held in still]
        return ClaimResult(leases, before.next_due_in)

    async def _with_operator_timeout(self, lease: Lease) -> Lease:
        """With the time limit that an operator set, which the worker cannot know."""
        if lease.timeout_seconds is None:
            row = await self._outcome_resolver.row(lease.definition)
            if row is not None and "timeout_seconds" in row.edited:
                return lease._replace(timeout_seconds=row.timeout_seconds)
        return lease

    def _redact_lines(
        self, lines: Sequence[LogLine], secrets: Mapping[LeaseRef, KnownSecrets]
    ) -> list[LogLine]:
        redacted = []
        for line in lines:
            own = secrets[LeaseRef(line.job_id, line.attempt)]
            limit = self._line_bytes
            message = clean(self._redactor.redact_part(line.message, limit, own), limit)
            fields = self._redactor.redact_value(storable_fields(line.fields, limit), secrets=own)
            redacted.append(replace(line, message=message, fields=fields))
        return redacted

    def _redact_note(
        self, step: ProgressReport, secrets: Mapping[LeaseRef, KnownSecrets]
    ) -> ProgressReport:
        if step.note is None:
            return step
        own = secrets[LeaseRef(step.job_id, step.token)]
        return replace(step, note=self._redactor.redact_part(step.note, NOTE_BYTES, own))
