"""Instants as they are typed."""

from datetime import datetime

from windlass.errors import OptionInvalid


def instant(text: str, *, option: str, tz: str | None = None) -> datetime:
    """The instant that text spells; without an offset it is the zone's own time, or the local one
    where no zone is given. `option` is what the error calls it."""
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
