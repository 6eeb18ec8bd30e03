"""Latency of jobs: histograms of waits and runs; workers store them with their heartbeat."""

from datetime import timedelta

from windlass.core.jobs.models import ALL_TENANTS, Scope
from windlass.core.monitoring.latency import LatencyBuffer, LatencyPair
from windlass.core.monitoring.slots import plan_slots
from windlass.storage.storage import Storage


class Latency:
    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    async def flush(self, tally: LatencyBuffer) -> None:
        """Store a worker's observations. If that fails, they stay for the next flush."""
        observations = tally.take()
        try:
            await self._storage.monitoring.record_latency(observations)
        except BaseException:
            tally.put_back(observations)
            raise

    async def histograms(
        self,
        window: timedelta = timedelta(hours=1),
        *,
        scope: Scope = ALL_TENANTS,
        definition: str | None = None,
        queue: str | None = None,
    ) -> LatencyPair:
        """Waits and runs within the window; the last seconds may be missing."""
        now = await self._storage.now()
        marks = await self._storage.monitoring.rollup_marks()
        plan = plan_slots(now - window, now, window, marks)
        found = await self._storage.monitoring.latency_by_slot(
            scope, plan, definition=definition, queue=queue
        )
        whole = LatencyPair()
        for pair in found.values():
            whole.add_all(pair)
        return whole
