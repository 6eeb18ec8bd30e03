"""Waits for a nudge: LISTEN on a connection of its own."""

import asyncio
import contextlib
from collections.abc import Collection, Sequence
from typing import Any

import asyncpg

from windlass.storage.address import Address
from windlass.storage.heard import Heard

#: How long the end waits for a connection that is being made.
_LAST_SECONDS = 1.0


def channel(schema: str | None) -> str:
    return f"windlass_{schema}" if schema else "windlass"


class PostgresWatch:
    """Hears nudges while its connection lives, and mends it quietly when it does not."""

    def __init__(self, address: Address, channel: str, queues: Sequence[str] | None) -> None:
        self._address = address
        self._channel = channel
        self._queues = None if queues is None else frozenset(queues)
        self._names = Heard()
        self._connection: Any = None
        self._mending: asyncio.Task[None] | None = None

    async def wait(self, timeout: float) -> Collection[str]:
        self._mend()
        return await self._names.wait(timeout)

    async def close(self) -> None:
        if self._mending:
            # Cut short in the middle, the driver complains to nobody: so it has a moment.
            await asyncio.wait([self._mending], timeout=_LAST_SECONDS)
            self._mending.cancel()
            await asyncio.gather(self._mending, return_exceptions=True)
        if self._connection and not self._connection.is_closed():
            with contextlib.suppress(Exception):
                await self._connection.close(timeout=2)

    def _mend(self) -> None:
        connected = self._connection is not None and not self._connection.is_closed()
        if not connected and (self._mending is None or self._mending.done()):
            self._mending = asyncio.create_task(self._connect())

    async def _connect(self) -> None:
        # Polling goes on whatever happens here, so failing is an ordinary answer.
        with contextlib.suppress(
            asyncpg.PostgresError, asyncpg.InterfaceError, OSError, TimeoutError
        ):
            connection: Any = await asyncpg.connect(self._address.url, timeout=10)
            try:
                await connection.add_listener(self._channel, self._heard)
            except BaseException:
                connection.terminate()
                raise
            self._connection = connection
            # What was enqueued while nobody listened gave no nudge.
            self._names.add({"*"})

    def _heard(self, connection: Any, pid: int, channel: str, queue: str) -> None:
        if self._queues is None or queue == "*" or queue in self._queues:
            self._names.add({queue})
