"""Fires due triggers. Any number of processes may run it at once."""

from collections.abc import Collection
from datetime import timedelta

from windlass.core.triggers.schedule import GRACE
from windlass.engine.engine import Engine
from windlass.engine.loop import Loop

#: Shortest wait after a round that fired nothing, however soon the next trigger is due.
_SHORTEST_SECONDS = 0.05


class Scheduler:
    """A loop that wakes for the next due trigger, and when a trigger may have changed."""

    def __init__(self, engine: Engine, *, tick_seconds: float) -> None:
        self._engine = engine
        # A trigger may fire up to one round late; that is not a misfire.
        self._grace = max(GRACE, timedelta(seconds=2 * tick_seconds))
        self._loop = Loop("scheduling", self.tick, seconds=tick_seconds, telemetry=engine.telemetry)

    def start(self) -> None:
        self._engine.nudges.local_listeners.add(self._on_nudge)
        self._loop.start()

    async def stop(self) -> None:
        self._engine.nudges.local_listeners.discard(self._on_nudge)
        await self._loop.stop()

    async def tick(self) -> int:
        """Fire what is due now. Returns the number of jobs created."""
        fired = await self._engine.firing.fire_due(grace=self._grace)
        if fired.next_in is not None:
            self._loop.wake(after=max(_SHORTEST_SECONDS, fired.next_in.total_seconds()))
        return fired.made

    def _on_nudge(self, queues: Collection[str]) -> None:
        if "*" in queues:  # a nudge for all queues: perhaps a trigger was changed
            self._loop.wake()
