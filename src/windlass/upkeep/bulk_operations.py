"""Executes bulk operations while there are any."""

from windlass.engine.engine import Engine
from windlass.engine.loop import Loop

#: Interval of the check for operations that another process began or abandoned.
_LOOK_SECONDS = 5.0


class OperationRunner:
    """A loop that wakes when this process begins an operation."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._loop = Loop(
            "bulk operations", self.tick, seconds=_LOOK_SECONDS, telemetry=engine.telemetry
        )

    def start(self) -> None:
        self._engine.operations.local_listeners.add(self._loop.wake)
        self._loop.start()

    async def stop(self) -> None:
        self._engine.operations.local_listeners.discard(self._loop.wake)
        await self._loop.stop()

    async def tick(self) -> int:
        """Work until no operation is left. Returns the number of jobs settled."""
        return await self._engine.operation_batches.work()
