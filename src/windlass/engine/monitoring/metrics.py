"""Metrics of the whole installation, from kept counts and a few cheap reads."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from windlass import clock
from windlass.core.jobs.states import JobState
from windlass.core.monitoring.latency import ENDLESS_MS, Histogram, HistogramKey, LatencyKind
from windlass.engine.leases.workers import liveness
from windlass.storage.storage import Storage

#: Shortest time between two queries, however often metrics are read.
FRESH_SECONDS = 5.0
#: Most tenants, queues and definitions with their own series; the others are summed as `other`.
MOST_NAMES = 100
OTHER = "other"
#: A schedule is late when it is overdue by this.
LATE_SECONDS = 60.0

Type = Literal["gauge", "counter", "histogram"]


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric: its name without suffix, its labels, and its help text."""

    name: str
    type: Type
    labels: tuple[str, ...]
    tells: str


@dataclass(frozen=True, slots=True)
class Sample:
    """One value of a metric, or a whole histogram."""

    metric: Metric
    labels: tuple[str, ...]
    value: float | Histogram


_PLACE = ("queue", "definition")

TENANT_JOBS = Metric(
    "windlass_jobs", "gauge", ("tenant", "state"), "Jobs by tenant and state: the queue's depth."
)
QUEUE_JOBS = Metric("windlass_queue_jobs", "gauge", ("queue", "state"), "Jobs by queue and state.")
DEFINITION_JOBS = Metric(
    "windlass_definition_jobs", "gauge", ("definition", "state"), "Jobs by definition and state."
)
OLDEST = Metric(
    "windlass_oldest_queued_seconds",
    "gauge",
    ("queue",),
    "For how long the longest waiting job of the queue has been due.",
)
PAUSED = Metric("windlass_queue_paused", "gauge", ("queue",), "1 while the queue is paused.")
WORKERS = Metric(
    "windlass_workers",
    "gauge",
    ("liveness",),
    "Workers that are live, stale (two missed beats) or lost (a lease without a beat).",
)
SLOTS = Metric("windlass_worker_slots", "gauge", ("use",), "Slots of live workers: used, free.")
LATE = Metric(
    "windlass_schedules_late",
    "gauge",
    (),
    f"Schedules that should have fired more than {LATE_SECONDS:.0f} s ago.",
)
QUEUE_SECONDS = Metric(
    "windlass_queue_seconds", "histogram", _PLACE, "From being due to the start of the attempt."
)
RUN_SECONDS = Metric(
    "windlass_run_seconds", "histogram", _PLACE, "From the start of an attempt to its end."
)

#: By the column of the totals.
COUNTERS = {
    "enqueued": Metric("windlass_jobs_enqueued", "counter", _PLACE, "Jobs stored."),
    "started": Metric("windlass_attempts_started", "counter", _PLACE, "Attempts started."),
    "succeeded": Metric(
        "windlass_attempts_succeeded", "counter", _PLACE, "Attempts that succeeded."
    ),
    "failed": Metric(
        "windlass_attempts_failed",
        "counter",
        _PLACE,
        "Attempts that failed, timed out or were lost.",
    ),
    "retried": Metric(
        "windlass_attempts_retried", "counter", _PLACE, "Failed attempts that another follows."
    ),
    "canceled": Metric("windlass_jobs_canceled", "counter", _PLACE, "Jobs canceled and kept."),
    "dead_letter": Metric(
        "windlass_jobs_dead_lettered", "counter", _PLACE, "Jobs that failed for good."
    ),
}

_DEPTHS = {"tenant": TENANT_JOBS, "queue": QUEUE_JOBS, "definition": DEFINITION_JOBS}
_HISTOGRAMS: Mapping[LatencyKind, Metric] = {"wait": QUEUE_SECONDS, "run": RUN_SECONDS}

#: All metrics, in the order of the docs.
METRICS = (
    *_DEPTHS.values(),
    OLDEST,
    PAUSED,
    *COUNTERS.values(),
    *_HISTOGRAMS.values(),
    WORKERS,
    SLOTS,
    LATE,
)


