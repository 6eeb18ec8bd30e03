"""Verbs on leases: survey, claim, renew, report, log, finish, release, reap.

Every one is guarded by job and lease token; the rows it changed are its answer.
"""

import random
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from windlass.core import share
from windlass.core.dead import DEAD_LETTERED
from windlass.core.gates import definition_of
from windlass.core.jsontext import dump_json
from windlass.core.lease import (
    Finish,
    Held,
    Lease,
    Leased,
    Line,
    Place,
    Progress,
    Quota,
    Renewal,
    Survey,
)
from windlass.core.limits import Limit, Room
from windlass.core.models import LogLine
from windlass.core.priority import LOWEST
from windlass.core.rates import PARTS
from windlass.core.states import JobState
from windlass.ids import DefinitionKey, JobId, QueueName, TenantId, WorkerId, new_event_id
from windlass.storage import rows
from windlass.storage.again import again
from windlass.storage.database import Database, Lane, Session
from windlass.storage.expired import Expired
from windlass.storage.sql import Rows

#: Before every job.
_FRONT = Place(LOWEST - 1, datetime(1970, 1, 1, tzinfo=UTC), JobId(UUID(int=0)))
#: The limits of a line, as a survey tells them.
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
    ) -> Survey:
        """See which lines have jobs, tenants in turn after `cursor`, and when more come due.

        `queues` None means all queues. It costs the lines seen, not the jobs in them.
        """
        found = await self._db.run(
            "survey",
            lane=Lane.WORK,
            all_queues=queues is None,
            queues=[(queue,) for queue in queues or ()],
            known_keys=list(known),
            cursor=cursor,
            most=most,
        )
        return Survey(
            lines=[
                Line(
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

    @again
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
        if not names:
            return await self._take(self._db, worker, quotas, known, (), lease_time)
        async with self._db.transaction(Lane.WORK) as session:
            # Two statements: the room must be counted after the lock was won.
            locked = await session.run("lock_limits", names=[(name,) for name in names])
            limits = {row["name"]: Limit.of(row) for row in locked}
            rooms = await _rooms(session, limits, [quota.line for quota in quotas])
            # In no fixed order, or the first line would always have the little room there is.
            shuffled = random.sample(quotas, len(quotas))
            allowed = share.within(shuffled, limits, rooms)
            if not allowed:
                return []
            leases = await self._take(
                session, worker, allowed, known, list(limits.values()), lease_time
            )
            await _note_starts(session, limits, leases)
            return leases

    async def rooms(self, line: Line) -> dict[Room, int]:
        """How much room there is for jobs of a line under each of the limits that it names and that
        exist; a look, not a promise."""
        found = await self._db.run("limits", names=[(name,) for name in line.limits])
        return await _rooms(self._db, {row["name"]: Limit.of(row) for row in found}, [line])

    async def stops(self, held: Sequence[Held]) -> set[JobId]:
        """Which of these jobs are asked to stop; cheaper than a renewal, for looking often."""
        asked = await self._db.run(
            "stops", lane=Lane.RENEW, held=[(h.job_id, h.token) for h in held]
        )
        return {JobId(rows.uuid(row["id"])) for row in asked}

    async def leased(self, worker: WorkerId, held: Sequence[Held]) -> dict[Held, Leased]:
        """Those of the leases that `worker` itself holds; who else holds one is not told."""
        found = await self._db.run(
            "leased",
            lane=Lane.RENEW,
            held=[(h.job_id, h.token) for h in held],
            worker_id=worker,
        )
        return {
            Held(JobId(rows.uuid(row["id"])), row["lease_token"]): Leased(
                definition=DefinitionKey(row["definition"]),
                queue=QueueName(row["queue"]),
                attempts=row["attempts"],
                max_attempts=row["max_attempts"],
                ran_seconds=float(row["ran_seconds"]),
                cancel_requested=bool(row["cancel_requested"]),
            )
            for row in found
        }

    async def renew(self, held: Sequence[Held], *, lease_time: timedelta) -> list[Renewal]:
        """Extend the leases still held, also late ones; those not in the answer are lost."""
        renewed = await self._db.run(
            "renew",
            lane=Lane.RENEW,
            held=[(h.job_id, h.token) for h in held],
            lease_seconds=lease_time.total_seconds(),
        )
        return [
            Renewal(JobId(rows.uuid(r["id"])), r["lease_token"], bool(r["cancel_requested"]))
            for r in renewed
        ]

    async def report(self, progress: Sequence[Progress]) -> set[JobId]:
        """Record progress; answers the jobs whose lease was still held."""
        changed = await self._db.run(
            "report",
            lane=Lane.WORK,
            reports=[(p.job_id, p.token, p.fraction, p.note) for p in progress],
        )
        return {JobId(rows.uuid(row["id"])) for row in changed}

    async def log(self, lines: Sequence[LogLine]) -> set[JobId]:
        """Add log lines, numbered on from each job's last; answers the jobs still held."""
        changed = await self._db.run(
            "log",
            lane=Lane.WORK,
            log_lines=log_rows(lines),
        )
        return {JobId(rows.uuid(row["id"])) for row in changed}

    async def finish(
        self, finishes: Sequence[Finish], *, emit: bool = True
    ) -> dict[Held, JobState]:
        """End attempts and move their jobs on. Answers where each job went; a lease that is not
        in the answer was no longer held, and nothing of it was recorded.

        Who listens for dead-lettered jobs is told by an event, stored with their end; not without
        `emit`.
        """
        return await self._end(finishes, expired_only=False, emit=emit)

    async def expired(self, *, most: int = 1000) -> list[Expired]:
        """Leases that have run out but were not taken back yet. Changes nothing."""
        found = await self._db.run("expired", lane=Lane.WORK, most=most)
        return [
            Expired(
                job_id=JobId(rows.uuid(row["id"])),
                token=row["lease_token"],
                tenant=TenantId(row["tenant_id"]),
                definition=DefinitionKey(row["definition"]),
                correlation_id=row["correlation_id"],
                worker_id=row["worker_id"],
                attempts=row["attempts"],
                max_attempts=row["max_attempts"],
                worker_deaths=row["worker_deaths"],
            )
            for row in found
        ]

    async def reap(self, finishes: Sequence[Finish]) -> dict[Held, JobState]:
        """Take back leases that are still run out; one renewed meanwhile is left alone."""
        return await self._end(finishes, expired_only=True, emit=True)

    async def _end(
        self, finishes: Sequence[Finish], *, expired_only: bool, emit: bool
    ) -> dict[Held, JobState]:
        batch = [finish_row(f, expired_only=expired_only) for f in finishes]
        if emit and any(finish.state is JobState.DEAD_LETTER for finish in finishes):
            return await self._end_and_emit(batch)
        return _ended(await self._db.run("finish", lane=Lane.WORK, finishes=batch))

    @again
    async def _end_and_emit(self, batch: Sequence[tuple[Any, ...]]) -> dict[Held, JobState]:
        async with self._db.transaction(Lane.WORK) as session:
            ended = _ended(await session.run("finish", finishes=batch))
            dead = [held.job_id for held, state in ended.items() if state is JobState.DEAD_LETTER]
            if dead:
                told = [(id, new_event_id()) for id in dead]
                await session.run("emit_dead", dead=told, name=DEAD_LETTERED)
            return ended

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
            lines=[
                (
                    q.line.queue,
                    q.line.tenant,
                    q.line.gate,
                    definition_of(q.line.gate),
                    q.line_limit,
                    q.tenant_limit,
                    *(q.begin or _FRONT),
                )
                for q in quotas
            ],
            limits=[limit.target for limit in limits],
            known_keys=list(known),
            worker_id=worker,
            lease_seconds=lease_time.total_seconds(),
        )
        leases = [rows.lease(row, worker) for row in claimed]
        return sorted(leases, key=lambda lease: (lease.priority, lease.due_at, lease.job_id))


async def _rooms(
    session: Database | Session, limits: Mapping[str, Limit], lines: Sequence[Line]
) -> dict[Room, int]:
    asked = {
        room: None
        for line in lines
        for name in line.limits
        if name in limits
        for room in limits[name].rooms(line)
    }
    if not asked:
        return {}
    counted = await session.run("rooms", rooms=list(asked))
    return {(row["name"], row["kind"]): max(0, int(row["room"])) for row in counted}


async def _note_starts(
    session: Session, limits: Mapping[str, Limit], leases: Sequence[Lease]
) -> None:
    begun: Counter[tuple[str, float]] = Counter()
    for lease in leases:
        if limit := limits.get(f"definition:{lease.definition}"):
            begun.update(limit.rates(lease.gate))
    if begun:
        starts = [(name, seconds, PARTS, count) for (name, seconds), count in begun.items()]
        await session.run("note_starts", starts=sorted(starts))


def _ended(found: Rows) -> dict[Held, JobState]:
    return {
        Held(JobId(rows.uuid(row["id"])), row["lease_token"]): _STATES[row["state"]]
        for row in found
    }


def log_rows(lines: Sequence[LogLine]) -> list[tuple[Any, ...]]:
    """Log lines as rows of the `log_lines` batch."""
    return [
        (
            line.job_id,
            line.attempt,
            place,
            line.level,
            line.message,
            dump_json(dict(line.fields)) if line.fields else None,
            line.at,
        )
        for place, line in enumerate(lines)
    ]


def finish_row(finish: Finish, *, expired_only: bool) -> tuple[Any, ...]:
    """An end as a row of the `finishes` batch, whose columns are a Finish's first fields."""
    return (*finish[:4], finish.delay.total_seconds(), *finish[5:-2], expired_only)
