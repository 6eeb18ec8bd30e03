"""Tasks in the background of an engine: kept until they are done, ended when it closes."""

import asyncio
from collections.abc import Coroutine
from typing import Any

from windlass.storage.connection.tenant_binding import spawn_unbound


class BackgroundTasks:
    """Tasks that serve all tenants and end with their owner."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()

    def start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Start a task that nobody else has to keep."""
        task = spawn_unbound(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def close(self) -> None:
        """Cancel the tasks that are under way, and return when they have ended."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
