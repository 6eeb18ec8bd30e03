"""Verbs on triggers and events: store, find due ones, fire once, match once."""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from windlass.core.jobs.models import NewJob, Scope
from windlass.core.jobs.states import JobState
from windlass.core.payloads.json_text import dump_json
from windlass.core.triggers.trigger import Event, Trigger, TriggerMatch
from windlass.core.triggers.trigger_fields import name_in_code
from windlass.errors import TriggerUnreadable
from windlass.ids import EventId, JobId, TriggerId
from windlass.storage.connection.deadlock_retry import retry_deadlocks
from windlass.storage.database import Database, Session
from windlass.storage.jobs.enqueue import EnqueueResult, EnqueueStatus, store
from windlass.storage.sql import rows
from windlass.storage.sql.batches import BATCHES
from windlass.storage.sql.statements import Batch
from windlass.storage.triggers import trigger_rows

#: Most triggers with unmet conditions that are stored with an event.
MOST_UNMATCHED = 100
#: Firings kept of each trigger.
KEPT_FIRINGS = 20
#: Pause before a trigger that could not fire, for a cause that may pass, is tried again.
RETRY_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class DueTrigger:
    """A due trigger, and the database's time when it was read."""

    trigger: Trigger
    now: datetime


class TriggerRefused(Exception):
    """A job of a trigger was refused, so the transaction was rolled back."""

    def __init__(self, stored: EnqueueResult) -> None:
        self.stored = stored
        super().__init__(stored.status)


class FiringOutcome(NamedTuple):
    """A job that a trigger made for a due time, and its state."""

    job_id: JobId
    state: JobState
    due_at: datetime


