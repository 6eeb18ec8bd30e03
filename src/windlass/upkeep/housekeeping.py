"""Chores of upkeep: maintenance, gates, retention."""

from windlass.engine.background_pacing import run_paced_until_done
from windlass.engine.engine import Engine


class Housekeeping:
    """One round of small, capped chores."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def tick(self) -> int:
        """Do pending chores. Returns how many were done."""
        return await self._engine.maintenance.run()


class GateUpdater:
    """Moves jobs behind the gates their definitions have now.

    The process that changes a definition does so at once, but may die in between, or miss a job that
    is stored at the same moment; and a job behind an old gate is never claimed.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def tick(self) -> None:
        await self._engine.definitions.regate()


class Sweeper:
    """Deletes unused rows. Jobs of the library prune the history; see decision 0013."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def tick(self) -> int:
        """Delete until nothing is left, at a gentle pace. Returns the number of rows deleted."""
        gone = await run_paced_until_done(self._engine.retention.prune_spent)
        await self._engine.sessions.prune()
        await self._engine.operations.prune()
        await self._engine.mutes.prune()
        await self._engine.alerts.prune()
        return gone


class SlotMaker:
    """Makes the longer slots of charts of the minutes, and notes the use of workers."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def tick(self) -> int:
        """Make the slots that have passed. Returns their number."""
        return await self._engine.rollups.tick()
