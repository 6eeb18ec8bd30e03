"""Waits for nudges: LISTEN on a dedicated connection."""

import asyncio
import contextlib
from collections.abc import Collection, Sequence
from typing import Any

import asyncpg

from windlass import clock
from windlass.errors import WindlassError
from windlass.storage.connection.address import Address
from windlass.storage.connection.pending_nudges import PendingWakeups
from windlass.storage.postgres.connect import closed, connect
from windlass.tasks import start_task

#: Longest wait at shutdown for a connection that is being opened or checked.
_LAST_SECONDS = 1.0
#: Interval of the liveness check of a silent connection, and its timeout.
_ASK_SECONDS, _ANSWER_SECONDS = 8.0, 5.0
#: Expected errors. They are ignored: polling continues without a watch.
_EXPECTED = (
    asyncpg.PostgresError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,
    OSError,
    TimeoutError,
    WindlassError,
)


def channel(schema: str | None) -> str:
    return f"windlass_{schema}" if schema else "windlass"


class PostgresWatch:
    """Receives nudges while its connection lives, and reconnects silently when it is lost."""

    def __init__(self, address: Address, channel: str, queues: Sequence[str] | None) -> None:
        self._address = address
        self._channel = channel
        self._queues = None if queues is None else frozenset(queues)
        self._wakeups = PendingWakeups()
        self._connection: Any = None
        self._checking: asyncio.Task[None] | None = None
        self._checked_at = 0.0

    async def wait(self, timeout: float) -> Collection[str]:
        self._ensure_connected()
        return await self._wakeups.wait(timeout)

    async def close(self) -> None:
        if self._checking:
            # If interrupted, the driver logs a useless error; give it a moment to finish.
            await asyncio.wait([self._checking], timeout=_LAST_SECONDS)
            self._checking.cancel()
            await asyncio.gather(self._checking, return_exceptions=True)
        if self._connection and not self._connection.is_closed():
            await closed(self._connection, within=_LAST_SECONDS)

    def _ensure_connected(self) -> None:
        if self._checking is not None and not self._checking.done():
            return
        now = clock.monotonic()
        if self._connection is None or self._connection.is_closed():
            self._checking = start_task(self._connect())
        elif now - self._checked_at >= _ASK_SECONDS:
            self._checked_at = now
            self._checking = start_task(self._check_alive())

    async def _connect(self) -> None:
        with contextlib.suppress(*_EXPECTED):
            connection = await connect(self._address, command_timeout=_ANSWER_SECONDS)
            try:
                await connection.add_listener(self._channel, self._on_nudge)
            except BaseException:
                connection.terminate()
                raise
            self._connection = connection
            self._checked_at = clock.monotonic()
            # Nudges for jobs enqueued before LISTEN were missed.
            self._wakeups.add({"*"})

    async def _check_alive(self) -> None:
        """End a connection that does not respond: on a silent link no nudge would ever arrive."""
        try:
            await self._connection.execute("select 1", timeout=_ANSWER_SECONDS)
        except _EXPECTED:
            self._connection.terminate()

    def _on_nudge(self, connection: Any, pid: int, channel: str, queue: str) -> None:
        if self._queues is None or queue == "*" or queue in self._queues:
            self._wakeups.add({queue})
