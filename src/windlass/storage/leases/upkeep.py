"""Verbs of upkeep: promote, admit, tidy, fold, prune. All capped, all safe to run anywhere."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from windlass.core.jobs.states import JobState
from windlass.ids import JobId
from windlass.storage.connection.deadlock_retry import again
from windlass.storage.database import Database, Lane
from windlass.storage.sql import rows

_CHORES = ("unchecked", "overdue", "deltas", "claims", "events")


class EncryptedPayload(NamedTuple):
    """The stored text of a payload that has a ciphertext, and whose it is."""

    id: JobId
    tenant: str
    definition: str
    text: str


class UpkeepVerbs:
    _db: Database

    async def promote(self, *, most: int = 1000) -> Mapping[str, int]:
        """Move jobs that have become due into the line. Answers how many by queue."""
        moved = await self._db.run("promote", lane=Lane.WORK, most=most)
        return {row["queue"]: int(row["moved"]) for row in moved}

    async def chores(self) -> set[str]:
        """Which of these chores there is anything to do for."""
        [row] = await self._db.run("pending_maintenance", lane=Lane.WORK)
        return {name for name in _CHORES if row[name]}

    async def unchecked(self, *, most: int = 500) -> list[JobId]:
        """Pending jobs not yet looked at since they were stored: a parent may have ended."""
        return [
            JobId(rows.uuid(r["id"])) for r in await self._db.run("children_to_admit", most=most)
        ]

    @again
    async def admit(self, ids: Sequence[JobId]) -> Mapping[JobId, JobState]:
        """Settle what pending jobs wait for that has ended, and queue those that wait no more."""
        batch = [(id,) for id in ids]
        async with self._db.transaction() as session:
            # Two statements: only after waiting for a parent's end is that end visible.
            await session.run("lock_parents", ids=batch)
            changed = await session.run("admit", ids=batch)
        return {JobId(rows.uuid(row["id"])): JobState(row["state"]) for row in changed}

    async def overdue(self, *, most: int = 500) -> list[tuple[JobId, str]]:
        """Waiting jobs that must end, and why: expired, or a parent did not complete."""
        found = await self._db.run("jobs_to_cancel", most=most)
        return [(JobId(rows.uuid(row["id"])), row["reason"]) for row in found]

    async def encrypted_payloads(
        self, cursor: JobId, *, most: int = 1000
    ) -> tuple[list[EncryptedPayload], JobId | None]:
        """The payloads with a ciphertext among some jobs after `cursor`, in all states. And where to
        go on, None at the end."""
        found = await self._db.run("encrypted_payloads", cursor=cursor, most=most)
        payloads = [
            EncryptedPayload(
                JobId(rows.uuid(row["id"])), row["tenant_id"], row["definition"], row["payload"]
            )
            for row in found
            if row["payload"] is not None
        ]
        return payloads, JobId(rows.uuid(found[-1]["id"])) if found else None

    @again
    async def replace_ciphertext(self, changes: Sequence[tuple[EncryptedPayload, str]]) -> None:
        """Store another ciphertext for each of these payloads, unless it was changed meanwhile."""
        async with self._db.transaction() as session:
            for before, payload in changes:
                await session.run(
                    "replace_ciphertext", id=before.id, before=before.text, payload=payload
                )

    async def drop_ended_claims(self) -> None:
        """Forget claims with nothing left running."""
        await self._db.run("drop_ended_claims", lane=Lane.WORK)

    async def fold(self, *, most: int = 5000) -> int:
        """Fold the changes of batches into the totals. Answers how many were folded."""
        return int((await self._db.run("roll_up_counts", most=most))[0]["folded"])

    async def prune(
        self,
        definition: str,
        *,
        days: float,
        before_id: JobId,
        spare_dead: bool = False,
        most: int = 1000,
    ) -> int:
        """Delete some jobs of a definition that ended more than `days` ago; `before_id` is an id
        as old as that. `spare_dead` keeps dead-lettered ones."""
        gone = await self._db.run(
            "prune",
            definition=definition,
            days=days,
            before_id=before_id,
            spare_dead=spare_dead,
            most=most,
        )
        return int(gone[0]["pruned"])

    async def prune_by_count(self, definition: str, *, keep: int, most: int = 1000) -> int:
        """Delete some ended jobs of a definition beyond the newest `keep`."""
        gone = await self._db.run("prune_by_count", definition=definition, keep=keep, most=most)
        return int(gone[0]["pruned"])

    async def prune_logs(self, definition: str, *, days: float, most: int = 5000) -> int:
        """Delete some log lines of a definition older than `days`."""
        gone = await self._db.run("prune_logs", definition=definition, days=days, most=most)
        return int(gone[0]["pruned"])

    async def prune_orphaned_logs(
        self, cursor: JobId, *, most: int = 1000
    ) -> tuple[int, JobId | None]:
        """Delete log lines whose job is gone, looking at some jobs after `cursor`. Answers how many
        lines went, and where to go on, None at the end."""
        [seen] = await self._db.run("prune_orphaned_logs", cursor=cursor, most=most)
        last = seen["last_id"]
        return int(seen["pruned"]), JobId(rows.uuid(last)) if last else None

    async def prune_keys(self, *, most: int = 5000) -> int:
        """Forget dedupe keys of ended jobs whose window has passed, and what no rate counts any more."""
        return int((await self._db.run("prune_keys", most=most))[0]["pruned"])
