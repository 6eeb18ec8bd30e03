"""Fires triggers whose time has come: misfires, overlaps, refusals and failures."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from graphlib import CycleError, TopologicalSorter
from typing import NamedTuple

from windlass.core.jobs.models import ALL_TENANTS, NewJob
from windlass.core.jobs.states import JobState
from windlass.core.triggers.schedule import GRACE, Schedule, fires
from windlass.core.triggers.trigger import Trigger
from windlass.core.triggers.trigger_fields import schedule_of
from windlass.engine.definitions.definitions import Definitions
from windlass.engine.nudges import Nudges
from windlass.engine.triggers.job_factory import JobFactory
from windlass.engine.triggers.refusals import NOT_SCHEDULED, REFUSALS
from windlass.errors import DatabaseOutage, TriggerRightGone, TriggerUnreadable, WindlassError
from windlass.ids import TriggerId
from windlass.storage.storage import Storage
from windlass.storage.triggers.triggers import DueTrigger, TriggerRefused
from windlass.telemetry import Telemetry, describe_error

#: Due triggers read at once.
_MOST = 100


class FiredTriggers(NamedTuple):
    """The result of a round: jobs made, and the time until the next trigger is due."""

    made: int
    next_in: timedelta | None


class TriggerFiring:
    """Moving a trigger on and storing its job are one guarded transaction; there is no leader."""

    def __init__(
        self,
        storage: Storage,
        definitions: Definitions,
        job_factory: JobFactory,
        nudges: Nudges,
        telemetry: Telemetry,
    ) -> None:
        self._storage = storage
        self._definitions = definitions
        self._job_factory = job_factory
        self._nudges = nudges
        self._telemetry = telemetry

    async def fire_due(self, *, grace: timedelta = GRACE) -> FiredTriggers:
        """Fire what is due now. A due time that passed less than `grace` ago is not missed."""
        made = 0
        tried: set[tuple[TriggerId, datetime | None]] = set()
        while True:
            found, next_in = await self._storage.triggers.due_triggers(most=_MOST)
            due = [each for each in found if _due_key(each) not in tried]
            if not due:
                return FiredTriggers(made, next_in)
            tried.update(map(_due_key, due))
            made += await self._fire_all(await self._sort_due(due), grace)

    async def _fire_all(self, due: Sequence[DueTrigger], grace: timedelta) -> int:
        """Fire each. One outage may be one row's, such as a lock that somebody holds on it, and the
        others go on; after two in a row the database is away."""
        made = 0
        last_outage = None
        away = False
        for each in due:
            try:
                made += await self._fire(each, grace)
                away = False
            except DatabaseOutage as outage:
                if away:
                    raise
                last_outage, away = outage, True
        if last_outage is not None:
            raise last_outage
        return made

    async def _sort_due(self, due: Sequence[DueTrigger]) -> Sequence[DueTrigger]:
        """As given, but definitions behind those they run after: their jobs wait for those."""
        definitions = await self._definitions.find({each.trigger.definition for each in due})
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

    async def _fire(self, due: DueTrigger, grace: timedelta) -> int:
        """How many jobs were made; none if another process was faster.

        Only a refusal moves the trigger on without a job. After anything else it stays due.
        """
        try:
            return await self._make(due, grace)
        except REFUSALS as error:
            await self._refused(due, error)
        except DatabaseOutage:
            raise
        except Exception as error:  # noqa: BLE001  one trigger's fault must not stop the others
            await self._failed(due, error)
        return 0

    async def _make(self, due: DueTrigger, grace: timedelta) -> int:
        trigger = due.trigger
        schedule, due_at = _schedule_of(trigger), trigger.next_run_at
        if schedule is None or due_at is None:
            raise TriggerUnreadable(trigger.name, trigger.unreadable or ("type",))
        times, next_run_at = fires(schedule, due_at, due.now, trigger.misfire, grace=grace)
        jobs: list[NewJob] = []
        overlaps = await self._overlaps(trigger)
        if not overlaps:
            jobs = [await self._job_factory.at(trigger, at) for at in times]
        stored = await self._storage.triggers.fire(trigger, due_at, next_run_at, jobs)
        if stored is not None and due_at not in times:
            self._skipped(due, "its time had passed")
        elif stored is not None and overlaps:
            self._skipped(due, "its last job has not ended")
        if stored:
            self._nudges.nudge({job.queue for job in jobs})
        return sum(each.status == "created" for each in stored or ())

    async def _overlaps(self, trigger: Trigger) -> bool:
        """Whether an earlier job that has not ended keeps this one from being made."""
        if trigger.overlap == "allow" or trigger.last_job_id is None:
            return False
        last = await self._storage.jobs.get(ALL_TENANTS, trigger.last_job_id)
        if last is None or last.ended:
            return False
        return trigger.overlap == "skip" or last.state is not JobState.RUNNING

    def _skipped(self, due: DueTrigger, why: str) -> None:
        self._telemetry.warn(
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
            await self._storage.triggers.skip_due_time(due, next_run_at, str(error), stop=stop)

    async def _failed(self, due: DueTrigger, error: Exception) -> None:
        """Note on the trigger why it could not fire. It stays due and is tried again after a pause,
        or as soon as it is edited."""
        self._warn("a trigger could not fire", due, error)
        told = str(error) if isinstance(error, WindlassError) else _unexpected(error)
        await self._storage.triggers.record_trigger_failure(due.trigger.id, told)

    def _warn(self, what: str, due: DueTrigger, error: Exception) -> None:
        self._telemetry.warn(
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
