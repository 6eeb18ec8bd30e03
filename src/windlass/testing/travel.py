"""Where a test's time goes to."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from windlass.core.durations import duration
from windlass.errors import OptionInvalid

To = str | datetime | timedelta

_ALLOWED = 'a time such as "2026-03-29 02:30", a datetime, a timedelta, or a duration such as "+2h"'


def destination(to: To, *, now: datetime, tz: str | None) -> datetime:
    """The instant meant. A time without a zone is one of `tz`, by default UTC; a local time that
    a clock change skips is as much later, of one that comes twice the first is meant."""
    if isinstance(to, timedelta):
        return now + to
    if isinstance(to, str) and to.startswith("+"):
        return now + duration(to[1:], option="travel")
    local = _read(to) if isinstance(to, str) else to
    if not isinstance(local, datetime):
        raise OptionInvalid("travel", to, allowed=_ALLOWED)
    if local.tzinfo is None:
        local = local.replace(tzinfo=_zone(tz))
    return local.astimezone(UTC)


def _read(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None


def _zone(name: str | None) -> ZoneInfo:
    try:
        return ZoneInfo(name or "UTC")
    except (ZoneInfoNotFoundError, ValueError) as error:
        raise OptionInvalid("tz", name, allowed='a zone such as "Europe/Berlin"') from error
