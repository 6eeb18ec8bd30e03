"""Fires due triggers; handles misfires, overlaps, refusals and failures."""

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
    """The result of a round: jobs created, and the time until the next trigger is due."""

    made: int
    next_in: timedelta | None


class TriggerFiring:
    """Fires each due time once: advancing a trigger and storing its job are one guarded
    transaction, so no leader is needed."""

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
        """Fire what is due now. A due time less than `grace` ago is not a misfire."""
        created = 0
        tried: set[tuple[TriggerId, datetime | None]] = set()
        while True:
            found, next_in = await self._storage.triggers.due_triggers(most=_MOST)
            due = [each for each in found if _due_key(each) not in tried]
            if not due:
                return FiredTriggers(created, next_in)
            tried.update(map(_due_key, due))
            created += await self._fire_all(await self._sort_due(due), grace)

    async def _fire_all(self, due: Sequence[DueTrigger], grace: timedelta) -> int:
        """Fire each trigger. A single outage may concern one row only, such as a lock on it, so the
        others continue; two in a row mean that the database is down."""
        created = 0
        last_outage = None
        away = False
        for each in due:
            try:
                created += await self._fire(each, grace)
                away = False
            except DatabaseOutage as outage:
                if away:
                    raise
                last_outage, away = outage, True
        if last_outage is not None:
            raise last_outage
        return created

    async def _sort_due(self, due: Sequence[DueTrigger]) -> Sequence[DueTrigger]:
        """Sort definitions behind those they run after, because their jobs wait for them."""
        definitions = await self._definitions.find({each.trigger.definition for each in due})
        graph = {key: definition.runs_after for key, definition in definitions.items()}
        if not any(graph.values()):
            return due
        depths: dict[str, int] = {}
        try:
            for key in TopologicalSorter(graph).static_order():
                depths[key] = max((depths[k] + 1 for k in graph.get(key, ())), default=0)
        except CycleError:  # each waits for open jobs of the others; any order will do
            return due
        return sorted(due, key=lambda each: depths.get(each.trigger.definition, 0))

    async def _fire(self, due: DueTrigger, grace: timedelta) -> int:
        """Fire one trigger; returns the number of jobs created, 0 if another process was faster.

        Only a refusal advances the trigger without a job. After any other error it stays due.
        """
        try:
            return await self._make(due, grace)
        except REFUSALS as error:
            await self._refused(due, error)
        except DatabaseOutage:
            raise
        except Exception as error:  # noqa: BLE001  one trigger's failure must not stop the others
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
        """Check if an earlier job that is still open prevents this one."""
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
        """Skip this due time and store the reason on the trigger; the next may succeed."""
        if isinstance(error, TriggerRefused) and error.stored.status in NOT_SCHEDULED:
            return
        self._warn("a trigger was refused", due, error)
        schedule, due_at = _schedule_of(due.trigger), due.trigger.next_run_at
        if schedule is not None and due_at is not None:
            _, next_run_at = fires(schedule, due_at, due.now, "skip")
            stop = isinstance(error, TriggerRightGone)
            await self._storage.triggers.skip_due_time(due, next_run_at, str(error), stop=stop)

    async def _failed(self, due: DueTrigger, error: Exception) -> None:
        """Store on the trigger why it could not fire. It stays due; the next try is after a pause, or
        as soon as it is edited."""
        self._warn("a trigger could not fire", due, error)
        message = str(error) if isinstance(error, WindlassError) else _unexpected(error)
        await self._storage.triggers.record_trigger_failure(due.trigger.id, message)

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
    # The type only: the message may repeat a payload.
    return f"unexpected {type(error).__name__}"


def _due_key(due: DueTrigger) -> tuple[TriggerId, datetime | None]:
    return due.trigger.id, due.trigger.next_run_at
