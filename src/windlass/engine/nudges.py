"""Tells sleeping workers that there may be work: after the commit, and not once per job.

A nudge only saves time. It is sent by its own statement, so that no enqueue waits for it, and
many enqueues share one.
"""

import asyncio
import contextlib
from collections.abc import Callable, Collection

from windlass import clock
from windlass.storage.database import Database, Watch
from windlass.tasks import spawn_unbound

__all__ = ["COMMITTED_SECONDS", "Nudges", "Watch"]

#: Nudges within this time of one another are one nudge; and while the database is so busy that one
#: takes long, within twenty times as long: producers must not wait for what only saves time.
_GATHER_SECONDS = 0.01
_TIMES = 20.0
#: How long the end waits for one that is under way.
_LAST_SECONDS = 1.0
#: When a job in a caller's transaction is likely to have been committed.
COMMITTED_SECONDS = (0.02, 0.25)


class Nudges:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._queues: set[str] = set()
        self._sending: asyncio.Task[None] | None = None
        self._ending = asyncio.Event()
        self._later: set[asyncio.TimerHandle] = set()
        #: Workers and schedulers of this process, which need not be told through the database.
        self.local_listeners: set[Callable[[Collection[str]], None]] = set()

    def nudge(self, queues: Collection[str]) -> None:
        """Wake workers of these queues soon. Returns at once and never fails."""
        self.wake_local(queues)
        self._queues.update(queues)
        if self._sending is None or self._sending.done():
            self._sending = spawn_unbound(self._send())

    def wake_local(self, queues: Collection[str]) -> None:
        """Tell those of this process who sleep."""
        for heard in self.local_listeners:
            heard(queues)

    def nudge_after_commit(self, queues: Collection[str]) -> None:
        """The same for jobs in a caller's transaction, whose commit nobody tells us of."""
        loop = asyncio.get_running_loop()
        for delay in COMMITTED_SECONDS:
            handle = loop.call_later(delay, self.nudge, tuple(queues))
            self._later = {timer for timer in self._later if timer.when() > loop.time()} | {handle}

    def nudge_all(self) -> None:
        """Wake workers of all queues."""
        self.nudge({"*"})

    async def close(self) -> None:
        for handle in self._later:
            handle.cancel()
        self._ending.set()
        if self._sending and not self._sending.done():
            # A job that was made at the very end is worth a nudge too.
            await asyncio.wait([self._sending], timeout=_LAST_SECONDS)
            self._sending.cancel()
            await asyncio.gather(self._sending, return_exceptions=True)

    async def _send(self) -> None:
        # The first goes out at once; what comes while it is under way is gathered.
        while self._queues:
            queues, self._queues = self._queues, set()
            began = clock.monotonic()
            try:
                await self._database.nudge(sorted(queues))
            except Exception:  # noqa: BLE001  workers poll; the next nudge tries again
                return
            took = clock.monotonic() - began
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(max(_GATHER_SECONDS, took * _TIMES)):
                    await self._ending.wait()
