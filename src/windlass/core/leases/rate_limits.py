"""Rate limits: `"100/min"` means that no more than 100 attempts begin in any minute."""

import re
from typing import NamedTuple

from windlass.core.durations import duration
from windlass.errors import OptionInvalid

_RATE = re.compile(r"\s*+([0-9]{1,9})\s*+/\s*+([0-9.]*+)\s*+([a-z]++)\s*+")
_UNITS = {
    "s": "s", "sec": "s", "second": "s",
    "m": "m", "min": "m", "minute": "m",
    "h": "h", "hour": "h",
    "d": "d", "day": "d",
}  # fmt: skip
#: A rate is counted in this many parts of its time. What began in a part counts until the whole
#: part is older than that time: never more than the rate, at worst a twentieth less.
PARTS = 20
_LONGEST_SECONDS = 7 * 86_400.0
_ALLOWED = 'how many in how long, such as "100/min", "5/s" or "1000/1h", of 7 days at most'


class Rate(NamedTuple):
    """At most so many in any `seconds`."""

    most: int
    seconds: float

    def __str__(self) -> str:
        for unit, seconds in (("day", 86_400.0), ("hour", 3_600.0), ("min", 60.0), ("s", 1.0)):
            if self.seconds == seconds:
                return f"{self.most}/{unit}"
        return f"{self.most}/{self.seconds:g}s"


def rate(text: object, *, option: str) -> Rate:
    """A rate as people write it."""
    found = _RATE.fullmatch(text) if isinstance(text, str) else None
    unit = _UNITS.get(found[3]) if found else None
    if found is None or unit is None or not int(found[1]):
        raise OptionInvalid(option, text, allowed=_ALLOWED)
    seconds = duration(f"{found[2] or 1}{unit}", option=option).total_seconds()
    if not 0 < seconds <= _LONGEST_SECONDS:
        raise OptionInvalid(option, text, allowed=_ALLOWED)
    return Rate(int(found[1]), seconds)