class Metrics:
    """One process's reader. It remembers the names it gave out: if `other` lost a member, its
    counters would go backwards."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._named: dict[tuple[str, str], None] = {}
        self._samples: Sequence[Sample] = ()
        self._read_at = -FRESH_SECONDS
        self._reading = asyncio.Lock()

    async def read(self) -> Sequence[Sample]:
        """Read every value, at most some seconds old."""
        async with self._reading:
            if clock.monotonic() - self._read_at >= FRESH_SECONDS:
                self._samples = await self._look()
                self._read_at = clock.monotonic()
        return self._samples

    async def _look(self) -> Sequence[Sample]:
        state_counts_by_dimension = await self._storage.monitoring.state_counts_by_dimension(
            most=MOST_NAMES
        )
        totals = await self._storage.monitoring.lifetime_counts()
        self._name(totals)
        oldest = await self._storage.monitoring.oldest_due_age()
        queues = await self._storage.leases.queues()
        late = await self._storage.monitoring.count_late_schedules(seconds=LATE_SECONDS)
        return [
            *_depth_samples(state_counts_by_dimension),
            *(Sample(OLDEST, (queue,), oldest[queue]) for queue in _first(oldest)),
            *(
                Sample(PAUSED, (queue.name,), float(queue.paused_at is not None))
                for queue in queues[:MOST_NAMES]
            ),
            *self._total_samples(totals),
            *self._histogram_samples(await self._storage.monitoring.latency_histograms()),
            *await self._worker_samples(),
            Sample(LATE, (), float(late)),
        ]

    def _name(self, totals: Sequence[Mapping[str, Any]]) -> None:
        """Assign the named series for good, the busiest first."""
        for row in sorted(totals, key=lambda row: -int(row["enqueued"])):
            if len(self._named) < MOST_NAMES:
                self._named.setdefault((row["queue"], row["definition"]))

    def _labels(self, queue: str, definition: str) -> tuple[str, str]:
        return (queue, definition) if (queue, definition) in self._named else (OTHER, OTHER)

    def _total_samples(self, totals: Sequence[Mapping[str, Any]]) -> Iterator[Sample]:
        sums: dict[tuple[str, tuple[str, str]], int] = {}
        for row in totals:
            labels = self._labels(row["queue"], row["definition"])
            for column in COUNTERS:
                sums[column, labels] = sums.get((column, labels), 0) + int(row[column])
        for (column, labels), value in sums.items():
            yield Sample(COUNTERS[column], labels, float(value))

    def _histogram_samples(self, found: Mapping[HistogramKey, Histogram]) -> Iterator[Sample]:
        sums: dict[tuple[LatencyKind, tuple[str, str]], Histogram] = {}
        for place, histogram in found.items():
            labels = self._labels(place.queue, place.definition)
            whole = sums.setdefault((place.kind, labels), Histogram())
            whole.add_all(histogram)
        for (kind, labels), whole in sums.items():
            yield Sample(_HISTOGRAMS[kind], labels, whole)

    async def _worker_samples(self) -> list[Sample]:
        workers = await self._storage.leases.workers()
        states = [liveness(worker) for worker in workers]
        live = [w for w, state in zip(workers, states, strict=True) if state == "live"]
        used = sum(worker.slots_used for worker in live)
        return [
            *(
                Sample(WORKERS, (state,), float(states.count(state)))
                for state in ("live", "stale", "lost")
            ),
            Sample(SLOTS, ("used",), float(used)),
            Sample(SLOTS, ("free",), float(sum(worker.slots for worker in live) - used)),
        ]


def _depth_samples(state_counts_by_dimension: Sequence[Mapping[str, Any]]) -> Iterator[Sample]:
    for row in state_counts_by_dimension:
        name = OTHER if row["name"] is None else row["name"]
        for state in JobState:
            yield Sample(_DEPTHS[row["kind"]], (name, str(state)), float(row[state]))


def _first(oldest: Mapping[str, float]) -> list[str]:
    return sorted(oldest, key=lambda queue: -oldest[queue])[:MOST_NAMES]


def cumulative_counts(histogram: Histogram) -> list[tuple[str, float]]:
    """Cumulative buckets as in Prometheus: upper bound in seconds, and the count up to it."""
    below, buckets = 0, []
    for upto in sorted({*histogram.observed, ENDLESS_MS}):
        below += histogram.observed.get(upto, 0)
        bound = "+Inf" if upto == ENDLESS_MS else f"{upto / 1000:g}"
        buckets.append((bound, float(below)))
    return buckets
