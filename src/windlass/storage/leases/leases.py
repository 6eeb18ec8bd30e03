"""Verbs on leases: survey, claim, renew, report, log, finish, release, reap.

Every one is guarded by job, lease token and worker; the rows it changed are its answer. A token alone
is not enough: after a restore or a failover that lost transactions, another worker's claim may be
given a number that was given before.
"""

import random
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from windlass.core.jobs.dead import DEAD_LETTERED
from windlass.core.jobs.models import LogLine
from windlass.core.jobs.outcome import AttemptEnd
from windlass.core.jobs.priority import LOWEST
from windlass.core.jobs.states import JobState
from windlass.core.leases import fair_share
from windlass.core.leases.gates import definition_of, is_suspect
from windlass.core.leases.lease import (
    JobLine,
    JobPosition,
    Lease,
    LeasedJob,
    LeaseRef,
    ProgressReport,
    QueueSurvey,
    Quota,
    RenewedLease,
)
from windlass.core.leases.limits import CapacityKey, Limit
from windlass.core.leases.rate_limits import PARTS
from windlass.core.payloads.json_text import dump_json
from windlass.ids import DefinitionKey, JobId, QueueName, TenantId, WorkerId, new_event_id
from windlass.storage.connection.deadlock_retry import retry_deadlocks
from windlass.storage.database import Database, Lane, Session
from windlass.storage.leases.expired import ExpiredLease
from windlass.storage.sql import rows
from windlass.storage.sql.statements import Batch, Rows, fields_as_columns

#: Before every job.
_FRONT = JobPosition(LOWEST - 1, datetime(1970, 1, 1, tzinfo=UTC), JobId(UUID(int=0)))
#: Columns of batches, in the order in which tuples about limits have them.
_LIMIT_TARGET = ("name", "definition", "tenant_id", "queue", "per_key")
_ROOM = ("name", "kind", "most")
_START = ("name", "seconds", "parts", "started")
#: The limits of a line, in the rows of a survey.
_LIMITS = ("definition_limit", "tenant_limit", "queue_limit")
_STATES = {state.value: state for state in JobState}


