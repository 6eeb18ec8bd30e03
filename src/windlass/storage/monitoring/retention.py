"""Verbs that delete what is past retention, and roll up counts. All capped."""

from windlass.ids import JobId
from windlass.storage.database import Database
from windlass.storage.sql import rows


class RetentionVerbs:
    _db: Database

    async def roll_up_counts(self, *, most: int = 5000) -> int:
        """Add the counts of batches to the totals. Returns the number of rows folded in."""
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
        """Delete some jobs of a definition that ended more than `days` ago; `before_id` is an id of
        that age. `spare_dead` keeps dead-lettered ones."""
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
        """Delete log lines whose job is gone, checking some jobs after `cursor`. Returns the number
        of lines deleted, and the next cursor, None at the end."""
        [seen] = await self._db.run("prune_orphaned_logs", cursor=cursor, most=most)
        last = seen["last_id"]
        return int(seen["pruned"]), JobId(rows.uuid(last)) if last else None

    async def prune_keys(self, *, most: int = 5000) -> int:
        """Delete dedupe keys of ended jobs past their window, and starts that no rate counts."""
        return int((await self._db.run("prune_keys", most=most))[0]["pruned"])
