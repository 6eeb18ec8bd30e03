"""What must be done now and then: admit, end, fold, regate, prune, forget."""

import asyncio

from windlass import clock
from windlass.engine.engine import Engine
from windlass.engine.leases import end_overdue

#: How long pruning rests after each step, in times of what it took.
_REST = 9.0


class Housekeeping:
    """One round of small, capped chores."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def tick(self) -> int:
        """Admit children whose parents ended unseen, end what is overdue, fold the counts, match
        events nobody has matched."""
        storage = self._engine.storage
        chores = await storage.chores()
        done = 0
        if "unchecked" in chores and (unchecked := await storage.unchecked()):
            done += len(await storage.admit(unchecked))
        if "overdue" in chores:
            done += await end_overdue(storage)
        while "deltas" in chores and (folded := await storage.fold()):
            done += folded
        if "claims" in chores:
            await storage.tidy_claims()
        while "events" in chores and (matched := await self._engine.events.match_waiting()):
            done += matched
        return done


class Regating:
    """Moves jobs behind the gates their definitions have now.

    Whoever changes a definition does so at once, but may die between the two, or miss a job that
    was being stored meanwhile; and a job behind a gate of the past is never claimed.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def tick(self) -> None:
        await self._engine.definitions.regate()


class Pruning:
    """Deletes what is past retention, in capped steps."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def tick(self) -> int:
        """Prune until nothing is left to prune, in a tenth of the time at most: what is pruned is
        old, and workers need the database now."""
        total = 0
        began = clock.monotonic()
        while (pruned := await self._engine.retention.prune()).anything:
            total += pruned.jobs
            await asyncio.sleep(_REST * (clock.monotonic() - began))
            began = clock.monotonic()
        await self._engine.workers.forget()
        await self._engine.sessions.prune()
        await self._engine.operations.prune()
        return total
