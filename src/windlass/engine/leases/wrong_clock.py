"""Takes back what a clock that was ahead has put too far into the future."""

from dataclasses import replace
from datetime import datetime, timedelta

from windlass import clock
from windlass.core.jobs.models import ALL_TENANTS
from windlass.core.leases.wrong_clock import CLOCK_MARGIN, clock_jump, corrected_run
from windlass.core.triggers.trigger import Trigger
from windlass.core.triggers.trigger_fields import schedule_of
from windlass.errors import WindlassError
from windlass.storage.storage import Storage
from windlass.telemetry import Telemetry


class ClockRepair:
    """Corrects leases, retries and schedules; any number of processes may do so at once."""

    def __init__(self, storage: Storage, telemetry: Telemetry) -> None:
        self._storage = storage
        self._telemetry = telemetry
        self._ahead_of_monotonic = _ahead_of_monotonic()

    async def tick(self) -> int:
        """Correct what there is to correct. Answers how much."""
        self._look_at_own_clock()
        if await self._storage.leases.clock_ahead() <= CLOCK_MARGIN:
            return 0
        corrected = {
            "leases": await self._storage.leases.expire_overlong_leases(),
            "retries": await self._storage.leases.correct_retry_times(),
            "schedules": await self._correct_schedules(),
        }
        if any(corrected.values()):
            self._telemetry.warn("the database's clock was ahead and is corrected", **corrected)
        return sum(corrected.values())

    def _look_at_own_clock(self) -> None:
        now = _ahead_of_monotonic()
        if jump := clock_jump(self._ahead_of_monotonic, now):
            self._telemetry.warn(
                "this machine's clock was set, or the machine slept",
                seconds=round(jump.total_seconds()),
            )
        self._ahead_of_monotonic = now

    async def _correct_schedules(self) -> int:
        now = await self._storage.now()
        corrected = 0
        for seen in await self._storage.triggers.triggers(ALL_TENANTS):
            if _corrected_due_time(seen, now) == seen.next_run_at:
                continue
            # Asked again of the row as it is then: it may have fired or been edited meanwhile.
            moved = await self._storage.triggers.update_trigger(
                seen.id, lambda row: replace(row, next_run_at=_corrected_due_time(row, now))
            )
            corrected += bool(moved)
        return corrected


def _corrected_due_time(trigger: Trigger, now: datetime) -> datetime | None:
    try:
        schedule = None if trigger.unreadable else schedule_of(trigger)
    except WindlassError:  # the scheduler tells what is wrong with it
        return trigger.next_run_at
    if schedule is None or trigger.next_run_at is None or not trigger.enabled:
        return trigger.next_run_at
    return corrected_run(schedule, trigger.next_run_at, now)


def _ahead_of_monotonic() -> timedelta:
    return timedelta(seconds=clock.utcnow().timestamp() - clock.monotonic())
