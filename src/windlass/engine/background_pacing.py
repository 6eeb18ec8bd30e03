"""The pace of work that is never urgent."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from windlass import clock

T = TypeVar("T")

#: How long to rest after each step, in times of what it took.
_REST = 9.0


async def run_paced(step: Awaitable[T]) -> T:
    """What a step answers, after a rest: many of them take a tenth of the time, because workers
    need the database now, and what is pruned is old."""
    began = clock.monotonic()
    answer = await step
    await asyncio.sleep(_REST * (clock.monotonic() - began))
    return answer


async def run_paced_until_done(
    step: Callable[[], Awaitable[int]], *, before: Callable[[], object] = lambda: None
) -> int:
    """Repeat a capped step until there is nothing left for it, `before` each one. Answers how
    much was done."""
    total = 0
    while True:
        before()
        if not (done := await run_paced(step())):
            return total
        total += done
