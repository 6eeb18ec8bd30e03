"""Background tasks of an engine: referenced until they are done, canceled when it closes."""

import asyncio
from collections.abc import Coroutine
from typing import Any

from windlass.tasks import spawn_unbound


class BackgroundTasks:
    """Tasks that serve all tenants and end with their owner."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()

    def start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Start a task; the caller need not keep a reference."""
        task = spawn_unbound(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def close(self) -> None:
        """Cancel the running tasks, and return when they have ended."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
