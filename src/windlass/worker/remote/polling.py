"""Waiting for work where nobody tells of it."""

import asyncio
from collections.abc import Callable, Collection


class PollingWatch:
    """A watch that hears nothing: who waits looks again by itself."""

    async def wait(self, timeout: float) -> Collection[str]:
        await asyncio.sleep(timeout)
        return ()

    async def close(self) -> None:
        """Nothing is open."""


class LocalNudges:
    """Nobody tells a remote worker of new jobs; it polls."""

    def __init__(self) -> None:
        self.local_listeners: set[Callable[[Collection[str]], None]] = set()

    def wake_local(self, queues: Collection[str]) -> None:
        for heard in self.local_listeners:
            heard(queues)
