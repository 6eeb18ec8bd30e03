"""Waits for a nudge. The server has no way to pass one on, so only those of this process arrive."""

import asyncio
from collections.abc import Collection, Sequence


class MysqlWatch:
    """Hears nudges given through the same database object; others are found by polling."""

    def __init__(self, queues: Sequence[str] | None, watches: "set[MysqlWatch]") -> None:
        self._queues = None if queues is None else frozenset(queues)
        self._nudged = asyncio.Event()
        self._watches = watches
        watches.add(self)

    async def wait(self, timeout: float) -> bool:
        try:
            async with asyncio.timeout(timeout):
                await self._nudged.wait()
        except TimeoutError:
            return False
        self._nudged.clear()
        return True

    async def close(self) -> None:
        self._watches.discard(self)

    def hear(self, queues: Collection[str]) -> None:
        """Wake whoever waits, if one of these queues is watched."""
        if self._queues is None or not self._queues.isdisjoint(queues):
            self._nudged.set()
