"""Parses instants."""

from datetime import datetime

from windlass.errors import OptionInvalid


def instant(text: str, *, option: str, tz: str | None = None) -> datetime:
    """Parse an instant. Without an offset it is in the given zone, or else in local time. `option`
    names the flag in errors."""
    from windlass.core.triggers.time_zones import zone

    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        whose = "the local" if tz is None else "the zone's"
        allowed = (
            f"an instant such as 2030-01-31T09:00+01:00, or without an offset for {whose} time"
        )
        raise OptionInvalid(option, text, allowed=allowed) from None
    if at.tzinfo:
        return at
    return at.astimezone() if tz is None else at.replace(tzinfo=zone(tz))
