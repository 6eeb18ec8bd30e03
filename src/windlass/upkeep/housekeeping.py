"""Chores of upkeep: admit, end, fold, regate, sweep."""

from collections.abc import Awaitable, Callable, Mapping

from windlass.engine.background_pacing import run_paced_until_done
from windlass.engine.engine import Engine
from windlass.engine.leases.leases import cancel_overdue
from windlass.errors import DatabaseOutage


class Housekeeping:
    """One round of small, capped chores."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._chores: Mapping[str, Callable[[], Awaitable[int]]] = {
            "unchecked": self._admit,
            "overdue": self._cancel_overdue,
            "deltas": self._fold,
            "claims": self._tidy_claims,
            "events": self._match_events,
        }

    async def tick(self) -> int:
        """Admit children whose parents ended unseen, end what is overdue, fold the counts, match
        events nobody has matched. A chore that fails keeps none of the others from being done."""
        found = await self._engine.storage.leases.pending_maintenance()
        done, failure = 0, None
        for name, chore in self._chores.items():
            if name not in found:
                continue
            try:
                done += await chore()
            except DatabaseOutage:
                raise
            except Exception as error:  # noqa: BLE001  raised when the others are done
                failure = error
        if failure is not None:
            raise failure
        return done

    async def _admit(self) -> int:
        unchecked = await self._engine.storage.leases.children_to_admit()
        return len(await self._engine.storage.leases.admit(unchecked)) if unchecked else 0

    async def _cancel_overdue(self) -> int:
        return await cancel_overdue(self._engine.storage)

    async def _fold(self) -> int:
        done = 0
        while folded := await self._engine.storage.monitoring.roll_up_counts():
            done += folded
        return done

    async def _tidy_claims(self) -> int:
        await self._engine.storage.leases.drop_ended_claims()
        return 0

    async def _match_events(self) -> int:
        return await self._engine.events.match_waiting()


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
