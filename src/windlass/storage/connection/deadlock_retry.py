"""Deadlock retry: runs a verb of several steps again when its transaction met another one."""

import asyncio
import random
from collections.abc import Awaitable, Callable, Coroutine
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from windlass.errors import DatabaseTimeout

P = ParamSpec("P")
T = TypeVar("T")

TRIES = 5


class Deadlock(DatabaseTimeout):
    """Two transactions waited for each other, and this one was rolled back."""


async def pause_before_retry(tries: int = 1) -> None:
    """Wait a little, longer after several tries, and at random: the other side waits too."""
    await asyncio.sleep(random.uniform(0.001, 0.02) * tries)


def retry_deadlocks(verb: Callable[P, Awaitable[T]]) -> Callable[P, Coroutine[Any, Any, T]]:
    """Run `verb` again if it was rolled back because of another transaction, up to `TRIES` times."""

    @wraps(verb)
    async def tried(*args: P.args, **kwargs: P.kwargs) -> T:
        for tries in range(1, TRIES):
            try:
                return await verb(*args, **kwargs)
            except Deadlock:
                await pause_before_retry(tries)
        return await verb(*args, **kwargs)

    return tried
