"""Waits at the start for a database that answers and cannot do its work yet."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from windlass.engine.loop import backoff_seconds
from windlass.errors import DatabaseFull, DatabaseNotReady, DatabaseReadOnly, DatabaseTimeout
from windlass.telemetry import Telemetry

T = TypeVar("T")

#: What passes by itself, or by an operator's hand. A wrong address or password does not.
_PASSING = (DatabaseReadOnly, DatabaseNotReady, DatabaseFull, DatabaseTimeout)


async def wait_until_ready(ready: Callable[[], Awaitable[T]], telemetry: Telemetry) -> T:
    """What `ready` answers once the database can do it; each cause of waiting is told once."""
    failures, told = 0, ""
    while True:
        try:
            return await ready()
        except _PASSING as error:
            if (cause := str(error)) != told:
                telemetry.warn("waiting for the database", error=cause)
                told = cause
        failures += 1
        await asyncio.sleep(backoff_seconds(failures))
