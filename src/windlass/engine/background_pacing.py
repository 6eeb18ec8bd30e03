"""Pacing of background work that is never urgent."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from windlass import clock

T = TypeVar("T")

#: Pause after each step, as a multiple of the step's duration.
_REST = 9.0


async def run_paced(step: Awaitable[T]) -> T:
    """Run a step, pause, and return its result. Steps take a tenth of the time: workers need the
    database now, and background work can wait."""
    began = clock.monotonic()
    result = await step
    await asyncio.sleep(_REST * (clock.monotonic() - began))
    return result


async def run_paced_until_done(
    step: Callable[[], Awaitable[int]], *, before: Callable[[], object] = lambda: None
) -> int:
    """Repeat a capped step until nothing is left, calling `before` each one. Returns the total."""
    total = 0
    while True:
        before()
        if not (done := await run_paced(step())):
            return total
        total += done