class LeaseVerbs:
    _db: Database

    async def survey(
        self,
        queues: Collection[str] | None,
        known: Collection[str],
        *,
        cursor: str = "",
        most: int = 50,
    ) -> QueueSurvey:
        """See which lines have jobs, tenants in turn after `cursor`, and when more come due.

        `queues` None means all queues. It costs the lines seen, not the jobs in them.
        """
        found = await self._db.run(
            "survey",
            lane=Lane.WORK,
            all_queues=queues is None,
            queues=Batch(queue=list(queues or ())),
            known_keys=list(known),
            cursor=cursor,
            most=most,
        )
        return QueueSurvey(
            lines=[
                JobLine(
                    queue=QueueName(row["queue"]),
                    tenant=TenantId(row["tenant_id"]),
                    gate=row["gate"],
                    weight=row["weight"],
                    limits=tuple(row[limit] for limit in _LIMITS if row[limit] is not None),
                    first=rows.place(row),
                )
                for row in found
                if row["queue"] is not None
            ],
            next_due_in=rows.seconds(found[0]["next_due_in"]) if found else None,
        )

    async def claim(
        self,
        worker: WorkerId,
        quotas: Sequence[Quota],
        known: Collection[str],
        *,
        lease_time: timedelta,
    ) -> list[Lease]:
        """Lease due jobs of the lines, no more from each than its quota and every limit allow.

        In each line the most urgent first; of a line with a place to `begin` at, jobs before it may
        be left out unless their priority is higher. Answers ordered by priority, due time and id.
        """
        names = sorted({name for quota in quotas for name in quota.line.limits})
        suspected = any(is_suspect(gate) for quota in quotas if (gate := quota.line.gate))
        if not names and not suspected:
            return await self._take(self._db, worker, quotas, known, (), lease_time)
        return await self._claim_limited(worker, quotas, known, names, lease_time, suspected)

    async def limit_capacity(self, line: JobLine) -> dict[CapacityKey, int]:
        """The free capacity for jobs of a line under each of the limits that it names and that exist.
        A look, not a promise."""
        found = await self._db.run("read_limits", names=Batch(name=line.limits))
        return await _limit_capacity(
            self._db, {row["name"]: Limit.of(row) for row in found}, [line]
        )

    async def next_rate_capacity(self) -> timedelta | None:
        """The time until a rate has more room than now; None if nothing counts under any."""
        [found] = await self._db.run("next_rate_capacity")
        return rows.seconds(found["room_in"])

    async def cancel_requests(self, worker: WorkerId, held: Sequence[LeaseRef]) -> set[JobId]:
        """Those of the jobs, held by `worker`, that are asked to stop; cheaper than a renewal, for
        looking often."""
        asked = await self._db.run(
            "cancel_requests",
            lane=Lane.RENEW,
            held=_lease_batch(held),
            worker_id=worker,
        )
        return {JobId(rows.uuid(row["id"])) for row in asked}

    async def held_leases(
        self, worker: WorkerId, held: Sequence[LeaseRef]
    ) -> dict[LeaseRef, LeasedJob]:
        """Those of the leases that `worker` itself holds; who else holds one is not told."""
        found = await self._db.run(
            "held_leases",
            lane=Lane.RENEW,
            held=_lease_batch(held),
            worker_id=worker,
        )
        return {
            LeaseRef(JobId(rows.uuid(row["id"])), row["lease_token"]): LeasedJob(
                tenant=TenantId(row["tenant_id"]),
                definition=DefinitionKey(row["definition"]),
                queue=QueueName(row["queue"]),
                attempts=row["attempts"],
                max_attempts=row["max_attempts"],
                ran_seconds=float(row["ran_seconds"]),
                cancel_requested=bool(row["cancel_requested"]),
            )
            for row in found
        }

    async def worker_leases(self, worker: WorkerId) -> set[LeaseRef]:
        """All leases of `worker`, also those that it does not know of. Costs all that run."""
        found = await self._db.run("worker_leases", lane=Lane.WORK, worker_id=worker)
        return {LeaseRef(JobId(rows.uuid(row["id"])), row["lease_token"]) for row in found}

    async def renew(
        self, worker: WorkerId, held: Sequence[LeaseRef], *, lease_time: timedelta
    ) -> list[RenewedLease]:
        """Extend the leases that `worker` still holds, also late ones; those not in the answer are
        lost."""
        renewed = await self._db.run(
            "renew",
            lane=Lane.RENEW,
            held=_lease_batch(held),
            worker_id=worker,
            lease_seconds=lease_time.total_seconds(),
        )
        return [
            RenewedLease(JobId(rows.uuid(r["id"])), r["lease_token"], bool(r["cancel_requested"]))
            for r in renewed
        ]

    async def record_progress(
        self, worker: WorkerId, progress: Sequence[ProgressReport]
    ) -> set[JobId]:
        """Record progress; answers the jobs whose lease `worker` still held."""
        changed = await self._db.run(
            "record_progress",
            lane=Lane.WORK,
            reports=Batch(
                id=[p.job_id for p in progress],
                token=[p.token for p in progress],
                progress=[p.fraction for p in progress],
                note=[p.note for p in progress],
            ),
            worker_id=worker,
        )
        return {JobId(rows.uuid(row["id"])) for row in changed}

    async def append_logs(self, worker: WorkerId, lines: Sequence[LogLine]) -> set[JobId]:
        """Add log lines, numbered on from each job's last; answers the jobs `worker` still held."""
        changed = await self._db.run(
            "append_logs",
            lane=Lane.WORK,
            log_lines=log_batch(lines),
            worker_id=worker,
        )
        return {JobId(rows.uuid(row["id"])) for row in changed}

    async def finish(
        self, worker: WorkerId, finishes: Sequence[AttemptEnd], *, emit: bool = True
    ) -> dict[LeaseRef, JobState]:
        """End attempts of `worker` and move their jobs on. Answers where each job went; a lease that
        is not in the answer was no longer held by it, and nothing of it was recorded.

        With `emit`, a dead-lettered job emits an event, stored with its end.
        """
        batch = finish_batch(worker, finishes)
        done = once_key_batch(finishes)
        if done:
            return await self._finish_and_note(batch, done, emit=emit)
        return await self._end(batch, emit=emit and _has_dead_letter(finishes))

    async def once_key_exists(self, tenant: TenantId, key: str) -> bool:
        """Check if a completed job that is kept has noted this key for its tenant."""
        return bool(await self._db.run("find_once_key", lane=Lane.WORK, tenant_id=tenant, key=key))

    async def expired_leases(self, *, most: int = 1000) -> list[ExpiredLease]:
        """Leases that have run out but were not taken back yet, of each worker all or none, unless
        one alone has more than `most`. Changes nothing."""
        found = await self._db.run("expired_leases", lane=Lane.WORK, most=most)
        cut = found[-1]["worker_id"] if len(found) >= most else None
        if found and found[0]["worker_id"] != cut:
            found = [row for row in found if cut is None or row["worker_id"] != cut]
        return [
            ExpiredLease(
                job_id=JobId(rows.uuid(row["id"])),
                token=row["lease_token"],
                tenant=TenantId(row["tenant_id"]),
                definition=DefinitionKey(row["definition"]),
                correlation_id=row["correlation_id"],
                worker_id=row["worker_id"],
                attempts=row["attempts"],
                max_attempts=row["max_attempts"],
                worker_deaths=row["worker_deaths"],
                gate=row["gate"],
            )
            for row in found
        ]

    @retry_deadlocks
    async def reap(self, finishes: Sequence[AttemptEnd]) -> dict[LeaseRef, JobState]:
        """Take back leases that are still run out. One renewed meanwhile is left alone, and one
        whose row is locked by an open transaction is left for a later look."""
        async with self._db.transaction(Lane.WORK) as session:
            found = await session.run(
                "lock_expired_leases", held=_lease_batch([f.held for f in finishes])
            )
            locked = {LeaseRef(JobId(rows.uuid(row["id"])), row["lease_token"]) for row in found}
            free = [finish for finish in finishes if finish.held in locked]
            return (
                await _end_and_emit(session, finish_batch(None, free, expired_only=True))
                if free
                else {}
            )

    async def _end(self, batch: Mapping[str, Any], *, emit: bool) -> dict[LeaseRef, JobState]:
        if not emit:
            return _ended(await self._db.run("finish", lane=Lane.WORK, **batch))
        return await self._finish_and_emit(batch)

    @retry_deadlocks
    async def _finish_and_note(
        self, batch: Mapping[str, Any], done: Batch, *, emit: bool
    ) -> dict[LeaseRef, JobState]:
        async with self._db.transaction(Lane.WORK) as session:
            ended = (
                await _end_and_emit(session, batch)
                if emit
                else _ended(await session.run("finish", **batch))
            )
            jobs = {held.job_id for held in ended}
            if mine := done.where([id in jobs for id in done["id"]]):
                await session.run("record_once_keys", done_keys=mine)
            return ended

    @retry_deadlocks
    async def _finish_and_emit(self, batch: Mapping[str, Any]) -> dict[LeaseRef, JobState]:
        async with self._db.transaction(Lane.WORK) as session:
            return await _end_and_emit(session, batch)

    @retry_deadlocks
    async def _claim_limited(
        self,
        worker: WorkerId,
        quotas: Sequence[Quota],
        known: Collection[str],
        names: Sequence[str],
        lease_time: timedelta,
        suspected: bool,
    ) -> list[Lease]:
        """Claim from lines some of which have limits of these names, or hold suspects."""
        async with self._db.transaction(Lane.WORK) as session:
            # Two statements: the room must be counted after the lock was won.
            locked = await session.run("lock_limits", names=Batch(name=names)) if names else []
            limits = {row["name"]: Limit.of(row) for row in locked}
            rooms = await _limit_capacity(session, limits, [quota.line for quota in quotas])
            # In no fixed order, or the first line would always have the little room there is.
            shuffled = random.sample(quotas, len(quotas))
            allowed = fair_share.limit_quotas(shuffled, limits, rooms)
            if suspected:
                allowed = await _with_one_suspect(session, worker, allowed)
            if not allowed:
                return []
            leases = await self._take(
                session, worker, allowed, known, list(limits.values()), lease_time
            )
            await _note_starts(session, limits, leases)
            if suspects := [lease.job_id for lease in leases if is_suspect(lease.gate)]:
                await session.run(
                    "acquire_limits",
                    holds=Batch(job_id=suspects, name=[_suspect_of(worker)] * len(suspects)),
                )
            return leases

    async def _take(
        self,
        session: Database | Session,
        worker: WorkerId,
        quotas: Sequence[Quota],
        known: Collection[str],
        limits: Sequence[Limit],
        lease_time: timedelta,
    ) -> list[Lease]:
        lane = {"lane": Lane.WORK} if session is self._db else {}
        claimed = await session.run(
            "claim",
            **lane,
            lines=_line_batch(quotas),
            limits=Batch.of_rows(_LIMIT_TARGET, [limit.target for limit in limits]),
            known_keys=list(known),
            worker_id=worker,
            lease_seconds=lease_time.total_seconds(),
        )
        leases = [rows.lease(row, worker) for row in claimed]
        return sorted(leases, key=lambda lease: (lease.priority, lease.due_at, lease.job_id))


