"""The one door through which time enters Python.

Jobs are due, leased and reaped by the database's clock, never by this one. These are for
measuring how long something took here, for stamping ids, and for telling people.
"""

import time
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial

_BOOTTIME: int | None = getattr(time, "CLOCK_BOOTTIME", None)

#: Seconds that only rise, from no particular start: for waiting and measuring.
monotonic: Callable[[], float] = time.monotonic
#: Like `monotonic`, and it goes on while the machine is suspended, where the system has such a clock:
#: for what must not be believed after a pause.
boottime: Callable[[], float] = (
    time.monotonic if _BOOTTIME is None else partial(time.clock_gettime, _BOOTTIME)
)
#: This machine's idea of the time, aware. It may be wrong: decide nothing by it.
utcnow: Callable[[], datetime] = partial(datetime.now, UTC)
#: This machine's idea of the time in whole nanoseconds since 1970: for ids.
unix_ns: Callable[[], int] = time.time_ns
