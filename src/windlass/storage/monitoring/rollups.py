"""Verbs that make longer slots of the minutes, note the use of workers, and prune both."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from windlass.core.monitoring.slots import MINUTE_SECONDS, StoredSlot
from windlass.storage.connection.deadlock_retry import retry_deadlocks
from windlass.storage.database import Database
from windlass.storage.sql import rows


class RollupVerbs:
    _db: Database

    async def rollup_marks(self) -> Mapping[int, datetime]:
        """Until when the slots of each length, in seconds, are made."""
        found = await self._db.run("rollup_marks")
        return {int(row["span"]): rows.instant(row["until_at"]) for row in found}

    async def set_rollup_mark(self, span: int, until: datetime) -> None:
        """Note that all slots of this length before `until` are made. A mark never goes back."""
        await self._db.run("set_rollup_mark", span=span, until=until)

    async def first_minute(self) -> datetime | None:
        """The first minute that has counts, if one has."""
        [row] = await self._db.run("first_minute")
        return rows.optional_instant(row["at"])

    @retry_deadlocks
    async def roll_up_slot(self, slot: StoredSlot, *, of_span: int) -> None:
        """Make the counts and histograms of a slot from shorter slots. Repeating it makes them anew."""
        bounds: dict[str, Any] = {
            "span": slot.span,
            "slot": slot.at,
            "until": slot.at + timedelta(seconds=slot.span),
        }
        if of_span == MINUTE_SECONDS:
            await self._db.run("roll_up_minutes", **bounds)
        else:
            await self._db.run("roll_up_slots", of_span=of_span, **bounds)
        await self._db.run("roll_up_histograms", of_span=of_span, **bounds)

    async def record_worker_use(self) -> None:
        """Note how many slots live workers have and use, if this minute has no note yet."""
        await self._db.run("record_worker_use")

    async def prune_histograms(self, span: int, *, days: float) -> int:
        """Delete the oldest slot of this length, if it began more than `days` ago. Returns the number
        of rows; those of all time stay."""
        return len(await self._db.run("prune_histograms", span=span, days=days))

    async def prune_rollups(self, span: int, *, days: float) -> int:
        """Delete the counts of the oldest slot of this length, if it began more than `days` ago."""
        return len(await self._db.run("prune_rollups", span=span, days=days))

    async def prune_worker_minutes(self, *, days: float) -> int:
        """Delete what was noted about workers more than `days` ago."""
        return len(await self._db.run("prune_worker_minutes", days=days))