class TriggerVerbs:
    _db: Database

    @retry_deadlocks
    async def create_trigger(self, trigger: Trigger) -> bool:
        """Store a new trigger; False if its tenant has one of that name."""
        async with self._db.transaction() as session:
            return bool(await session.run("create_trigger", triggers=_batch(trigger)))

    @retry_deadlocks
    async def update_trigger(
        self, id: TriggerId, change: Callable[[Trigger], Trigger]
    ) -> bool | None:
        """Change a trigger under a lock, except its type and tenant. False if its tenant has
        another of that name; None if there is no such trigger."""
        async with self._db.transaction() as session:
            found = await session.run("lock_trigger", id=id)
            if not found:
                return None
            changed = change(trigger_rows.trigger(found[0]))
            # A default would overwrite the unreadable field.
            if lost := [name for name in changed.unreadable if name in BATCHES["triggers"]]:
                raise TriggerUnreadable(changed.name, lost)
            return bool(await session.run("update_trigger", triggers=_batch(changed)))

    @retry_deadlocks
    async def delete_trigger(self, scope: Scope, id: TriggerId) -> bool:
        """Delete a trigger; False if there is none. Its jobs stay. If code declares it, the
        deletion is recorded under its name in code."""
        async with self._db.transaction() as session:
            found = await session.run("lock_trigger", id=id)
            if not found or not await session.run("delete_trigger", id=id, tenant_id=scope.tenant):
                return False
            gone = trigger_rows.trigger(found[0])
            if gone.origin == "code":
                await session.run(
                    "record_deleted_trigger",
                    tenant_id=gone.tenant,
                    name=name_in_code(gone),
                    definition=gone.definition,
                )
            return True

    async def deleted_triggers(self) -> set[tuple[str, str, str]]:
        """Triggers declared in code that were deleted: tenant, name in code, and definition."""
        found = await self._db.run("deleted_triggers")
        return {(row["tenant_id"], row["name"], row["definition"]) for row in found}

    async def clear_deleted_triggers(self, definition: str, *, name: str | None = None) -> None:
        """Let a sync recreate deleted triggers of a definition: all, or the one of that name."""
        await self._db.run("clear_deleted_triggers", definition=definition, name=name)

    async def triggers(self, scope: Scope) -> list[Trigger]:
        """All triggers, by tenant and name."""
        return trigger_rows.triggers(await self._db.run("triggers", tenant_id=scope.tenant))

    async def trigger(self, scope: Scope, id: TriggerId) -> Trigger | None:
        """One trigger, or None if there is none or the scope may not see it."""
        found = await self._db.run("trigger", id=id, tenant_id=scope.tenant)
        return trigger_rows.trigger(found[0]) if found else None

    async def due_triggers(self, *, most: int = 100) -> tuple[list[DueTrigger], timedelta | None]:
        """Due triggers of enabled definitions and active tenants, and the time until the next
        trigger is due; None if none will be.

        After `record_trigger_failure` a due trigger is left out for a minute, or until it is
        edited, so that failing triggers never crowd out others.
        """
        found = await self._db.run("due_triggers", most=most, pause=RETRY_SECONDS)
        due = trigger_rows.triggers(row for row in found if row["id"] is not None)
        now = rows.instant(found[0]["now_at"])
        return [DueTrigger(trigger, now) for trigger in due], rows.seconds(found[0]["due_in"])

    @retry_deadlocks
    async def fire(
        self,
        trigger: Trigger,
        due_at: datetime,
        next_run_at: datetime | None,
        jobs: Sequence[NewJob],
    ) -> list[EnqueueResult] | None:
        """Advance a trigger past a due time and store its jobs, both or nothing.

        None if another process did it before, or the trigger was disabled meanwhile. Raises
        TriggerRefused, with nothing changed, if a job is refused.
        """
        async with self._db.transaction() as session:
            moved = await session.run(
                "advance_trigger",
                id=trigger.id,
                due_at=due_at,
                next_run_at=next_run_at,
                job_id=jobs[-1].id if jobs else None,
            )
            if not moved:
                return None
            stored = await store(session, jobs) if jobs else []
            for each in stored:
                if each.status not in (EnqueueStatus.CREATED, EnqueueStatus.EXISTING):
                    raise TriggerRefused(each)
            if stored and stored[-1].existing_id is not None:
                await session.run("set_last_job", id=trigger.id, job_id=stored[-1].existing_id)
            if stored:
                await _record_firings(session, trigger.id, jobs, stored, due_at)
            return stored

    async def last_outcomes(
        self, ids: Collection[TriggerId]
    ) -> dict[TriggerId, list[FiringOutcome]]:
        """The jobs of each trigger's last due times, the newest last; those that were deleted are
        left out."""
        found: dict[TriggerId, list[FiringOutcome]] = {}
        if not ids:
            return found
        for row in await self._db.run("last_outcomes", ids=Batch(id=list(ids))):
            found.setdefault(TriggerId(rows.uuid(row["trigger_id"])), []).append(
                FiringOutcome(
                    JobId(rows.uuid(row["job_id"])),
                    JobState(row["state"]),
                    rows.instant(row["due_at"]),
                )
            )
        return found

    async def skip_due_time(
        self, due: DueTrigger, next_run_at: datetime | None, error: str, *, stop: bool = False
    ) -> bool:
        """Advance a trigger past a due time whose job was refused, and store the reason; `stop`
        disables it too. False if another process advanced it before."""
        passed = await self._db.run(
            "skip_due_time",
            id=due.trigger.id,
            due_at=due.trigger.next_run_at,
            next_run_at=next_run_at,
            error=error,
            seen_at=due.now,
            stop=stop,
        )
        return bool(passed)

    async def record_trigger_failure(
        self, id: TriggerId, error: str, *, stop: bool = False
    ) -> None:
        """Store on a trigger why it could not create a job; `stop` disables it too. Its due time
        stays."""
        await self._db.run("record_trigger_failure", id=id, error=error, stop=stop)

    async def emit_event(self, event: Event) -> None:
        """Store an event, to be matched."""
        await emit_event(self._db, event)

    async def unmatched_events(
        self, *, after: EventId | None = None, most: int = 100
    ) -> list[EventId]:
        """Events after `after` whose jobs are not created yet, the oldest first."""
        found = await self._db.run("unmatched_events", after=after, most=most)
        return [EventId(rows.uuid(row["id"])) for row in found]

    async def events(
        self,
        scope: Scope,
        *,
        before: EventId | None = None,
        name: str | None = None,
        correlation_id: str | None = None,
        created_after: datetime | None = None,
        created_before: datetime | None = None,
        most: int = 50,
    ) -> list[Event]:
        """Events, newest first; `before` is the last one already seen."""
        found = await self._db.run(
            "events",
            tenant_id=scope.tenant,
            before=before,
            name=name,
            correlation_id=correlation_id,
            created_after=created_after,
            created_before=created_before,
            most=most,
        )
        return rows.readable(trigger_rows.event, found)

    async def event(self, scope: Scope, id: EventId) -> Event | None:
        """One event, or None if there is none or the scope may not see it."""
        found = await self._db.run("event", id=id, tenant_id=scope.tenant)
        return trigger_rows.event(found[0]) if found else None

    async def find_events_by_suffix(
        self, scope: Scope, suffix: str, *, most: int = 10
    ) -> list[EventId]:
        """The events whose id ends with `suffix`, newest first."""
        found = await self._db.run(
            "find_events_by_suffix", suffix=suffix, tenant_id=scope.tenant, most=most
        )
        return [EventId(rows.uuid(row["id"])) for row in found]

    async def prune_events(self, *, days: float, before_id: EventId, most: int = 1000) -> int:
        """Delete some events matched more than `days` ago; `before_id` is an id of that age."""
        gone = await self._db.run("prune_events", days=days, before_id=before_id, most=most)
        return int(gone[0]["pruned"])

    def matching(self) -> "EventMatching":
        """A transaction in which one event is matched."""
        return EventMatching(self._db)


