"""Temporary database: a SQLite file for one test, with a clock that only the test moves."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from windlass import clock
from windlass.core.durations import duration
from windlass.core.jobs.models import ALL_TENANTS
from windlass.core.triggers.trigger_fields import with_next_run
from windlass.engine.engine import Engine
from windlass.errors import OptionInvalid
from windlass.settings import Settings
from windlass.storage.connection.virtual_clock import NOW, VirtualClock
from windlass.storage.storage import open_storage
from windlass.testing.summary import OutcomeCounter
from windlass.upkeep.scheduler import Scheduler

#: The smallest step of time.
_MOMENT = timedelta(microseconds=1)
_MOST_STOPS = 10_000

To = str | datetime | timedelta

_ALLOWED = 'a time such as "2026-03-29 02:30", a datetime, a timedelta, or a duration such as "+2h"'


class TemporaryDatabase:
    """The file and its time. A test may set `now`; engines apply it to the database before they do
    anything else."""

    def __init__(self, at: datetime | None) -> None:
        self._folder = TemporaryDirectory(prefix="windlass-test-")
        self.url = f"sqlite:///{Path(self._folder.name) / 'windlass.db'}"
        self.now = at or clock.utcnow().replace(microsecond=0)
        self.applied: datetime | None = None

    def engine(self, settings: Settings) -> "TestEngine":
        return TestEngine(self, settings)

    def remove(self) -> None:
        self._folder.cleanup()


class TestEngine(Engine):
    """An engine on a temporary database."""

    __test__ = False  # to pytest, "Test" in front of a name means tests inside
    telemetry: OutcomeCounter

    def __init__(self, database: TemporaryDatabase, settings: Settings) -> None:
        super().__init__(open_storage(database.url, now=NOW), settings, OutcomeCounter())
        self._database = database
        self._scheduler = Scheduler(self, tick_seconds=1)
        self._traveling = asyncio.Lock()

    def join(self, tx: object) -> None:
        """None: a caller's transaction belongs to the caller's own database, not to this one."""

    async def ready(self) -> None:
        """Make the database ready, then move its time to `now`; schedules fire on the way."""
        if self._database.applied is None:
            await self._set_time(self._database.now)
        await super().ready()
        if self._database.now == self._database.applied:
            return
        async with self._traveling:
            await self._travel(self._database.now)

    async def fire(self) -> int:
        """Fire the schedules that are due now. Returns how many jobs they created."""
        return await self._scheduler.tick()

    async def next_fire(self) -> timedelta | None:
        """Time until the next schedule is due; None if there is none."""
        _, wait = await self.storage.triggers.due_triggers(most=1)
        return wait

    async def _travel(self, to: datetime) -> None:
        now = self._database.applied or to
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
        """Compute the due times of schedules again, after a move into the past."""
        for trigger in await self.storage.triggers.triggers(ALL_TENANTS):
            if trigger.next_run_at is not None:
                await self.storage.triggers.update_trigger(
                    trigger.id, lambda row: with_next_run(replace(row, last_run_at=None), now)
                )

    async def _set_time(self, now: datetime) -> datetime:
        clock = VirtualClock(self.storage)
        await (clock.install(now) if self._database.applied is None else clock.set(now))
        self._database.applied = now
        return now


def destination(to: To, *, now: datetime, tz: str | None) -> datetime:
    """Resolve a time to an instant. A time without a zone is in `tz`, by default UTC. A local time
    that a clock change skips is moved forward by as much; of one that occurs twice the first is
    used."""
    if isinstance(to, timedelta):
        return now + to
    if isinstance(to, str) and to.startswith("+"):
        return now + duration(to[1:], option="travel")
    local = _parse(to) if isinstance(to, str) else to
    if not isinstance(local, datetime):
        raise OptionInvalid("travel", to, allowed=_ALLOWED)
    if local.tzinfo is None:
        local = local.replace(tzinfo=_zone(tz))
    return local.astimezone(UTC)


def _parse(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None


def _zone(name: str | None) -> ZoneInfo:
    try:
        return ZoneInfo(name or "UTC")
    except (ZoneInfoNotFoundError, ValueError) as error:
        raise OptionInvalid("tz", name, allowed='a zone such as "Europe/Berlin"') from error
