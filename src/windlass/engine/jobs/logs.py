"""Log lines of all jobs, by their words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import NamedTuple, get_args

from windlass.core.jobs.filter_fields import instant_of
from windlass.core.jobs.models import ALL_TENANTS, LogLevel, LogLine, LogPlace, Scope
from windlass.core.jobs.query import RelativeTime
from windlass.core.text import storable
from windlass.engine.jobs.jobs import Jobs
from windlass.errors import OptionInvalid
from windlass.ids import JobId
from windlass.storage.storage import Storage

MOST_LINES = 1000
#: Lines counted for a volume.
MOST_COUNTED = 100_000
_MOST_SLOTS = 120
_SLOTS = (1, 5, 10, 30, 60, 300, 600, 1800, 3600, 3 * 3600, 6 * 3600, 86_400, 7 * 86_400)
_USUAL_WINDOW = timedelta(days=1)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class LogVolumePoint(NamedTuple):
    """The number of log lines by level in the slot that begins `at`."""

    at: datetime
    lines: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class LogVolume:
    """The number of log lines over time; if it is not `exact`, of the newest of them."""

    since: datetime
    until: datetime
    slot_seconds: int
    total: int
    exact: bool
    points: Sequence[LogVolumePoint]


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
        _check_level(level)
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

    async def volume(
        self,
        words: str | None = None,
        *,
        definition: str | None = None,
        level: str | None = None,
        job: JobId | str | None = None,
        since: datetime | str | None = None,
        until: datetime | str | None = None,
        created_by: str | None = None,
        scope: Scope = ALL_TENANTS,
    ) -> LogVolume:
        """How many lines a search finds over time, by slot and level: by default of the last day.

        The slot is the shortest that makes no more than 120 of the window. Of more than 100,000 lines
        the newest are counted, and the volume is not `exact`.
        """
        _check_level(level)
        now = await self._storage.now()
        end = await self._instant("until", until) or now
        start = await self._instant("since", since) or end - _USUAL_WINDOW
        if start >= end:
            raise OptionInvalid("since", since, allowed="an instant before `until`")
        slot = _slot_seconds((end - start).total_seconds())
        counts = await self._storage.jobs.log_volume(
            scope,
            None if words is None else storable(words),
            since=start,
            until=end,
            slot_seconds=slot,
            definition=definition,
            level=level,
            job=None if job is None else await self._jobs.resolve(job, scope),
            created_by=created_by,
            most=MOST_COUNTED,
        )
        by_slot: dict[int, dict[str, int]] = {}
        for each in counts:
            by_slot.setdefault(each.slot, {})[each.level] = each.lines
        first, last = int((start - _EPOCH).total_seconds()) // slot, _last_slot(end, slot)
        total = sum(each.lines for each in counts)
        return LogVolume(
            since=start,
            until=end,
            slot_seconds=slot,
            total=total,
            exact=total < MOST_COUNTED,
            points=[
                LogVolumePoint(_EPOCH + timedelta(seconds=n * slot), by_slot.get(n, {}))
                for n in range(first, last + 1)
            ],
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


def _check_level(level: str | None) -> None:
    if level is not None and level not in get_args(LogLevel):
        raise OptionInvalid("level", level, allowed=", ".join(get_args(LogLevel)))


def _slot_seconds(window: float) -> int:
    """The shortest slot that makes few enough of a window."""
    least = window / (_MOST_SLOTS - 1)
    return next((slot for slot in _SLOTS if slot >= least), -int(-least // _SLOTS[-1]) * _SLOTS[-1])


def _last_slot(end: datetime, slot: int) -> int:
    """The slot before `end`, which is not included."""
    return -int(-(end - _EPOCH).total_seconds() // slot) - 1
