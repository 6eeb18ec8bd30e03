"""Log lines of all jobs, by their words."""

from collections.abc import Sequence
from datetime import datetime
from typing import get_args

from windlass.core.jobs.filter_fields import instant_of
from windlass.core.jobs.models import ALL_TENANTS, LogLevel, LogLine, LogPlace, Scope
from windlass.core.jobs.query import RelativeTime
from windlass.core.text import storable
from windlass.engine.jobs.jobs import Jobs
from windlass.errors import OptionInvalid
from windlass.ids import JobId
from windlass.storage.storage import Storage

MOST_LINES = 1000


class Logs:
    def __init__(self, storage: Storage, jobs: Jobs) -> None:
        self._storage = storage
        self._jobs = jobs

    async def search(
        self,
        words: str | None = None,
        *,
        definition: str | None = None,
        level: str | None = None,
        job: JobId | str | None = None,
        since: datetime | str | None = None,
        until: datetime | str | None = None,
        created_by: str | None = None,
        before: LogPlace | None = None,
        limit: int = 100,
        scope: Scope = ALL_TENANTS,
    ) -> Sequence[LogLine]:
        """Log lines with all these words, whole and in any case, newest first; without words all.

        A line names its job, attempt and sequence number, at which `wl.jobs.logs` shows it. Times may be
        text as in a filter: `since="-2h"`. `level` means that one and worse. `before` goes on behind
        a line, at its `place`; of `created_by` only lines of jobs that one made are found.
        """
        if level is not None and level not in get_args(LogLevel):
            raise OptionInvalid("level", level, allowed=", ".join(get_args(LogLevel)))
        if not 1 <= limit <= MOST_LINES:
            raise OptionInvalid("limit", limit, allowed=f"1 to {MOST_LINES:,}")
        return await self._storage.jobs.search_logs(
            scope,
            None if words is None else storable(words),
            definition=definition,
            level=level,
            job=None if job is None else await self._jobs.resolve(job, scope),
            since=await self._instant("since", since),
            until=await self._instant("until", until),
            created_by=created_by,
            before=before,
            limit=limit,
        )

    async def _instant(self, option: str, given: datetime | str | None) -> datetime | None:
        if not isinstance(given, str):
            return given
        meant = instant_of(given)
        if meant is None:
            raise OptionInvalid(
                option, given, allowed="an instant such as -2h, 2026-07-01 or 2026-07-01T10:00Z"
            )
        return (
            await self._storage.now() + meant.offset if isinstance(meant, RelativeTime) else meant
        )
