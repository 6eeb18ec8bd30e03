"""Events: what an application says has happened, and the jobs that follow."""

import asyncio
from collections.abc import Iterator, MutableSequence, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from typing import Any, TypedDict, Unpack

from windlass.core.instants import instant
from windlass.core.jobs.dead import DEAD_LETTERED, RESERVED
from windlass.core.jobs.dedupe import check_app_key, check_name
from windlass.core.jobs.models import ALL_TENANTS, DEFAULT_TENANT, NewJob, Scope
from windlass.core.payloads.json_text import dump_json
from windlass.core.triggers.trigger import Event, MatchOutcome, Trigger, TriggerMatch
from windlass.engine.background_tasks import BackgroundTasks
from windlass.engine.nudges import COMMITTED_SECONDS, Nudges
from windlass.engine.triggers.job_factory import JobFactory
from windlass.engine.triggers.refusals import REFUSALS
from windlass.errors import (
    AmbiguousId,
    ConditionInvalid,
    DatabaseOutage,
    DefinitionInvalid,
    EventChainTooLong,
    EventNotFound,
    IdInvalid,
    OptionInvalid,
    TemplateInvalid,
    TriggerRightGone,
    TriggerUnreadable,
    WindlassError,
)
from windlass.ids import EventId, TenantId, new_event_id, parse_job_id, parse_suffix
from windlass.storage.connection.deadlock_retry import retry_deadlocks
from windlass.storage.database import Session
from windlass.storage.storage import Storage
from windlass.storage.triggers.triggers import EventMatching, emit_event
from windlass.telemetry import Telemetry, describe_error

#: Triggers of an event that one transaction matches; an event with more takes several.
TRIGGER_BATCH = 100
#: How far down a chain of events and jobs an event may stand.
DEEPEST = 16

#: A trigger, or its definition, that is not what it should be: it is passed by and says so, and the
#: event's other triggers make their jobs. `replay` makes up for it.
_BROKEN = (ConditionInvalid, DefinitionInvalid, TemplateInvalid, TriggerUnreadable)

_TriggeredJob = tuple[Trigger | None, NewJob]


class EventOptions(TypedDict, total=False):
    """What an event tells beside its name and data."""

    tenant: str
    correlation_id: str | None
    created_by: str | None
    #: How many events stand before it in its chain.
    depth: int


