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
from windlass.core.leases.lease import Held, Lease, Progress
from windlass.core.leases.worker_orders import Order
from windlass.core.leases.worker_wire import Ended
from windlass.core.payloads.known_secrets import KnownSecrets
from windlass.core.text import clean
from windlass.engine.definitions.definitions import Definitions
from windlass.engine.jobs.payload_encryption import Sealer
from windlass.engine.leases.leases import NOTE_BYTES, Claimed, Leases, storable_fields
from windlass.engine.leases.remote_latency import RemoteTimes
from windlass.engine.leases.remote_outcome import Judge
from windlass.engine.leases.workers import Workers
from windlass.engine.redaction import off_loop_if_long, redactor_of
from windlass.ids import WorkerId
from windlass.settings import Settings
from windlass.storage.storage import Storage
from windlass.telemetry import Telemetry

#: So many workers keep their turn among tenants; one that is forgotten begins anew.
_MOST_WORKERS = 1000


@dataclass(slots=True)
class _Place:
    """One worker's turn, and what its last claim brought."""

    leases: Leases
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    key: str | None = None
    last: Claimed = field(default_factory=lambda: Claimed((), None))


class RemoteWorkers:
    def __init__(
        self,
        leases: Callable[[WorkerId], Leases],
        storage: Storage,
        definitions: Definitions,
        workers: Workers,
        settings: Settings,
        telemetry: Telemetry,
        times: RemoteTimes,
        sealer: Sealer,
    ) -> None:
        self.times = times
        self._make = leases
        self._storage = storage
        self._definitions = definitions
        self._workers = workers
        self._telemetry = telemetry
        self._redactor = redactor_of(settings)
        self._line_bytes = settings.limits.log_line_bytes
        self._judge = Judge(storage, definitions, settings, self._redactor, sealer)
        self._places: OrderedDict[WorkerId, _Place] = OrderedDict()

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
    ) -> Claimed:
        """Lease due jobs of definitions that `worker` knows, by the latest version of each.
        System definitions, and those that have no row, are left out whatever the worker says.

        Asked again with the same key, because the answer was lost on its way, it brings what it
        brought before.
        """
        place = self._place(worker)
        async with place.turn:
            if key is not None and key == place.key:
                return await self._again(worker, place.last)
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
            leases = [await self._in_force(lease) for lease in claimed.leases]
            place.key, place.last = key, Claimed(leases, claimed.next_due_in)
            return place.last

    async def heartbeat(
        self,
        worker: WorkerId,
        held: Sequence[Held],
        *,
        lease_time: timedelta | None,
        progress: Sequence[Progress] = (),
        lines: Sequence[LogLine] = (),
    ) -> dict[Held, bool]:
        """Take what runs tell, and extend their leases unless `lease_time` is None. Answers the
        leases that are still held, and whether their jobs should stop."""
        said = [Held(p.job_id, p.token) for p in progress] + [
            Held(line.job_id, line.attempt) for line in lines
        ]
        ours = await self._storage.leased(worker, list(dict.fromkeys([*held, *said])))
        kept = [line for line in lines if Held(line.job_id, line.attempt) in ours]
        steps = [step for step in progress if Held(step.job_id, step.token) in ours]
        telling = {Held(line.job_id, line.attempt) for line in kept}
        telling |= {Held(step.job_id, step.token) for step in steps if step.note is not None}
        secrets = {
            one: await self._judge.secrets_of(one, await self._judge.row(ours[one].definition))
            for one in telling
        }
        redact = partial(self._redacted, kept, secrets)
        told = await off_loop_if_long(redact, *((line.message, line.fields) for line in kept))
        leases = self._place(worker).leases
        await leases.log(told)
        await leases.report([self._noted(step, secrets) for step in steps])
        alive = {one: ours[one].cancel_requested for one in held if one in ours}
        if lease_time is None:
            return alive
        renewed = await leases.renew(list(alive), lease_time=lease_time)
        return {Held(one.job_id, one.token): one.cancel_requested for one in renewed}

    async def release_unknown(self, worker: WorkerId, held: Collection[Held]) -> int:
        """Hand back, uncounted, the leases of `worker` that are not among all those it holds."""
        return await self._place(worker).leases.release_unknown(held)

    async def finish(self, worker: WorkerId, ends: Sequence[Ended]) -> dict[Held, JobState]:
        """Record how attempts ended, and decide what that means for their jobs. A lease missing
        from the answer was not held, and nothing of it was recorded."""
        by_lease = {end.held: end for end in ends}
        ours = await self._storage.leased(worker, list(by_lease))
        for held in by_lease.keys() - ours.keys():
            self._telemetry.warn(
                "late report ignored",
                job_id=str(held.job_id),
                attempt=held.token,
                worker_id=worker,
            )
        ended = await self._place(worker).leases.finish(
            [
                await self._judge.judged(end, ours[held])
                for held, end in by_lease.items()
                if held in ours
            ]
        )
        ran = [held for held in ended if by_lease[held].outcome is not Outcome.RELEASED]
        self.times.ended([ours[held] for held in ran])
        return ended

    async def heartbeat_of(self, worker: WorkerRow) -> tuple[Order, list[str]]:
        """Record that a worker is alive, with the definitions it may run. Returns what operators
        want of it, and which of its definitions have no row here."""
        rows = await self._definitions.find(worker.definitions)
        runs = [key for key in worker.definitions if key not in rows or not rows[key].system]
        wanted = await self._workers.beat_remote(replace(worker, definitions=runs))
        return wanted, [key for key in worker.definitions if key not in rows]

    def _place(self, worker: WorkerId) -> _Place:
        place = self._places.setdefault(worker, _Place(self._make(worker)))
        self._places.move_to_end(worker)
        if len(self._places) > _MOST_WORKERS:
            self._places.popitem(last=False)
        return place

    async def _again(self, worker: WorkerId, before: Claimed) -> Claimed:
        still = await self._storage.leased(worker, [lease.held for lease in before.leases])
        leases = [lease for lease in before.leases if lease.held in still]
        return Claimed(leases, before.next_due_in)

    async def _in_force(self, lease: Lease) -> Lease:
        """With the time limit that an operator set, which the worker cannot know."""
        if lease.timeout_seconds is None:
            row = await self._judge.row(lease.definition)
            if row is not None and "timeout_seconds" in row.edited:
                return lease._replace(timeout_seconds=row.timeout_seconds)
        return lease

    def _redacted(
        self, lines: Sequence[LogLine], secrets: Mapping[Held, KnownSecrets]
    ) -> list[LogLine]:
        redacted = []
        for line in lines:
            own = secrets[Held(line.job_id, line.attempt)]
            limit = self._line_bytes
            message = clean(self._redactor.redact_part(line.message, limit, own), limit)
            fields = self._redactor.redact_value(storable_fields(line.fields), secrets=own)
            redacted.append(replace(line, message=message, fields=fields))
        return redacted

    def _noted(self, step: Progress, secrets: Mapping[Held, KnownSecrets]) -> Progress:
        if step.note is None:
            return step
        own = secrets[Held(step.job_id, step.token)]
        return replace(step, note=self._redactor.redact_part(step.note, NOTE_BYTES, own))
