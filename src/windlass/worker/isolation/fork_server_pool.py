"""The stems of one worker: processes with a handler's module imported, to fork runs from.

See decision 0012.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from windlass import clock
from windlass.worker.isolation.fork_server_client import ForkServerClient, ImportEnvironment

_MOST = 8
#: How long a stem without a run is kept, and a module found unfit is not tried again.
_IDLE_SECONDS = 300.0

ImportLocation = tuple[str, str | None, str]


class ForkServerPool:
    """Lends stems, makes them when they are first asked for, and ends those nobody uses."""

    def __init__(self, *, most: int = _MOST, idle_seconds: float = _IDLE_SECONDS) -> None:
        self._most = most
        self._idle_seconds = idle_seconds
        #: The one that was asked for last stands last.
        self._servers: dict[ImportEnvironment, ForkServerClient] = {}
        self._fork_unsafe: dict[tuple[str, str | None], float] = {}
        self._ending: set[asyncio.Task[None]] = set()
        self._timer: asyncio.TimerHandle | None = None

    def __len__(self) -> int:
        return len(self._servers)

    @asynccontextmanager
    async def acquire(self, where: ImportLocation) -> AsyncIterator[ForkServerClient | None]:
        """A stem of the module a handler stands in; None if its runs must start afresh."""
        module, file, _ = where
        if not self._may_be_fork_safe(module, file):
            yield None
            return
        surroundings = ImportEnvironment.of(module, file)
        fork_server = self._find(surroundings)
        if fork_server is None:
            yield None
            return
        fork_server.users += 1
        try:
            fit = await fork_server.fit()
            if not fit:
                self._fork_unsafe[module, file] = clock.monotonic()
            yield fork_server if fit else None
        finally:
            fork_server.users -= 1
            fork_server.last_used = clock.monotonic()
            if not fork_server.users and not fork_server.is_fork_safe:
                # It cannot be used, or nobody waits for it any more: its import may hang.
                self._drop(surroundings, fork_server)

    async def close(self) -> None:
        """End all of them."""
        if self._timer is not None:
            self._timer.cancel()
        for surroundings, fork_server in list(self._servers.items()):
            self._drop(surroundings, fork_server)
        await asyncio.gather(*self._ending)

    def sweep(self) -> None:
        """End stems that were idle for long; does it again later while there are any."""
        before = clock.monotonic() - self._idle_seconds
        for surroundings, fork_server in list(self._servers.items()):
            if not fork_server.users and fork_server.last_used <= before:
                self._drop(surroundings, fork_server)
        self._timer = None
        self._sweep_later()

    def _may_be_fork_safe(self, module: str, file: str | None) -> bool:
        found_at = self._fork_unsafe.get((module, file))
        if found_at is None:
            return True
        if clock.monotonic() - found_at < self._idle_seconds:
            return False
        del self._fork_unsafe[module, file]
        return True

    def _find(self, surroundings: ImportEnvironment) -> ForkServerClient | None:
        """The stem for these surroundings, a new one if need be; None if all are in use."""
        fork_server = self._servers.pop(surroundings, None)
        if fork_server is None or fork_server.ended:
            if not self._has_room():
                return None
            fork_server = ForkServerClient(surroundings)
        self._servers[surroundings] = fork_server
        self._sweep_later()
        return fork_server

    def _has_room(self) -> bool:
        if len(self._servers) < self._most:
            return True
        for surroundings, fork_server in self._servers.items():
            if not fork_server.users:
                self._drop(surroundings, fork_server)
                return True
        return False

    def _drop(self, surroundings: ImportEnvironment, fork_server: ForkServerClient) -> None:
        if self._servers.get(surroundings) is fork_server:
            del self._servers[surroundings]
        ending = fork_server.close()
        self._ending.add(ending)
        ending.add_done_callback(self._ending.discard)

    def _sweep_later(self) -> None:
        if self._servers and self._timer is None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(self._idle_seconds, self.sweep)