class Events:
    def __init__(
        self, storage: Storage, job_factory: JobFactory, nudges: Nudges, telemetry: Telemetry
    ) -> None:
        self._storage = storage
        self._job_factory = job_factory
        self._nudges = nudges
        self._telemetry = telemetry
        self._background = BackgroundTasks()
        self._catching_up: asyncio.Task[None] | None = None

    def make(self, name: str, data: Any, **about: Unpack[EventOptions]) -> Event:
        """An event that is not kept yet; bad input raises."""
        depth = about.get("depth", 0)
        if depth > DEEPEST:
            raise EventChainTooLong(name, most=DEEPEST)
        if check_name("event", name).startswith(RESERVED):
            allowed = f'a name that does not begin with "{RESERVED}": those are Windlass\'s own'
            raise OptionInvalid("event", name, allowed=allowed)
        dump_json(data, what="event")
        return Event(
            id=new_event_id(),
            tenant=TenantId(check_name("tenant", about.get("tenant", DEFAULT_TENANT))),
            name=name,
            data=data,
            correlation_id=_correlation(about.get("correlation_id")),
            created_by=about.get("created_by"),
            depth=depth,
        )

    async def emit(self, event: Event) -> Event:
        """Keep an event and make its jobs. Answers the event with what came of it. Once it is kept it
        has happened: should its jobs not be made now, upkeep makes them."""
        await self._storage.triggers.emit_event(event)
        try:
            await self.match(event.id)
            # Read again, because another process may have matched it.
            return await self._storage.triggers.event(ALL_TENANTS, event.id) or event
        except DatabaseOutage as error:
            self._telemetry.trouble("matching events", error)
        return event

    async def emit_in(self, session: Session, event: Event) -> None:
        """Keep an event through a caller's own transaction: it has happened once that commits.

        Awaits nothing but the session. Its jobs are made soon after, by whoever finds it.
        """
        await emit_event(session, event)

    async def match_after_commit(self, id: EventId) -> None:
        """Make an event's jobs about when its caller's transaction is likely to have committed;
        should it take longer, upkeep finds it."""
        self._background.start(self._try_after_commit(id))

    def match_soon(self) -> None:
        """Make the jobs of events that wait, in the background: what the events tell of is done,
        and must not wait for who is told."""
        if self._catching_up is None or self._catching_up.done():
            self._catching_up = self._background.start(self._catch_up())

    async def close(self) -> None:
        await self._background.close()

    async def _try_after_commit(self, id: EventId) -> None:
        for seconds in COMMITTED_SECONDS:
            await asyncio.sleep(seconds)
            with self._log_outage():
                await self.match(id)

    async def _catch_up(self) -> None:
        with self._log_outage():
            while await self.match_waiting():
                pass

    @contextmanager
    def _log_outage(self) -> Iterator[None]:
        try:
            yield
        except WindlassError as error:  # the events wait; upkeep tries again
            self._telemetry.trouble("matching events", error)

    async def get(self, id: EventId | str, scope: Scope = ALL_TENANTS) -> Event:
        """One event by its id, or by any unambiguous ending of it of six or more characters;
        EventNotFound if there is none."""
        whole = await self._resolve(id, scope) if isinstance(id, str) else id
        if whole and (event := await self._storage.triggers.event(scope, EventId(whole))):
            return event
        raise EventNotFound(str(id))

    async def _resolve(self, id: str, scope: Scope) -> EventId | None:
        if whole := parse_job_id(id):
            return EventId(whole)
        suffix = parse_suffix(id)
        if suffix is None:
            raise IdInvalid(id, noun="event")
        found = await self._storage.triggers.find_events_by_suffix(scope, suffix)
        if len(found) > 1:
            raise AmbiguousId(id, found, said="events end in")
        return found[0] if found else None

    async def list(
        self,
        *,
        name: str | None = None,
        correlation_id: str | None = None,
        created_after: datetime | None = None,
        created_before: datetime | None = None,
        before: EventId | None = None,
        limit: int = 50,
        scope: Scope = ALL_TENANTS,
    ) -> Sequence[Event]:
        """Events, newest first: all, or those of a name, a correlation id or a time. `before` is the
        last one already seen."""
        return await self._storage.triggers.events(
            scope,
            before=before,
            name=name,
            correlation_id=correlation_id,
            created_after=_instant("created_after", created_after),
            created_before=_instant("created_before", created_before),
            most=limit,
        )

    async def replay(
        self, id: EventId | str, scope: Scope = ALL_TENANTS, *, created_by: str | None = None
    ) -> Event:
        """Emit a copy of an event, as deep in its chain: it makes its jobs anew, of the triggers
        there are now."""
        event = await self.get(id, scope)
        copy = replace(
            event,
            id=new_event_id(),
            created_by=created_by or event.created_by,
            matched_at=None,
            jobs=0,
            matches=(),
        )
        return await self.emit(copy)

    async def match_waiting(self) -> int:
        """Make the jobs of events that wait for it. Answers how many events were matched.

        One that cannot be matched goes on waiting and stands in the way of no other.
        """
        matched, after = 0, None
        while waiting := await self._storage.triggers.unmatched_events(after=after):
            for id in waiting:
                matched += await self._match_one(id)
            after = waiting[-1]
        return matched

    async def _match_one(self, id: EventId) -> bool:
        try:
            await self.match(id)
        except DatabaseOutage:
            raise
        except Exception as error:  # noqa: BLE001  the other events are not at fault
            self._telemetry.trouble("matching an event", error, event_id=str(id))
            return False
        return True

    async def match(self, id: EventId) -> int:
        """Make the jobs an event sets off, once per trigger; one trigger's trouble harms no other.

        Each batch of triggers is a transaction that also keeps the place reached, so an event
        whose matching was interrupted goes on from there. Answers how many jobs this call made.
        """
        created, more = await self._match_batch(id)
        while more:
            batch, more = await self._match_batch(id)
            created += batch
        return created

    @retry_deadlocks
    async def _match_batch(self, id: EventId) -> tuple[int, bool]:
        """Match an event with its next batch of triggers: how many jobs that made, and whether
        there are more triggers."""
        async with self._storage.triggers.matching() as matching:
            event = await matching.take(id)
            if event is None:
                return 0, False
            triggers = await self._listening(matching, event)
            matches: list[TriggerMatch] = []
            made = await self._build_jobs(matching, event, triggers, matches)
            created = await self._store(matching, event, made, matches)
            more = len(triggers) == TRIGGER_BATCH
            matches.sort(key=lambda match: match.trigger_id or "~")  # the hook is last
            last = triggers[-1].id if more else None
            await matching.matched(event, created, matches, last=last)
        if made:
            self._nudges.nudge({job.queue for _, job in made})
        return created, more

    async def _listening(self, matching: EventMatching, event: Event) -> Sequence[Trigger]:
        if event.depth <= DEEPEST:
            return await matching.listening(event, most=TRIGGER_BATCH)
        self._telemetry.warn("a chain of events was cut", event_id=str(event.id), name=event.name)
        return []

    async def _build_jobs(
        self,
        matching: EventMatching,
        event: Event,
        triggers: Sequence[Trigger],
        matches: MutableSequence[TriggerMatch],
    ) -> Sequence[_TriggeredJob]:
        """The jobs of an event, and for whom: a trigger, or (None) a definition's hook. What makes
        no job is added to `matches`."""
        made: list[_TriggeredJob] = []
        for trigger in triggers:
            try:
                if self._job_factory.applies(trigger, event.data):
                    made.append((trigger, await self._job_factory.after(trigger, event)))
                else:
                    failing = self._job_factory.failing(trigger, event.data)
                    because = f"it does not hold that {failing}"
                    matches.append(_match(trigger, "unmatched", because=because))
            except (*REFUSALS, *_BROKEN) as error:
                stop = isinstance(error, TriggerRightGone)
                matches.append(
                    await self._record_failure(matching, event, trigger, error, stop=stop)
                )
            except (WindlassError, OSError):
                raise  # whatever it is, it is no refusal: the event waits and is matched later
            except Exception as error:  # noqa: BLE001 - our own fault must not stop the others
                unexpected = f"unexpected {type(error).__name__}"
                matches.append(await self._record_failure(matching, event, trigger, unexpected))
        if event.name == DEAD_LETTERED and event.depth <= DEEPEST and matching.first_batch:
            try:
                if hook := await self._job_factory.on_dead_letter(event):
                    made.append((None, hook))
            except REFUSALS as error:
                matches.append(self._hook_failed(event, describe_error(error)))
        return made

    async def _store(
        self,
        matching: EventMatching,
        event: Event,
        made: Sequence[_TriggeredJob],
        matches: MutableSequence[TriggerMatch],
    ) -> int:
        created = 0
        stored = await matching.store([job for _, job in made])
        for (trigger, job), each in zip(made, stored, strict=True):
            match each.status:
                case "created":
                    matches.append(_match(trigger, "created", job))
                    created += 1
                case "existing":
                    because = "an equal job is there"
                    if job.dedupe_key is not None:
                        because += ": its dedupe key is the same"
                    found = job._replace(id=each.existing_id or job.id)
                    matches.append(_match(trigger, "existing", found, because=because))
                case status if trigger is None:
                    matches.append(self._hook_failed(event, f"its job was refused: {status}"))
                case status:
                    refused = f"its job was refused: {status}"
                    matches.append(await self._record_failure(matching, event, trigger, refused))
        return created

    async def _record_failure(
        self,
        matching: EventMatching,
        event: Event,
        trigger: Trigger,
        error: Exception | str,
        *,
        stop: bool = False,
    ) -> TriggerMatch:
        """Note on the trigger why it made no job, and log it without values of the event."""
        await matching.failed(trigger.id, str(error), stop=stop)
        self._telemetry.warn(
            "a trigger was refused",
            trigger=trigger.name,
            tenant_id=trigger.tenant,
            definition=trigger.definition,
            event_id=str(event.id),
            event_name=event.name,
            correlation_id=event.correlation_id,
            error=error if isinstance(error, str) else describe_error(error),
        )
        return _match(trigger, "failed", because=str(error))

    def _hook_failed(self, event: Event, error: str) -> TriggerMatch:
        self._telemetry.warn(
            "the on_dead_letter job could not be made",
            job_id=event.data["job_id"],
            definition=event.data["definition"],
            error=error,
        )
        definition = event.data["definition"]
        return TriggerMatch(
            trigger_id=None, trigger=None, definition=definition, outcome="failed", because=error
        )


def _match(
    trigger: Trigger | None,
    outcome: MatchOutcome,
    job: NewJob | None = None,
    *,
    because: str | None = None,
) -> TriggerMatch:
    about = job if trigger is None else trigger
    assert about is not None
    return TriggerMatch(
        trigger_id=None if trigger is None else str(trigger.id),
        trigger=None if trigger is None else trigger.name,
        definition=about.definition,
        outcome=outcome,
        job_id=None if job is None else str(job.id),
        because=because,
    )


def _instant(option: str, given: datetime | None) -> datetime | None:
    return None if given is None else instant(option, given)


def _correlation(id: str | None) -> str | None:
    return None if id is None else check_app_key("correlation_id", id)