async def _limit_capacity(
    session: Database | Session, limits: Mapping[str, Limit], lines: Sequence[JobLine]
) -> dict[CapacityKey, int]:
    asked = {
        room: None
        for line in lines
        for name in line.limits
        if name in limits
        for room in limits[name].capacities(line)
    }
    if not asked:
        return {}
    counted = await session.run("limit_capacity", rooms=Batch.of_rows(_ROOM, asked))
    return {(row["name"], row["kind"]): max(0, int(row["room"])) for row in counted}


async def _with_one_suspect(
    session: Session, worker: WorkerId, quotas: Sequence[Quota]
) -> list[Quota]:
    """The quotas with one suspect at most; with none if the worker already runs one."""
    room = Batch(name=[_suspect_of(worker)], kind=["running"], most=[1])
    [counted] = await session.run("limit_capacity", rooms=room)
    free = int(counted["room"]) > 0
    allowed = []
    for quota in quotas:
        if not is_suspect(quota.line.gate):
            allowed.append(quota)
        elif free:
            allowed.append(replace(quota, line_limit=1))
            free = False
    return allowed


def _suspect_of(worker: WorkerId) -> str:
    """The name under which the suspect of a worker is counted."""
    return f"suspect:{worker}"


async def _note_starts(
    session: Session, limits: Mapping[str, Limit], leases: Sequence[Lease]
) -> None:
    begun: Counter[tuple[str, float]] = Counter()
    for lease in leases:
        if limit := limits.get(f"definition:{lease.definition}"):
            begun.update(limit.rates(lease.gate))
    if begun:
        starts = [(name, seconds, PARTS, count) for (name, seconds), count in begun.items()]
        await session.run("record_rate_use", starts=Batch.of_rows(_START, sorted(starts)))


