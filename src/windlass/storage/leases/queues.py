"""Verbs on queues: pause, resume, limit."""

from typing import Literal

from windlass.core.leases.limits import Queue
from windlass.ids import QueueName
from windlass.storage.connection.deadlock_retry import retry_deadlocks
from windlass.storage.database import Database
from windlass.storage.sql import rows


class QueueVerbs:
    _db: Database

    @retry_deadlocks
    async def upsert_queue(
        self,
        name: str,
        *,
        paused: bool | None = None,
        by: str | None = None,
        reason: str | None = None,
        limit: int | Literal["unchanged"] | None = "unchanged",
    ) -> Queue:
        """Say of a queue whether it is paused, and its limit; what is not said stays."""
        async with self._db.transaction() as session:
            await session.run("lock_definitions")
            found = await session.run("queue", name=name)
            before = rows.queue(found[0]) if found else Queue(name=QueueName(name))
            limited = before.max_concurrency if limit == "unchanged" else limit
            if paused is None:
                paused, by, reason = bool(before.paused_at), before.paused_by, before.pause_reason
            await session.run(
                "upsert_queue",
                name=name,
                paused=paused,
                paused_by=by,
                pause_reason=reason,
                max_concurrency=limited,
            )
            if limited != before.max_concurrency:
                await session.run("set_limits")
                await session.run("acquire_limits_for_running")
            return rows.queue((await session.run("queue", name=name))[0])

    async def queues(self) -> list[Queue]:
        """The settings of queues, by name."""
        return [rows.queue(row) for row in await self._db.run("queues")]
