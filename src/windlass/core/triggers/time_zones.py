"""Time zones by name, and the moments at which their clocks change."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import NamedTuple
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from windlass.errors import ZoneUnknown

LONGEST_NAME = 64

#: No zone has moved its clock by more than a day, nor twice within five days, since 1970.
LONGEST_CHANGE = timedelta(hours=26)

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+)*", re.ASCII)
#: In the folder of zones, but not names of zones: they mean what one machine is set to, or count
#: leap seconds.
_NOT_ZONES = re.compile(r"(posix|right)/|localtime$|posixrules$|Factory$")
_SECOND = timedelta(seconds=1)


class ClockChange(NamedTuple):
    """A moment at which the clocks of a zone are set: their reading `before` it, and `after`."""

    at: datetime
    before: datetime
    after: datetime

    @property
    def forward(self) -> bool:
        return self.after > self.before


def zone(name: object) -> ZoneInfo:
    """The time zone of an IANA name such as "Europe/Berlin"; ZoneUnknown if there is none."""
    if isinstance(name, str) and len(name) <= LONGEST_NAME and _NAME.fullmatch(name):
        try:
            if not _NOT_ZONES.match(name):
                return ZoneInfo(name)
        # A region alone is a folder; some versions of Python let that through as it is.
        except (ZoneInfoNotFoundError, ValueError, OSError):
            pass
    raise ZoneUnknown(name, known=known())


@lru_cache(maxsize=1)
def known() -> frozenset[str]:
    """The names of all zones."""
    return frozenset(name for name in available_timezones() if not _NOT_ZONES.match(name))


def local_time(at: datetime, zone: ZoneInfo) -> datetime:
    """Local time in the zone at an instant. `fold` is 1 when clocks read so the second time."""
    return at.astimezone(zone).replace(tzinfo=None)


def offset(at: datetime, zone: ZoneInfo) -> timedelta:
    return at.astimezone(zone).utcoffset() or timedelta()


def instant(reading: datetime, zone: ZoneInfo) -> datetime:
    """The first instant at which clocks in the zone read so; the end of the gap if they never do."""
    at = reading.replace(tzinfo=zone, fold=0).astimezone(UTC)
    if local_time(at, zone) == reading:
        return at
    # Read with the offset after the gap, it seems to lie before it.
    change = change_within(zone, reading.replace(tzinfo=zone, fold=1).astimezone(UTC), at)
    return at if change is None else change.at


def is_ambiguous(reading: datetime, zone: ZoneInfo) -> bool:
    """True if clocks in the zone read this local time at two instants."""
    first, second = (reading.replace(tzinfo=zone, fold=fold).astimezone(UTC) for fold in (0, 1))
    return first < second


def change_within(zone: ZoneInfo, start: datetime, end: datetime) -> ClockChange | None:
    """The change of clocks in (start, end], which is no longer than LONGEST_CHANGE."""
    old, new = offset(start, zone), offset(end, zone)
    if old == new:
        return None
    low, high = start, end
    while high - low > _SECOND:
        middle = low + (high - low) / 2
        low, high = (middle, high) if offset(middle, zone) == old else (low, middle)
    # Changes happen on whole seconds, so the one second in [low, high] is theirs.
    at = high.replace(microsecond=0)
    if offset(at, zone) == old:
        at = high
    return ClockChange(at, (at + old).replace(tzinfo=None), (at + new).replace(tzinfo=None))


def changes(zone: ZoneInfo, start: datetime, end: datetime) -> Iterator[ClockChange]:
    """The changes of clocks in (start, end], one after the other."""
    while start < end:
        step = min(end, start + LONGEST_CHANGE)
        if change := change_within(zone, start, step):
            yield change
        start = step
