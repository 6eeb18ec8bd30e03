"""Events: what an application reports, and the jobs that they trigger."""

import asyncio
from collections.abc import Callable, Iterator, MutableSequence, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from windlass.core.instants import instant
from windlass.core.jobs.dead import DEAD_LETTERED, RESERVED
from windlass.core.jobs.dedupe import check_app_key, check_name
from windlass.core.jobs.models import ALL_TENANTS, DEFAULT_TENANT, NewJob, Scope
from windlass.core.payloads.json_text import dump_json
from windlass.core.triggers.trigger import Event, MatchOutcome, Trigger, TriggerMatch
from windlass.engine.background_tasks import BackgroundTasks
from windlass.engine.nudges import COMMITTED_SECONDS, Nudges
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

if TYPE_CHECKING:
    from windlass.engine.triggers.job_factory import JobFactory

#: Triggers of an event that one transaction matches; an event with more takes several.
TRIGGER_BATCH = 100
#: Longest chain of events and jobs; an event further down fires no triggers.
DEEPEST = 16

#: Errors of a broken trigger or definition: the trigger is skipped with a note, and the event's
#: other triggers create their jobs. `replay` creates the missing job later.
_BROKEN = (ConditionInvalid, DefinitionInvalid, TemplateInvalid, TriggerUnreadable)

_TriggeredJob = tuple[Trigger | None, NewJob]


class EventOptions(TypedDict, total=False):
    """The options of an event beside its name and data."""

    tenant: str
    correlation_id: str | None
    created_by: str | None
    #: The number of events before it in its chain.
    depth: int


class Events:
    def __init__(
        self,
        storage: Storage,
        job_factory: "Callable[[], JobFactory]",
        nudges: Nudges,
        telemetry: Telemetry,
    ) -> None:
        self._storage = storage
        self._job_factory = job_factory
        self._nudges = nudges
        self._telemetry = telemetry
        self._background = BackgroundTasks()
        self._catching_up: asyncio.Task[None] | None = None

    def make(self, name: str, data: Any, **about: Unpack[EventOptions]) -> Event:
        """Build an event without storing it; bad input raises."""
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
        """Store an event and create its jobs. Returns the event with its matches. Once it is stored
        it has happened: if its jobs cannot be created now, upkeep creates them."""
        await self._storage.triggers.emit_event(event)
        try:
            await self.match(event.id)
            # Read it again: another process may have matched it.
            return await self._storage.triggers.event(ALL_TENANTS, event.id) or event
        except DatabaseOutage as error:
            self._telemetry.trouble("matching events", error)
        return event

    async def emit_in(self, session: Session, event: Event) -> None:
        """Store an event through a caller's own transaction: it has happened once that commits.

        Awaits nothing but the session. Any process creates its jobs soon after.
        """
        await emit_event(session, event)

    async def match_after_commit(self, id: EventId) -> None:
        """Create an event's jobs when its caller's transaction has probably committed; if it takes
        longer, upkeep finds the event."""
        self._background.start(self._try_after_commit(id))

    def match_soon(self) -> None:
        """Create the jobs of waiting events in the background: the verb that emitted them must not
        wait for their triggers."""
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
        except WindlassError as error:  # the events stay unmatched; upkeep tries again
            self._telemetry.trouble("matching events", error)

    async def get(self, id: EventId | str, scope: Scope = ALL_TENANTS) -> Event:
        """One event by its id or an unambiguous suffix of six or more characters; EventNotFound if
        there is none."""
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
        """List events, newest first: all, or those of a name, a correlation id or a time. `before`
        is the last one already seen."""
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
        """Emit a copy of an event, at the same depth of its chain: the current triggers create its
        jobs again."""
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
        """Create the jobs of waiting events. Returns the number of events matched.

        An event that cannot be matched stays waiting and does not block others.
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
        """Create an event's jobs, once per trigger; one trigger's failure does not affect others.

        Each batch of triggers is a transaction that also stores the position, so an interrupted
        match resumes there. Returns the number of jobs this call created.
        """
        created, more = await self._match_batch(id)
        while more:
            batch, more = await self._match_batch(id)
            created += batch
        return created

    @retry_deadlocks
    async def _match_batch(self, id: EventId) -> tuple[int, bool]:
        """Match an event with its next batch of triggers; returns the number of jobs created, and
        True if there are more triggers."""
        async with self._storage.triggers.matching() as matching:
            event = await matching.take(id)
            if event is None:
                return 0, False
            triggers = await self._listening(matching, event)
            matches: list[TriggerMatch] = []
            jobs = await self._build_jobs(matching, event, triggers, matches)
            created = await self._store(matching, event, jobs, matches)
            more = len(triggers) == TRIGGER_BATCH
            matches.sort(key=lambda match: match.trigger_id or "~")  # the hook is last
            last = triggers[-1].id if more else None
            await matching.matched(event, created, matches, last=last)
        if jobs:
            self._nudges.nudge({job.queue for _, job in jobs})
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
        """The jobs of an event, each with its trigger, or None for a definition's hook. Triggers
        without a job are added to `matches`."""
        jobs: list[_TriggeredJob] = []
        for trigger in triggers:
            try:
                if self._job_factory().applies(trigger, event.data):
                    jobs.append((trigger, await self._job_factory().after(trigger, event)))
                else:
                    failing = self._job_factory().failing(trigger, event.data)
                    because = f"it does not hold that {failing}"
                    matches.append(_match(trigger, "unmatched", because=because))
            except (*REFUSALS, *_BROKEN) as error:
                stop = isinstance(error, TriggerRightGone)
                matches.append(
                    await self._record_failure(matching, event, trigger, error, stop=stop)
                )
            except (WindlassError, OSError):
                raise  # not a refusal: the event waits and is matched later
            except Exception as error:  # noqa: BLE001 - a bug here must not stop the others
                unexpected = f"unexpected {type(error).__name__}"
                matches.append(await self._record_failure(matching, event, trigger, unexpected))
        if event.name == DEAD_LETTERED and event.depth <= DEEPEST and matching.first_batch:
            try:
                if hook := await self._job_factory().on_dead_letter(event):
                    jobs.append((None, hook))
            except REFUSALS as error:
                matches.append(self._hook_failed(event, describe_error(error)))
        return jobs

    async def _store(
        self,
        matching: EventMatching,
        event: Event,
        jobs: Sequence[_TriggeredJob],
        matches: MutableSequence[TriggerMatch],
    ) -> int:
        created = 0
        stored = await matching.store([job for _, job in jobs])
        for (trigger, job), each in zip(jobs, stored, strict=True):
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
        """Store on the trigger why it created no job, and log it without values of the event."""
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
