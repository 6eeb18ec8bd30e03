"""Verbs that find and correct what was written while the clock was ahead."""

from datetime import timedelta

from windlass.core.leases.lease import LONGEST_LEASE
from windlass.core.leases.wrong_clock import CLOCK_MARGIN
from windlass.storage.connection.deadlock_retry import retry_deadlocks
from windlass.storage.database import Database
from windlass.storage.sql import rows
from windlass.storage.sql.statements import Rows


class ClockVerbs:
    _db: Database

    async def clock_ahead(self) -> timedelta:
        """By how much the latest instant that was written is ahead of now; nothing if it is not."""
        [row] = await self._db.run("clock_ahead")
        ahead = rows.seconds(row["ahead"])
        return timedelta() if ahead is None else max(timedelta(), ahead)

    @retry_deadlocks
    async def expire_overlong_leases(self, *, most: int = 1000) -> int:
        """Let leases run out that last longer than any can. Answers how many."""
        longest = LONGEST_LEASE + CLOCK_MARGIN
        return _number(
            await self._db.run("expire_overlong_leases", longest=longest.total_seconds(), most=most)
        )

    @retry_deadlocks
    async def correct_retry_times(self, *, most: int = 1000) -> int:
        """Bring jobs back that wait for another attempt since a clock that was ahead, so that each
        waits as long as it was to. Answers how many."""
        margin = CLOCK_MARGIN.total_seconds()
        return _number(await self._db.run("correct_retry_times", margin=margin, most=most))


def _number(found: Rows) -> int:
    # MariaDB counts what it changed, the others tell the jobs.
    return int(found[0]["corrected"]) if found and "corrected" in found[0] else len(found)
