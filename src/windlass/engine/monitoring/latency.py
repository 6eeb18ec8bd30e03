"""How long jobs wait and run: kept by workers in memory, stored with their heartbeat."""

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
    """Half of the waits or runs took at most `p50` seconds, all but one in twenty `p95`. None if
    there were none."""

    count: int
    p50: float | None
    p95: float | None

    @classmethod
    def of(cls, histogram: Histogram) -> "Percentiles":
        return cls(histogram.count, histogram.percentile(0.5), histogram.percentile(0.95))


@dataclass(frozen=True, slots=True)
class Latencies:
    """Of a stretch of time: of all jobs, and by queue and definition."""

    wait: Percentiles
    run: Percentiles
    by_place: dict[HistogramKey, Percentiles]


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
        """Median and 95th percentile of the minutes in the window; the last seconds may lack. They
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
            by_place={place: Percentiles.of(each) for place, each in found.items()},
        )


def _percentiles_of(found: dict[HistogramKey, Histogram], kind: LatencyKind) -> Percentiles:
    return Percentiles.of(merge_histograms(found, kind))