async def _end_and_emit(session: Session, batch: Mapping[str, Any]) -> dict[LeaseRef, JobState]:
    ended = _ended(await session.run("finish", **batch))
    dead = [held.job_id for held, state in ended.items() if state is JobState.DEAD_LETTER]
    if dead:
        events = Batch(id=dead, event_id=[new_event_id() for _ in dead])
        await session.run("emit_dead_letter_events", dead=events, name=DEAD_LETTERED)
    return ended


def _ended(found: Rows) -> dict[LeaseRef, JobState]:
    return {
        LeaseRef(JobId(rows.uuid(row["id"])), row["lease_token"]): _STATES[row["state"]]
        for row in found
    }


def _lease_batch(held: Sequence[LeaseRef]) -> Batch:
    return Batch(id=[each.job_id for each in held], token=[each.token for each in held])


def _line_batch(quotas: Sequence[Quota]) -> Batch:
    begins = [quota.begin or _FRONT for quota in quotas]
    return Batch(
        queue=[quota.line.queue for quota in quotas],
        tenant_id=[quota.line.tenant for quota in quotas],
        gate=[quota.line.gate for quota in quotas],
        definition=[definition_of(gate) if (gate := quota.line.gate) else "" for quota in quotas],
        line_limit=[quota.line_limit for quota in quotas],
        tenant_limit=[quota.tenant_limit for quota in quotas],
        begin_priority=[begin.priority for begin in begins],
        begin_due_at=[begin.due_at for begin in begins],
        begin_id=[begin.id for begin in begins],
    )


def log_batch(lines: Sequence[LogLine]) -> Batch:
    """Log lines as the `log_lines` batch."""
    return Batch(
        id=[line.job_id for line in lines],
        token=[line.attempt for line in lines],
        place=range(len(lines)),
        level=[line.level for line in lines],
        message=[line.message for line in lines],
        fields=[dump_json(dict(line.fields)) if line.fields else None for line in lines],
        at=[line.at for line in lines],
    )


def once_key_batch(finishes: Sequence[AttemptEnd]) -> Batch:
    """The once keys that ends record, as the `done_keys` batch."""
    return Batch.of_rows(
        ("id", "key"), [(finish.job_id, key) for finish in finishes for key in finish.once]
    )


def finish_batch(
    worker: WorkerId | None, finishes: Sequence[AttemptEnd], *, expired_only: bool = False
) -> dict[str, Any]:
    """The parameters of `finish` for ends that `worker` reports; with `expired_only` of leases that
    have run out, of any worker if it is None."""
    end = fields_as_columns(AttemptEnd._fields, finishes)
    return {
        "worker_id": worker,
        "finishes": Batch(
            id=end["job_id"],
            token=end["token"],
            outcome=end["outcome"],
            state=end["state"],
            delay=[delay.total_seconds() for delay in end["delay"]],
            result=end["result"],
            warnings=end["warnings"],
            error=end["error"],
            error_type=end["error_type"],
            error_class=end["error_class"],
            error_trace=end["error_trace"],
            progress=end["progress"],
            pid=end["pid"],
            exit_code=end["exit_code"],
            stdout_tail=end["stdout_tail"],
            stderr_tail=end["stderr_tail"],
            fingerprint=end["fingerprint"],
            keep=end["keep"],
            gate=end["gate"],
            uncounted=end["uncounted"],
            spared=end["spared"],
            expired_only=[expired_only] * len(finishes),
        ),
    }


def _has_dead_letter(finishes: Sequence[AttemptEnd]) -> bool:
    return any(finish.state is JobState.DEAD_LETTER for finish in finishes)
