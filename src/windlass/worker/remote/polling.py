"""Waiting for work where nobody tells of it."""

import asyncio
from collections.abc import Callable, Collection


class Polling:
    """A watch that hears nothing: who waits looks again by itself."""

    async def wait(self, timeout: float) -> Collection[str]:
        await asyncio.sleep(timeout)
        return ()

    async def close(self) -> None:
        """Nothing is open."""


class NoNudges:
    """Nobody tells a remote worker of new jobs; it polls."""

    def __init__(self) -> None:
        self.here: set[Callable[[Collection[str]], None]] = set()

    def hear(self, queues: Collection[str]) -> None:
        for heard in self.here:
            heard(queues)
