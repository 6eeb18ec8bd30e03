"""Fires triggers when their time has come. Any number of processes may run it at once."""

import asyncio
import contextlib
from collections.abc import Collection

from windlass import clock
from windlass.core.models import ALL_TENANTS, NewJob, Trigger
from windlass.core.schedule import fires
from windlass.core.states import JobState
from windlass.engine.engine import Engine
from windlass.engine.triggers import schedule_of
from windlass.errors import WindlassError
from windlass.storage.triggers import Due, Refused

_MOST = 100
#: However soon the next one is due, a look that found nothing is not repeated sooner.
_SHORTEST_SECONDS = 0.05


class Scheduler:
    """Moving a trigger on and storing its job are one guarded transaction; there is no leader."""

    def __init__(self, engine: Engine, *, tick_seconds: float) -> None:
        self._engine = engine
        self._tick_seconds = tick_seconds
        self._wake = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._engine.nudges.here.add(self._hear)
        self._task = asyncio.create_task(self._run(), name="windlass scheduler")

    async def stop(self) -> None:
        self._engine.nudges.here.discard(self._hear)
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def tick(self) -> int:
        """Fire what is due now. Answers how many jobs were made."""
        made = 0
        while due := await self._engine.storage.due_triggers(most=_MOST):
            moved = 0
            for each in due:
                jobs = await self._fire(each)
                made += jobs or 0
                moved += jobs is not None
            if not moved or len(due) < _MOST:
                break
        return made

    async def _run(self) -> None:
        while True:
            self._wake.clear()
            try:
                await self.tick()
                wait = await self._until_next()
            except Exception as error:  # noqa: BLE001  the next round may succeed
                self._engine.telemetry.trouble("scheduling", error)
                wait = min(1.0, self._tick_seconds)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(wait):
                    await self._wake.wait()

    def _hear(self, queues: Collection[str]) -> None:
        if "*" in queues:  # more than a job has come: perhaps a trigger was changed
            self._wake.set()

    async def _until_next(self) -> float:
        next_in = await self._engine.storage.next_trigger_in()
        if next_in is None:
            return self._tick_seconds
        return min(self._tick_seconds, max(_SHORTEST_SECONDS, next_in.total_seconds()))

    async def _fire(self, due: Due) -> int | None:
        """How many jobs were made; None if the trigger did not move on, by us or by another."""
        storage, trigger = self._engine.storage, due.trigger
        schedule, due_at = schedule_of(trigger), trigger.next_run_at
        if schedule is None or due_at is None:
            return None
        try:
            times, next_run_at = fires(schedule, due_at, due.now, trigger.misfire)
            jobs: list[NewJob] = []
            if not await self._overlaps(trigger):
                jobs = [await self._engine.maker.at(trigger, at) for at in times]
            stored = await storage.fire(trigger, due_at, next_run_at, jobs)
        except (Refused, WindlassError) as error:
            await self._failed(due, error)
            return None
        if stored:
            self._engine.nudges.nudge({job.queue for job in jobs})
        return None if stored is None else len(stored)

    async def _overlaps(self, trigger: Trigger) -> bool:
        """Whether an earlier job that has not ended keeps this one from being made."""
        if trigger.overlap == "allow" or trigger.last_job_id is None:
            return False
        last = await self._engine.storage.get(ALL_TENANTS, trigger.last_job_id)
        if last is None or last.ended:
            return False
        return trigger.overlap == "skip" or last.state is not JobState.RUNNING

    async def _failed(self, due: Due, error: Exception) -> None:
        """Note it on the trigger, and pass this due time by: the next may be better."""
        trigger, storage = due.trigger, self._engine.storage
        schedule, due_at = schedule_of(trigger), trigger.next_run_at
        self._engine.telemetry.trouble(f"firing {trigger.name}", error, at=clock.utcnow())
        if schedule is not None and due_at is not None:
            _, next_run_at = fires(schedule, due_at, due.now, "skip")
            await storage.fire(trigger, due_at, next_run_at, [])
        await storage.trigger_failed(trigger.id, str(error))
