"""Waits for a nudge: LISTEN on a connection of its own."""

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

#: How long the end waits for a connection that is being made or asked.
_LAST_SECONDS = 1.0
#: How often a connection on which nothing is heard is asked whether it lives, and how long it has.
_ASK_SECONDS, _ANSWER_SECONDS = 8.0, 5.0
#: What may go wrong here. Polling goes on whatever it is, so failing is an ordinary answer.
_ORDINARY = (
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
    """Hears nudges while its connection lives, and mends it quietly when it does not."""

    def __init__(self, address: Address, channel: str, queues: Sequence[str] | None) -> None:
        self._address = address
        self._channel = channel
        self._queues = None if queues is None else frozenset(queues)
        self._names = PendingWakeups()
        self._connection: Any = None
        self._mending: asyncio.Task[None] | None = None
        self._asked_at = 0.0

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
            await closed(self._connection, within=_LAST_SECONDS)

    def _mend(self) -> None:
        if self._mending is not None and not self._mending.done():
            return
        now = clock.monotonic()
        if self._connection is None or self._connection.is_closed():
            self._mending = start_task(self._connect())
        elif now - self._asked_at >= _ASK_SECONDS:
            self._asked_at = now
            self._mending = start_task(self._ask())

    async def _connect(self) -> None:
        with contextlib.suppress(*_ORDINARY):
            connection = await connect(self._address, command_timeout=_ANSWER_SECONDS)
            try:
                await connection.add_listener(self._channel, self._heard)
            except BaseException:
                connection.terminate()
                raise
            self._connection = connection
            self._asked_at = clock.monotonic()
            # What was enqueued while nobody listened gave no nudge.
            self._names.add({"*"})

    async def _ask(self) -> None:
        """End a connection that does not answer: on a silent link nothing would be heard again."""
        try:
            await self._connection.execute("select 1", timeout=_ANSWER_SECONDS)
        except _ORDINARY:
            self._connection.terminate()

    def _heard(self, connection: Any, pid: int, channel: str, queue: str) -> None:
        if self._queues is None or queue == "*" or queue in self._queues:
            self._names.add({queue})
