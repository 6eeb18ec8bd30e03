"""Latency of jobs: histograms of waits and runs; workers store them with their heartbeat."""

from dataclasses import dataclass
from datetime import timedelta

from windlass.core.monitoring.latency import (
    Histogram,
    HistogramKey,
    LatencyBuffer,
    LatencyKind,
    merge_histograms,
)
from windlass.storage.storage import Storage


@dataclass(frozen=True, slots=True)
class Percentiles:
    """Number of waits or runs, and their 95th percentile in seconds; None if there were none."""

    count: int
    p95: float | None

    @classmethod
    def of(cls, histogram: Histogram) -> "Percentiles":
        return cls(histogram.count, histogram.percentile(0.95))


@dataclass(frozen=True, slots=True)
class Latencies:
    """Waits and runs in a window of time."""

    wait: Percentiles
    run: Percentiles


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

    async def percentiles(
        self,
        window: timedelta = timedelta(hours=1),
        *,
        definition: str | None = None,
        queue: str | None = None,
    ) -> Latencies:
        """The 95th percentiles within the window, over all tenants; the last seconds may be
        missing."""
        found = {
            place: each
            for place, each in (
                await self._storage.monitoring.latency_histograms(seconds=window.total_seconds())
            ).items()
            if definition in (None, place.definition) and queue in (None, place.queue)
        }
        return Latencies(
            wait=_percentiles_of(found, "wait"),
            run=_percentiles_of(found, "run"),
        )


def _percentiles_of(found: dict[HistogramKey, Histogram], kind: LatencyKind) -> Percentiles:
    return Percentiles.of(merge_histograms(found, kind))
