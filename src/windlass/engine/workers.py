"""The registry of workers: for people. It never decides who owns a job."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Literal

from windlass.core.models import WorkerRow
from windlass.errors import AmbiguousId, WorkerNotFound
from windlass.ids import SHORTEST_SUFFIX, WorkerId
from windlass.storage.base import Storage

#: A worker unseen for so long is forgotten.
_FORGET = timedelta(days=1)

Liveness = Literal["live", "stale", "lost"]


class Workers:
    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    async def beat(self, worker: WorkerRow) -> None:
        """Keep a worker's row and note that it lives."""
        await self._storage.beat(worker)

    async def leave(self, worker: WorkerId) -> None:
        """Remove the row of a worker that has stopped."""
        await self._storage.leave(worker)

    async def list(self) -> Sequence[WorkerRow]:
        """All workers with a row."""
        return await self._storage.workers()

    async def get(self, id: str) -> WorkerRow:
        """One worker by its id, or by any unambiguous ending of it of six or more characters."""
        rows = await self._storage.workers()
        found = [row for row in rows if row.id == id] or [
            row for row in rows if len(id) >= SHORTEST_SUFFIX and row.id.endswith(id)
        ]
        if not found:
            raise WorkerNotFound(id)
        if len(found) > 1:
            raise AmbiguousId(id, [row.id for row in found], said="workers end in")
        return found[0]

    async def forget(self) -> int:
        """Remove the rows of workers long gone. Answers how many."""
        return await self._storage.forget_workers(unseen_seconds=_FORGET.total_seconds())


def liveness(worker: WorkerRow) -> Liveness:
    """`stale` after two missed beats (a beat is a third of the lease), `lost` after a lease."""
    age = worker.age.total_seconds() if worker.age else 0.0
    if age >= worker.lease_seconds:
        return "lost"
    return "stale" if age >= 2 * worker.lease_seconds / 3 else "live"
