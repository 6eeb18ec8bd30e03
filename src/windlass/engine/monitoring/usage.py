"""Use of queues and workers: depth, rates and slots, now and over time."""

from collections.abc import Sequence
from datetime import timedelta

from windlass.core.jobs.models import ALL_TENANTS, Scope, WorkerRow
from windlass.core.monitoring.series import (
    QueueSeries,
    Window,
    WorkerPoint,
    queue_points,
    queue_rates,
    worker_points,
)
from windlass.engine.leases.queues import Queues
from windlass.engine.leases.workers import liveness
from windlass.engine.monitoring.rollups import read_window
from windlass.storage.storage import Storage


class Usage:
    def __init__(self, storage: Storage, queues: Queues) -> None:
        self._storage = storage
        self._queues = queues

    async def queues(
        self,
        window: str = "1h",
        *,
        scope: Scope = ALL_TENANTS,
        after: str | None = None,
        limit: int = 50,
    ) -> Sequence[QueueSeries]:
        """Some queues behind `after`, by name, each with the jobs of a scope."""
        read = await read_window(self._storage, window)
        every = await self._queues.list(scope)
        queues = [each for each in every if after is None or each.name > after][:limit]
        names = [each.name for each in queues]
        found = await self._storage.monitoring.throughput_by_queue(scope, read.plan, names)
        ages = await self._storage.monitoring.oldest_due_age(scope)
        # Workers are everybody's: who sees one tenant only is not told of them.
        workers = await self._claiming_workers() if scope.tenant is None else None
        return [
            QueueSeries(
                queue=each,
                pending=each.pending,
                queued=each.queued,
                running=each.running,
                oldest_age=_seconds(ages.get(each.name)),
                workers=None if workers is None else _number_serving(workers, each.name),
                in_per_second=came,
                out_per_second=went,
                points=queue_points(read, own, each.pending + each.queued),
            )
            for each in queues
            for own in [found.get(each.name, {})]
            for came, went in [queue_rates(read, own)]
        ]

    async def workers(self, window: str = "1h") -> tuple[Window, Sequence[WorkerPoint]]:
        """Slots of live workers, and how many of them were used, over time."""
        read = await read_window(self._storage, window)
        found = await self._storage.monitoring.worker_use(read.slots)
        return read, worker_points(read, found)

    async def _claiming_workers(self) -> Sequence[WorkerRow]:
        workers = await self._storage.leases.workers()
        return [each for each in workers if liveness(each) == "live" and each.claims]


def _number_serving(workers: Sequence[WorkerRow], queue: str) -> int:
    """The number of workers that serve a queue; one without queues serves all."""
    return sum(not each.queues or queue in each.queues for each in workers)


def _seconds(age: float | None) -> timedelta | None:
    return None if age is None else timedelta(seconds=age)
