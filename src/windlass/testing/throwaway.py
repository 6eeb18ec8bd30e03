"""A SQLite file for one test, with a clock that stands still."""

import asyncio
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

from windlass import clock
from windlass.core.jobs.models import ALL_TENANTS
from windlass.core.triggers.trigger_fields import with_next_run
from windlass.engine.engine import Engine
from windlass.settings import Settings
from windlass.storage.connection.virtual_clock import NOW, VirtualClock
from windlass.storage.storage import open_storage
from windlass.testing.summary import OutcomeCounter
from windlass.upkeep.scheduler import Scheduler

#: The least that time moves on.
_MOMENT = timedelta(microseconds=1)
_MOST_STOPS = 10_000


class TemporaryDatabase:
    """The file and its time. `now` may be set at will; engines tell the database before they
    do anything else."""

    def __init__(self, at: datetime | None) -> None:
        self._folder = TemporaryDirectory(prefix="windlass-test-")
        self.url = f"sqlite:///{Path(self._folder.name) / 'windlass.db'}"
        self.now = at or clock.utcnow().replace(microsecond=0)
        self.told: datetime | None = None

    def engine(self, settings: Settings) -> "TestEngine":
        return TestEngine(self, settings)

    def remove(self) -> None:
        self._folder.cleanup()


class TestEngine(Engine):
    """An engine on a throw-away file."""

    __test__ = False  # to pytest, "Test" in front of a name means tests inside
    telemetry: OutcomeCounter

    def __init__(self, place: TemporaryDatabase, settings: Settings) -> None:
        super().__init__(open_storage(place.url, now=NOW), settings, OutcomeCounter())
        self._place = place
        self._scheduler = Scheduler(self, tick_seconds=1)
        self._traveling = asyncio.Lock()

    def join(self, tx: object) -> None:
        """Never: a caller's transaction leads to the caller's own database, not to this one."""

    async def ready(self) -> None:
        """As always; then make it the time it should be, schedules firing on the way."""
        if self._place.told is None:
            await self._set_time(self._place.now)
        await super().ready()
        if self._place.now == self._place.told:
            return
        async with self._traveling:
            await self._travel(self._place.now)

    async def fire(self) -> int:
        """Fire the schedules that are due now. Answers how many jobs were made."""
        return await self._scheduler.tick()

    async def next_fire(self) -> timedelta | None:
        """How long it is until a schedule is due; None if none will be."""
        _, wait = await self.storage.triggers.due_triggers(most=1)
        return wait

    async def _travel(self, to: datetime) -> None:
        now = self._place.told or to
        if to < now:
            now = await self._set_time(to)
            await self._reset_due_times(to)
        for _ in range(_MOST_STOPS):
            if now == to:
                return
            wait = await self.next_fire()
            now = await self._set_time(to if wait is None else min(to, now + max(wait, _MOMENT)))
            await self.fire()
        raise AssertionError(
            f"there are more than {_MOST_STOPS:,} due times of schedules on the way to {to}: "
            "travel there before anything else is done"
        )

    async def _reset_due_times(self, now: datetime) -> None:
        """In the past, schedules are due at other times."""
        for trigger in await self.storage.triggers.triggers(ALL_TENANTS):
            if trigger.next_run_at is not None:
                await self.storage.triggers.update_trigger(
                    trigger.id, lambda row: with_next_run(replace(row, last_run_at=None), now)
                )

    async def _set_time(self, now: datetime) -> datetime:
        clock = VirtualClock(self.storage)
        await (clock.install(now) if self._place.told is None else clock.set(now))
        self._place.told = now
        return now
