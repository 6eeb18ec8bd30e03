"""Instants that every database can hold, whatever zone they were written in."""

from datetime import UTC, datetime

from windlass.errors import OptionInvalid

#: Far enough from the ends of what databases and Python hold to add a delay or a day.
EARLIEST, LATEST = datetime(1970, 1, 2, tzinfo=UTC), datetime(2999, 12, 31, tzinfo=UTC)
ALLOWED = f"a datetime with a time zone, from {EARLIEST:%Y} to {LATEST:%Y}"


def instant(option: str, value: object) -> datetime:
    """The instant in UTC; OptionInvalid, which names `option`, if it has no zone or is too far away."""
    if isinstance(value, datetime) and (found := in_utc(value)) is not None:
        return found
    shown = value.isoformat() if isinstance(value, datetime) else value
    raise OptionInvalid(option, shown, allowed=ALLOWED)


def in_utc(at: datetime) -> datetime | None:
    """The instant in UTC; None if it has no zone, or is earlier or later than databases hold."""
    if at.utcoffset() is None:
        return None
    try:
        found = at.astimezone(UTC)
    except OverflowError:  # an offset leads beyond the years 1 to 9999
        return None
    return found if EARLIEST <= found <= LATEST else None


def nearest(at: datetime) -> datetime:
    """The instant in UTC, or the end of what can be held that lies nearest to it."""
    return in_utc(at) or (EARLIEST if at.year < LATEST.year else LATEST)
