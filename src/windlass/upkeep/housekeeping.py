"""What must be done now and then: admit, end, fold, regate, sweep."""

from windlass.engine.engine import Engine
from windlass.engine.leases import end_overdue
from windlass.engine.pace import until_done


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


class Sweeping:
    """Deletes what is of no use to anybody. History is pruned by jobs; see decision 0013."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def tick(self) -> int:
        """Go on until nothing is left, at a gentle pace. Answers how much went."""
        gone = await until_done(self._engine.retention.prune_spent)
        await self._engine.sessions.prune()
        await self._engine.operations.prune()
        await self._engine.mutes.prune()
        return gone