async def _record_firings(
    session: Session,
    id: TriggerId,
    jobs: Sequence[NewJob],
    stored: Sequence[EnqueueResult],
    due_at: datetime,
) -> None:
    firings = Batch(
        trigger_id=[id] * len(jobs),
        due_at=[job.trigger_due_at or due_at for job in jobs],
        job_id=[made.existing_id or job.id for job, made in zip(jobs, stored, strict=True)],
    )
    await session.run("record_firings", firings=firings)
    await session.run("trim_firings", id=id, kept=KEPT_FIRINGS)


class EventMatching:
    """Matches an event with one batch of triggers; stores the jobs and the position reached
    together."""

    def __init__(self, database: Database) -> None:
        self._context = database.transaction()
        self._after: TriggerId | None = None
        self._matches: list[TriggerMatch] = []

    async def __aenter__(self) -> "EventMatching":
        self._session = await self._context.__aenter__()
        return self

    async def __aexit__(self, *error: Any) -> bool | None:
        return await self._context.__aexit__(*error)

    async def take(self, id: EventId) -> Event | None:
        """Lock the event and return it, if it is not fully matched yet."""
        found = await self._session.run("claim_event", id=id)
        if not found:
            return None
        last = found[0]["matched_trigger_id"]
        self._after = None if last is None else TriggerId(rows.uuid(last))
        self._matches = [*trigger_rows.matches(found[0]["matches"])]
        return trigger_rows.event(found[0])

    @property
    def first_batch(self) -> bool:
        """True if no batch of the event's triggers is done yet."""
        return self._after is None

    async def listening(self, event: Event, *, most: int) -> list[Trigger]:
        """The next batch of an event's triggers; fewer than `most` means it is the last."""
        found = await self._session.run(
            "matching_triggers",
            tenant_id=event.tenant,
            name=event.name,
            after=self._after,
            most=most,
        )
        return trigger_rows.triggers(found)

    async def store(self, jobs: Sequence[NewJob]) -> list[EnqueueResult]:
        return await store(self._session, jobs) if jobs else []

    async def failed(self, id: TriggerId, error: str, *, stop: bool = False) -> None:
        await self._session.run("record_trigger_failure", id=id, error=error, stop=stop)

    async def matched(
        self,
        event: Event,
        jobs: int,
        matches: Sequence[TriggerMatch] = (),
        *,
        last: TriggerId | None = None,
    ) -> None:
        """Store the number of jobs of this batch, and the match of each trigger. `last` is the last
        trigger if more follow."""
        self._matches += matches
        await self._session.run(
            "record_event_matches",
            id=event.id,
            made=jobs,
            matches=dump_json([asdict(each) for each in _shortened(self._matches)]),
            last=last,
        )


async def emit_event(session: Session, event: Event) -> None:
    """Store an event, also through a caller's own transaction."""
    await session.run(
        "emit_event",
        id=event.id,
        tenant_id=event.tenant,
        name=event.name,
        data=dump_json(event.data),
        correlation_id=event.correlation_id,
        created_by=event.created_by,
        depth=event.depth,
    )


def _shortened(matches: Sequence[TriggerMatch]) -> Iterator[TriggerMatch]:
    """The matches of an event to store: all but unmatched ones beyond the first hundred."""
    unmatched = 0
    for match in matches:
        unmatched += match.outcome == "unmatched"
        if match.outcome != "unmatched" or unmatched <= MOST_UNMATCHED:
            yield match


def _batch(trigger: Trigger) -> Batch:
    values = {
        **{f.name: getattr(trigger, f.name) for f in fields(trigger)},
        "tenant_id": trigger.tenant,
    }
    return Batch(
        **{
            column: [_text(values[column]) if type == "json" else values[column]]
            for column, type in BATCHES["triggers"].items()
        }
    )


def _text(value: Any) -> str | None:
    return None if value is None else dump_json(list(value) if isinstance(value, tuple) else value)
