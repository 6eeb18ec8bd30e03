"""Latency of jobs: histograms of waits and runs, kept by workers in memory and stored with their heartbeat."""

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
    """Number of waits or runs, and the seconds that all but one in twenty took; None if there were none."""

    count: int
    p95: float | None

    @classmethod
    def of(cls, histogram: Histogram) -> "Percentiles":
        return cls(histogram.count, histogram.percentile(0.95))


@dataclass(frozen=True, slots=True)
class Latencies:
    """Waits and runs of a stretch of time."""

    wait: Percentiles
    run: Percentiles


class Latency:
    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    async def flush(self, tally: LatencyBuffer) -> None:
        """Store what a worker has observed. What cannot be stored stays for the next time."""
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
        """The 95th percentile of the minutes in the window; the last seconds may lack. They
        are of all tenants together."""
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
