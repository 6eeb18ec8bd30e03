"""Waits for a nudge. The server has no way to pass one on, so only those of this process arrive."""

from collections.abc import Collection, Sequence

from windlass.storage.connection.pending_nudges import PendingWakeups


class MysqlWatch:
    """Hears nudges given through the same database object; others are found by polling."""

    def __init__(self, queues: Sequence[str] | None, watches: "set[MysqlWatch]") -> None:
        self._queues = None if queues is None else frozenset(queues)
        self._heard = PendingWakeups()
        self._watches = watches
        watches.add(self)

    async def wait(self, timeout: float) -> Collection[str]:
        return await self._heard.wait(timeout)

    async def close(self) -> None:
        self._watches.discard(self)

    def hear(self, queues: Collection[str]) -> None:
        """Wake whoever waits, if one of these queues is watched."""
        self._heard.add(queues if self._queues is None else self._queues.intersection(queues))
