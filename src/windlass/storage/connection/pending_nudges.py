"""Nudges that arrived and wait for a watch to take them."""

import asyncio
from collections.abc import Iterable


class PendingWakeups:
    """Names, mostly of queues, that wait for a watch."""

    def __init__(self) -> None:
        self._names: set[str] = set()
        self._some = asyncio.Event()

    def add(self, names: Iterable[str]) -> None:
        self._names.update(names)
        if self._names:
            self._some.set()

    async def wait(self, timeout: float) -> frozenset[str]:
        """The names, once there are some; none when `timeout` seconds have passed."""
        try:
            async with asyncio.timeout(timeout):
                await self._some.wait()
        except TimeoutError:
            return frozenset()
        names, self._names = frozenset(self._names), set()
        self._some.clear()
        return names
