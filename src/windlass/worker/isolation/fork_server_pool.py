"""Pool of the fork servers of one worker, one for each module with process-isolated handlers.

See decision 0012.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from windlass import clock
from windlass.worker.isolation.fork_server_client import ForkServerClient, ImportEnvironment

_MOST = 8
#: How long an idle fork server is kept, and a module that is not fork-safe is not tried again.
_IDLE_SECONDS = 300.0

ImportLocation = tuple[str, str | None, str]


class ForkServerPool:
    """Starts fork servers on first use, shares them between runs, and ends idle ones."""

    def __init__(self, *, most: int = _MOST, idle_seconds: float = _IDLE_SECONDS) -> None:
        self._most = most
        self._idle_seconds = idle_seconds
        #: The least recently used first.
        self._servers: dict[ImportEnvironment, ForkServerClient] = {}
        self._fork_unsafe: dict[tuple[str, str | None], float] = {}
        self._ending: set[asyncio.Task[None]] = set()
        self._timer: asyncio.TimerHandle | None = None

    def __len__(self) -> int:
        return len(self._servers)

    @asynccontextmanager
    async def acquire(self, location: ImportLocation) -> AsyncIterator[ForkServerClient | None]:
        """The fork server of a handler's module; None if its runs must be spawned."""
        module, file, _ = location
        if not self._may_be_fork_safe(module, file):
            yield None
            return
        environment = ImportEnvironment.of(module, file)
        fork_server = self._find(environment)
        if fork_server is None:
            yield None
            return
        fork_server.users += 1
        try:
            fork_safe = await fork_server.wait_until_ready()
            if not fork_safe:
                self._fork_unsafe[module, file] = clock.monotonic()
            yield fork_server if fork_safe else None
        finally:
            fork_server.users -= 1
            fork_server.last_used = clock.monotonic()
            if not fork_server.users and not fork_server.is_fork_safe:
                # It cannot be used, or every waiting run has been stopped: its import may hang.
                self._drop(environment, fork_server)

    async def close(self) -> None:
        """End all of them."""
        if self._timer is not None:
            self._timer.cancel()
        for environment, fork_server in list(self._servers.items()):
            self._drop(environment, fork_server)
        await asyncio.gather(*self._ending)

    def sweep(self) -> None:
        """End fork servers that are idle for long; repeats while there are any."""
        before = clock.monotonic() - self._idle_seconds
        for environment, fork_server in list(self._servers.items()):
            if not fork_server.users and fork_server.last_used <= before:
                self._drop(environment, fork_server)
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

    def _find(self, environment: ImportEnvironment) -> ForkServerClient | None:
        """The fork server of an environment, a new one if needed; None if all are in use."""
        fork_server = self._servers.pop(environment, None)
        if fork_server is None or fork_server.ended:
            if not self._has_room():
                return None
            fork_server = ForkServerClient(environment)
        self._servers[environment] = fork_server
        self._sweep_later()
        return fork_server

    def _has_room(self) -> bool:
        if len(self._servers) < self._most:
            return True
        for environment, fork_server in self._servers.items():
            if not fork_server.users:
                self._drop(environment, fork_server)
                return True
        return False

    def _drop(self, environment: ImportEnvironment, fork_server: ForkServerClient) -> None:
        if self._servers.get(environment) is fork_server:
            del self._servers[environment]
        ending = fork_server.close()
        self._ending.add(ending)
        ending.add_done_callback(self._ending.discard)

    def _sweep_later(self) -> None:
        if self._servers and self._timer is None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(self._idle_seconds, self.sweep)
