"""The one door through which time enters Python.

Jobs are due, leased and reaped by the database's clock, never by this one. These are for
measuring how long something took here, for stamping ids, and for telling people.
"""

import time
from datetime import UTC, datetime

_BOOTTIME: int | None = getattr(time, "CLOCK_BOOTTIME", None)


def monotonic() -> float:
    """Seconds that only rise, from no particular start: for waiting and measuring."""
    return time.monotonic()


def boottime() -> float:
    """Like `monotonic`, and it goes on while the machine is suspended, where the system has such
    a clock: for what must not be believed after a pause."""
    return time.clock_gettime(_BOOTTIME) if _BOOTTIME is not None else time.monotonic()


def utcnow() -> datetime:
    """This machine's idea of the time, aware. It may be wrong: decide nothing by it."""
    return datetime.now(UTC)


def unix_ms() -> int:
    """This machine's idea of the time in whole milliseconds since 1970: for ids."""
    return time.time_ns() // 1_000_000
