"""Waits at startup for a database that is reachable but not ready yet."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from windlass.engine.loop import backoff_seconds
from windlass.errors import DatabaseFull, DatabaseNotReady, DatabaseReadOnly, DatabaseTimeout
from windlass.telemetry import Telemetry

T = TypeVar("T")

#: Errors that pass by themselves or that an operator fixes, unlike a wrong address or password.
_PASSING = (DatabaseReadOnly, DatabaseNotReady, DatabaseFull, DatabaseTimeout)


async def wait_until_ready(ready: Callable[[], Awaitable[T]], telemetry: Telemetry) -> T:
    """Return the result of `ready` once the database is able to; logs each cause of waiting once."""
    failures, logged = 0, ""
    while True:
        try:
            return await ready()
        except _PASSING as error:
            if (cause := str(error)) != logged:
                telemetry.warn("waiting for the database", error=cause)
                logged = cause
        failures += 1
        await asyncio.sleep(backoff_seconds(failures))
