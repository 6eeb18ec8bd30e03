"""Verbs of upkeep: promote, admit, tidy, fold, prune. All capped, all safe to run anywhere."""

from collections.abc import Mapping, Sequence

from windlass.core.jobs.states import JobState
from windlass.ids import JobId
from windlass.storage.connection.deadlock_retry import retry_deadlocks
from windlass.storage.database import Database, Lane
from windlass.storage.sql import rows
from windlass.storage.sql.statements import Batch

_CHORES = ("unchecked", "overdue", "deltas", "claims", "events")


class UpkeepVerbs:
    _db: Database

    async def promote(self, *, most: int = 1000) -> Mapping[str, int]:
        """Move jobs that have become due into the line. Answers how many by queue."""
        moved = await self._db.run("promote", lane=Lane.WORK, most=most)
        return {row["queue"]: int(row["moved"]) for row in moved}

    async def pending_maintenance(self) -> set[str]:
        """The chores that have anything to do."""
        [row] = await self._db.run("pending_maintenance", lane=Lane.WORK)
        return {name for name in _CHORES if row[name]}

    async def children_to_admit(self, *, most: int = 500) -> list[JobId]:
        """Pending jobs not yet looked at since they were stored: a parent may have ended."""
        return [
            JobId(rows.uuid(r["id"])) for r in await self._db.run("children_to_admit", most=most)
        ]

    @retry_deadlocks
    async def admit(self, ids: Sequence[JobId]) -> Mapping[JobId, JobState]:
        """Settle what pending jobs wait for that has ended, and queue those that wait no more."""
        batch = Batch(id=ids)
        async with self._db.transaction() as session:
            # Two statements: only after waiting for a parent's end is that end visible.
            await session.run("lock_parents", ids=batch)
            changed = await session.run("admit", ids=batch)
        return {JobId(rows.uuid(row["id"])): JobState(row["state"]) for row in changed}

    async def jobs_to_cancel(self, *, most: int = 500) -> list[tuple[JobId, str]]:
        """Waiting jobs that must end, and why: expired, or a parent did not complete."""
        found = await self._db.run("jobs_to_cancel", most=most)
        return [(JobId(rows.uuid(row["id"])), row["reason"]) for row in found]

    async def drop_ended_claims(self) -> None:
        """Forget claims with nothing left running."""
        await self._db.run("drop_ended_claims", lane=Lane.WORK)
