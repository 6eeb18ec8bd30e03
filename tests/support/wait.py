"""Waiting for a condition instead of sleeping."""

import asyncio
import time
from collections.abc import Callable
from typing import Any


async def until(look: Callable[[], Any], *, within: float = 60.0, waiting_for: str = "") -> Any:
    """What `look` answers, or its coroutine, once that is something; fails when it takes too long."""
    deadline = time.monotonic() + within
    while True:
        found = look()
        if asyncio.iscoroutine(found):
            found = await found
        if found:
            return found
        assert time.monotonic() < deadline, f"waited {within:g} s in vain for {waiting_for or look}"
        await asyncio.sleep(0.01)


def blocking_until(look: Callable[[], Any], *, within: float = 60.0) -> Any:
    """The same where `look` runs an event loop of its own."""
    deadline = time.monotonic() + within
    while not (found := look()):
        assert time.monotonic() < deadline, f"waited {within:g} s in vain for {look}"
        time.sleep(0.05)
    return found
