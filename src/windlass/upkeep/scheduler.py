"""Fires triggers when their time has come. Any number of processes may run it at once."""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from graphlib import CycleError, TopologicalSorter

from windlass.core.models import ALL_TENANTS, NewJob
from windlass.core.schedule import GRACE, fires
from windlass.core.states import JobState
from windlass.core.trigger import Trigger
from windlass.core.trigger_fields import schedule_of
from windlass.engine.engine import Engine
from windlass.engine.loop import Loop
from windlass.errors import TriggerRightGone, WindlassError
from windlass.ids import TriggerId
from windlass.storage.triggers import Due, Refused

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
        self._engine.nudges.here.add(self._hear)
        self._loop.start()

    async def stop(self) -> None:
        self._engine.nudges.here.discard(self._hear)
        await self._loop.stop()

    async def tick(self) -> int:
        """Fire what is due now. Answers how many jobs were made."""
        made = 0
        tried: set[tuple[TriggerId, datetime | None]] = set()
        while True:
            found, next_in = await self._engine.storage.due_triggers(most=_MOST)
            due = [each for each in found if _time_of(each) not in tried]
            if not due:
                break
            tried.update(map(_time_of, due))
            for each in await self._in_order(due):
                made += await self._fire(each)
        if next_in is not None:
            self._loop.wake(after=max(_SHORTEST_SECONDS, next_in.total_seconds()))
        return made

    def _hear(self, queues: Collection[str]) -> None:
        if "*" in queues:  # more than a job has come: perhaps a trigger was changed
            self._loop.wake()

    async def _in_order(self, due: Sequence[Due]) -> Sequence[Due]:
        """As given, but definitions behind those they run after: their jobs wait for those."""
        graph = {
            key: (await self._engine.definitions.get(key)).runs_after
            for key in {each.trigger.definition for each in due}
        }
        if not any(graph.values()):
            return due
        depths: dict[str, int] = {}
        try:
            for key in TopologicalSorter(graph).static_order():
                depths[key] = max((depths[k] + 1 for k in graph.get(key, ())), default=0)  # type: ignore[call-overload]  # keys are texts
        except CycleError:  # each waits for what is open of the others, in whatever order
            return due
        return sorted(due, key=lambda each: depths[each.trigger.definition])

    async def _fire(self, due: Due) -> int:
        """How many jobs were made; none if another process was faster."""
        storage, trigger = self._engine.storage, due.trigger
        schedule, due_at = schedule_of(trigger), trigger.next_run_at
        if schedule is None or due_at is None:
            return 0
        try:
            times, next_run_at = fires(
                schedule, due_at, due.now, trigger.misfire, grace=self._grace
            )
            jobs: list[NewJob] = []
            overlaps = await self._overlaps(trigger)
            if not overlaps:
                jobs = [await self._engine.maker.at(trigger, at) for at in times]
            stored = await storage.fire(trigger, due_at, next_run_at, jobs)
        except (Refused, WindlassError) as error:
            await self._failed(due, error)
            return 0
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
        last = await self._engine.storage.get(ALL_TENANTS, trigger.last_job_id)
        if last is None or last.ended:
            return False
        return trigger.overlap == "skip" or last.state is not JobState.RUNNING

    def _skipped(self, due: Due, why: str) -> None:
        self._engine.telemetry.warn(
            "a due time was skipped",
            trigger=due.trigger.name,
            tenant_id=due.trigger.tenant,
            definition=due.trigger.definition,
            due_at=str(due.trigger.next_run_at),
            why=why,
        )

    async def _failed(self, due: Due, error: Exception) -> None:
        """Note it on the trigger, and pass this due time by: the next may be better."""
        trigger, storage = due.trigger, self._engine.storage
        schedule, due_at = schedule_of(trigger), trigger.next_run_at
        self._engine.telemetry.warn(
            "a trigger was refused",
            trigger=trigger.name,
            tenant_id=trigger.tenant,
            definition=trigger.definition,
            due_at=str(due_at),
            error=str(error),
        )
        if schedule is not None and due_at is not None:
            _, next_run_at = fires(schedule, due_at, due.now, "skip")
            await storage.fire(trigger, due_at, next_run_at, [])
        stop = isinstance(error, TriggerRightGone)
        await storage.trigger_failed(trigger.id, str(error), stop=stop)


def _time_of(due: Due) -> tuple[TriggerId, datetime | None]:
    return due.trigger.id, due.trigger.next_run_at
