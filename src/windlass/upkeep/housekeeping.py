"""Chores of upkeep: maintenance, gates, retention."""

from windlass.engine.background_pacing import run_paced_until_done
from windlass.engine.engine import Engine


class Housekeeping:
    """One round of small, capped chores."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def tick(self) -> int:
        """Do what is pending. Returns how much was done."""
        return await self._engine.maintenance.run()


class GateUpdater:
    """Moves jobs behind the gates their definitions have now.

    Whoever changes a definition does so at once, but may die between the two, or miss a job that
    was being stored meanwhile; and a job behind a gate of the past is never claimed.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def tick(self) -> None:
        await self._engine.definitions.regate()


class Sweeper:
    """Deletes what is of no use to anybody. History is pruned by jobs; see decision 0013."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def tick(self) -> int:
        """Go on until nothing is left, at a gentle pace. Answers how much went."""
        gone = await run_paced_until_done(self._engine.retention.prune_spent)
        await self._engine.sessions.prune()
        await self._engine.operations.prune()
        await self._engine.mutes.prune()
        await self._engine.alerts.prune()
        return gone
