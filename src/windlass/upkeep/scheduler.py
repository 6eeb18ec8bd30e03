"""Fires triggers when their time has come. Any number of processes may run it at once."""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from graphlib import CycleError, TopologicalSorter

from windlass.core.jobs.models import ALL_TENANTS, NewJob
from windlass.core.jobs.states import JobState
from windlass.core.triggers.schedule import GRACE, Schedule, fires
from windlass.core.triggers.trigger import Trigger
from windlass.core.triggers.trigger_fields import schedule_of
from windlass.engine.engine import Engine
from windlass.engine.loop import Loop
from windlass.engine.triggers.refusals import NOT_SCHEDULED, REFUSALS
from windlass.errors import DatabaseOutage, TriggerRightGone, TriggerUnreadable, WindlassError
from windlass.ids import TriggerId
from windlass.storage.triggers.triggers import DueTrigger, TriggerRefused
from windlass.telemetry import describe_error

_MOST = 100
#: However soon the next one is due, a look that found nothing is not repeated sooner.
_SHORTEST_SECONDS = 0.05


class Scheduler:
    """Moving a trigger on and storing its job are one guarded transaction; there is no leader."""

    def __init__(self, engine: Engine, *, tick_seconds: float) -> None:
        self._engine = engine
        # Whoever looks every so often sees a due time up to that late, and missed nothing.
        self._grace = max(GRACE, timedelta(seconds=2 * tick_seconds))
        self._loop = Loop("scheduling", self.tick, seconds=tick_seconds, telemetry=engine.telemetry)

    def start(self) -> None:
        self._engine.nudges.local_listeners.add(self._on_nudge)
        self._loop.start()

    async def stop(self) -> None:
        self._engine.nudges.local_listeners.discard(self._on_nudge)
        await self._loop.stop()

    async def tick(self) -> int:
        """Fire what is due now. Answers how many jobs were made."""
        made = 0
        tried: set[tuple[TriggerId, datetime | None]] = set()
        while True:
            found, next_in = await self._engine.storage.triggers.due_triggers(most=_MOST)
            due = [each for each in found if _due_key(each) not in tried]
            if not due:
                break
            tried.update(map(_due_key, due))
            made += await self._fire_all(await self._sort_due(due))
        if next_in is not None:
            self._loop.wake(after=max(_SHORTEST_SECONDS, next_in.total_seconds()))
        return made

    async def _fire_all(self, due: Sequence[DueTrigger]) -> int:
        """Fire each. One outage may be one row's, such as a lock that somebody holds on it, and the
        others go on; after two in a row the database is away."""
        made = 0
        last_outage = None
        away = False
        for each in due:
            try:
                made += await self._fire(each)
                away = False
            except DatabaseOutage as outage:
                if away:
                    raise
                last_outage, away = outage, True
        if last_outage is not None:
            raise last_outage
        return made

    def _on_nudge(self, queues: Collection[str]) -> None:
        if "*" in queues:  # more than a job has come: perhaps a trigger was changed
            self._loop.wake()

    async def _sort_due(self, due: Sequence[DueTrigger]) -> Sequence[DueTrigger]:
        """As given, but definitions behind those they run after: their jobs wait for those."""
        definitions = await self._engine.definitions.find({each.trigger.definition for each in due})
        graph = {key: definition.runs_after for key, definition in definitions.items()}
        if not any(graph.values()):
            return due
        depths: dict[str, int] = {}
        try:
            for key in TopologicalSorter(graph).static_order():
                depths[key] = max((depths[k] + 1 for k in graph.get(key, ())), default=0)
        except CycleError:  # each waits for what is open of the others, in whatever order
            return due
        return sorted(due, key=lambda each: depths.get(each.trigger.definition, 0))

    async def _fire(self, due: DueTrigger) -> int:
        """How many jobs were made; none if another process was faster.

        Only a refusal moves the trigger on without a job. After anything else it stays due.
        """
        try:
            return await self._make(due)
        except REFUSALS as error:
            await self._refused(due, error)
        except DatabaseOutage:
            raise
        except Exception as error:  # noqa: BLE001  one trigger's fault must not stop the others
            await self._failed(due, error)
        return 0

    async def _make(self, due: DueTrigger) -> int:
        storage, trigger = self._engine.storage, due.trigger
        schedule, due_at = _schedule_of(trigger), trigger.next_run_at
        if schedule is None or due_at is None:
            raise TriggerUnreadable(trigger.name, trigger.unreadable or ("type",))
        times, next_run_at = fires(schedule, due_at, due.now, trigger.misfire, grace=self._grace)
        jobs: list[NewJob] = []
        overlaps = await self._overlaps(trigger)
        if not overlaps:
            jobs = [await self._engine.job_factory.at(trigger, at) for at in times]
        stored = await storage.triggers.fire(trigger, due_at, next_run_at, jobs)
        if stored is not None and due_at not in times:
            self._skipped(due, "its time had passed")
        elif stored is not None and overlaps:
            self._skipped(due, "its last job has not ended")
        if stored:
            self._engine.nudges.nudge({job.queue for job in jobs})
        return sum(each.status == "created" for each in stored or ())

    async def _overlaps(self, trigger: Trigger) -> bool:
        """Whether an earlier job that has not ended keeps this one from being made."""
        if trigger.overlap == "allow" or trigger.last_job_id is None:
            return False
        last = await self._engine.storage.jobs.get(ALL_TENANTS, trigger.last_job_id)
        if last is None or last.ended:
            return False
        return trigger.overlap == "skip" or last.state is not JobState.RUNNING

    def _skipped(self, due: DueTrigger, why: str) -> None:
        self._engine.telemetry.warn(
            "a due time was skipped",
            trigger=due.trigger.name,
            tenant_id=due.trigger.tenant,
            definition=due.trigger.definition,
            due_at=str(due.trigger.next_run_at),
            why=why,
        )

    async def _refused(self, due: DueTrigger, error: Exception) -> None:
        """Pass this due time by and note why on the trigger: the next may be better."""
        if isinstance(error, TriggerRefused) and error.stored.status in NOT_SCHEDULED:
            return
        self._warn("a trigger was refused", due, error)
        schedule, due_at = _schedule_of(due.trigger), due.trigger.next_run_at
        if schedule is not None and due_at is not None:
            _, next_run_at = fires(schedule, due_at, due.now, "skip")
            stop = isinstance(error, TriggerRightGone)
            await self._engine.storage.triggers.skip_due_time(
                due, next_run_at, str(error), stop=stop
            )

    async def _failed(self, due: DueTrigger, error: Exception) -> None:
        """Note on the trigger why it could not fire. It stays due and is tried again after a pause,
        or as soon as it is edited."""
        self._warn("a trigger could not fire", due, error)
        told = str(error) if isinstance(error, WindlassError) else _unexpected(error)
        await self._engine.storage.triggers.record_trigger_failure(due.trigger.id, told)

    def _warn(self, what: str, due: DueTrigger, error: Exception) -> None:
        self._engine.telemetry.warn(
            what,
            trigger=due.trigger.name,
            tenant_id=due.trigger.tenant,
            definition=due.trigger.definition,
            due_at=str(due.trigger.next_run_at),
            error=str(error) if isinstance(error, TriggerRefused) else describe_error(error),
        )


def _schedule_of(trigger: Trigger) -> Schedule | None:
    if trigger.unreadable:
        raise TriggerUnreadable(trigger.name, trigger.unreadable)
    return schedule_of(trigger)


def _unexpected(error: Exception) -> str:
    # Its kind only: what it says may repeat a payload.
    return f"unexpected {type(error).__name__}"


def _due_key(due: DueTrigger) -> tuple[TriggerId, datetime | None]:
    return due.trigger.id, due.trigger.next_run_at
