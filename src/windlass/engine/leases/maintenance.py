"""Chores that upkeep does: admit, cancel, roll up counts, drop ended claims, match events."""

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING

from windlass.core.jobs.models import ALL_TENANTS
from windlass.errors import DatabaseOutage
from windlass.storage.storage import Storage

if TYPE_CHECKING:
    from windlass.engine.triggers.events import Events
    from windlass.ids import JobId


class Maintenance:
    """Small, capped chores; guarded statements let any number of processes do them."""

    def __init__(self, storage: Storage, events: "Events") -> None:
        self._storage = storage
        self._events = events
        self._chores: Mapping[str, Callable[[], Awaitable[int]]] = {
            "unchecked": self._admit,
            "overdue": self._cancel_overdue,
            "deltas": self._roll_up_counts,
            "claims": self._tidy_claims,
            "events": self._match_events,
        }

    async def run(self) -> int:
        """Do what is pending: admit children whose parents have ended, end what is overdue, roll up
        the counts, match events. A chore that fails does not stop the others."""
        found = await self._storage.leases.pending_maintenance()
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
        unchecked = await self._storage.leases.children_to_admit()
        return len(await self._storage.leases.admit(unchecked)) if unchecked else 0

    async def _cancel_overdue(self) -> int:
        return await cancel_overdue(self._storage)

    async def _roll_up_counts(self) -> int:
        done = 0
        while rolled_up := await self._storage.monitoring.roll_up_counts():
            done += rolled_up
        return done

    async def _tidy_claims(self) -> int:
        await self._storage.leases.drop_ended_claims()
        return 0

    async def _match_events(self) -> int:
        return await self._events.match_waiting()


async def cancel_overdue(storage: Storage) -> int:
    """Cancel waiting jobs that expired or whose parent failed, and their children in turn."""
    ended = 0
    while overdue := await storage.leases.jobs_to_cancel():
        by_reason: dict[str, list[JobId]] = {}
        for id, reason in overdue:
            by_reason.setdefault(reason, []).append(id)
        before = ended
        for reason, ids in by_reason.items():
            ended += len(await storage.jobs.cancel(ALL_TENANTS, ids, reason=reason))
        if ended == before:
            break
    return ended
