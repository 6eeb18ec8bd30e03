"""Durations as people write them: "2m", "1h30m", "250ms", "7d".

A number without a unit is refused in text, because "90" in a file or on a command line could be
anything. In Python a bare number means seconds.
"""

import re
from datetime import timedelta

from windlass.errors import OptionInvalid

#: Longer is a mistake, and beyond what the dates of some databases can hold.
LONGEST = timedelta(days=36_525)

_UNITS = {
    "w": timedelta(weeks=1),
    "d": timedelta(days=1),
    "h": timedelta(hours=1),
    "m": timedelta(minutes=1),
    "s": timedelta(seconds=1),
    "ms": timedelta(milliseconds=1),
    "us": timedelta(microseconds=1),
}
_ORDER = {unit: place for place, unit in enumerate(_UNITS)}
_PART = re.compile(r"(\d{1,12}(?:\.\d{1,9})?)(ms|us|[wdhms])\s?", re.ASCII)
_LONGEST_TEXT = 100
_ALLOWED = 'a duration such as "250ms", "30s", "2m", "1h30m" or "7d", up to 100 years'


def duration(value: str | timedelta | float, *, option: str = "duration") -> timedelta:
    """The duration meant by text, a timedelta, or a number of seconds; OptionInvalid if none is.

    Units go from large to small and stand once each. Negative durations are refused. `option` is
    what the error calls the value.
    """
    meant = _meant(value)
    if meant is None or not timedelta() <= meant <= LONGEST:
        raise OptionInvalid(option, value, allowed=_ALLOWED)
    return meant


def text(value: timedelta) -> str:
    """The shortest exact text, such as "1h30m": what `duration` reads back as `value`."""
    parts, rest = [], value
    for unit, length in _UNITS.items():
        # A week is understood, but "14d" is what people expect to read.
        if unit != "w" and rest >= length:
            count, rest = divmod(rest, length)
            parts.append(f"{count}{unit}")
    return "".join(parts) or "0s"


def words(value: timedelta) -> str:
    """For people, in at most two units: "4 s", "2 min", "1 h 30 min". Negative counts as none."""
    if value < timedelta(seconds=1):
        return f"{max(value, timedelta()) // timedelta(milliseconds=1)} ms" if value else "0 s"
    seconds = int(value.total_seconds())
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    counts = [(f"{days:,}", "d"), (str(hours), "h"), (str(minutes), "min"), (str(seconds), "s")]
    first = next(place for place, (count, _) in enumerate(counts) if count != "0")
    return " ".join(f"{count} {unit}" for count, unit in counts[first : first + 2] if count != "0")


def _meant(value: object) -> timedelta | None:
    if isinstance(value, timedelta):
        return value
    if isinstance(value, str):
        return _parse(value)
    # True is a number to Python, but nobody means a second by it.
    if isinstance(value, int | float) and not isinstance(value, bool):
        return timedelta(seconds=value) if abs(value) <= LONGEST.total_seconds() else None
    return None


def _parse(text: str) -> timedelta | None:
    text = text.strip()
    total, last, at = timedelta(), -1, 0
    if not text or len(text) > _LONGEST_TEXT:
        return None
    while at < len(text):
        part = _PART.match(text, at)
        if part is None or _ORDER[part[2]] <= last:
            return None
        try:
            total += _times(part[1], _UNITS[part[2]])
        except OverflowError:
            return None
        last, at = _ORDER[part[2]], part.end()
    return total


def _times(number: str, unit: timedelta) -> timedelta:
    # Whole numbers stay whole: 0.1 + 0.2 has no place in what must read back exactly.
    return unit * (float(number) if "." in number else int(number))
