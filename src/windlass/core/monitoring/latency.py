"""Histograms of wait and run times, and their percentiles."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeVar

from windlass.core.leases.lease import Lease

BatchItem = TypeVar("BatchItem")

#: From being due to starting, and from starting to the end of the attempt.
LatencyKind = Literal["wait", "run"]

#: Stands for no bound.
ENDLESS_MS = 2**31 - 1
#: The upper bounds of the buckets.
BOUNDS_MS = (
    1, 5, 10, 25, 50, 100, 250, 500,
    1_000, 2_500, 5_000, 10_000, 30_000, 60_000, 300_000, 1_800_000, 7_200_000,
    ENDLESS_MS,
)  # fmt: skip

#: In place of a bucket's bound: the row that has, for its seconds, the longest that was observed.
LONGEST_MS = 0

_BOUNDS = tuple(bound / 1000 for bound in BOUNDS_MS)
#: Of more observations at once every n-th stands for n of them.
_MOST_AT_ONCE = 64


class HistogramKey(NamedTuple):
    """Key of a histogram: queue, definition, and wait or run."""

    kind: LatencyKind
    queue: str
    definition: str


@dataclass(slots=True)
class Histogram:
    """Histogram of durations: `observed` counts by upper bound in milliseconds, the sum of all, and the
    longest; None if that is not known, as of what earlier versions stored."""

    observed: dict[int, int] = field(default_factory=dict)
    seconds: float = 0.0
    longest: float | None = None

    @property
    def count(self) -> int:
        return sum(self.observed.values())

    def add(self, upto_ms: int, observed: int, seconds: float) -> None:
        """Count what one stored row has."""
        if upto_ms == LONGEST_MS:
            self.longest = max(self.longest or 0.0, seconds)
            return
        self.observed[upto_ms] = self.observed.get(upto_ms, 0) + observed
        self.seconds += seconds

    def percentile(self, share: float) -> float | None:
        """Within so many seconds that share was done; guessed inside its bucket, never above the
        longest, None for none."""
        rank, below = share * self.count, 0
        for upto, here in sorted(self.observed.items()):
            if here and below + here >= rank:
                lower = max((bound for bound in BOUNDS_MS if bound < upto), default=0)
                width = 0 if upto == ENDLESS_MS else upto - lower
                guess = (lower + width * (rank - below) / here) / 1000
                # Of a bucket above it no longest was stored: it stems from an earlier version.
                if self.longest is not None and lower / 1000 <= self.longest:
                    return min(guess, self.longest)
                return guess
            below += here
        return None


class Observation(NamedTuple):
    """Addition to one bucket; with LONGEST_MS, the longest duration."""

    kind: LatencyKind
    queue: str
    definition: str
    upto_ms: int
    observed: int
    seconds: float


@dataclass(slots=True)
class _Buckets:
    """Observations of one key: count and sum by bucket, and the longest."""

    counts: list[int] = field(default_factory=lambda: [0] * len(_BOUNDS))
    sums: list[float] = field(default_factory=lambda: [0.0] * len(_BOUNDS))
    longest: float = 0.0

    def rows(self) -> Iterator[tuple[int, int, float]]:
        """Bound, count and seconds of each bucket with something in it, the longest first."""
        yield LONGEST_MS, 0, self.longest
        for upto, observed, seconds in zip(BOUNDS_MS, self.counts, self.sums, strict=True):
            if observed:
                yield upto, observed, seconds


class LatencyBuffer:
    """Observations of a process that are not stored yet."""

    def __init__(self) -> None:
        self._cells: dict[HistogramKey, _Buckets] = {}

    def observe(
        self, kind: LatencyKind, took: Iterable[tuple[str, str, float]], weight: int = 1
    ) -> None:
        """Count a batch of (queue, definition, seconds), each for `weight`."""
        for queue, definition, seconds in took:
            place = HistogramKey(kind, queue, definition)
            cell = self._cells.get(place) or self._cells.setdefault(place, _Buckets())
            bucket = min(bisect_left(_BOUNDS, seconds), len(_BOUNDS) - 1)
            cell.counts[bucket] += weight
            cell.sums[bucket] += weight * max(0.0, seconds)
            cell.longest = max(cell.longest, seconds)

    def waited(self, leases: Sequence[Lease]) -> None:
        """Count how long jobs that were claimed had waited. Both instants are the database's."""
        some, weight = sample(leases)
        self.observe(
            "wait",
            [
                (lease.queue, lease.definition, (lease.started_at - lease.due_at).total_seconds())
                for lease in some
            ],
            weight,
        )

    def take(self) -> list[Observation]:
        """All there is to store, in the order in which rows are locked."""
        cells, self._cells = self._cells, {}
        return sorted(
            Observation(*place, upto, observed, seconds)
            for place, cell in cells.items()
            for upto, observed, seconds in cell.rows()
        )

    def put_back(self, observations: Iterable[Observation]) -> None:
        """Keep for the next time what could not be stored."""
        for kind, queue, definition, upto, observed, seconds in observations:
            cell = self._cells.setdefault(HistogramKey(kind, queue, definition), _Buckets())
            if upto == LONGEST_MS:
                cell.longest = max(cell.longest, seconds)
                continue
            bucket = BOUNDS_MS.index(upto)
            cell.counts[bucket] += observed
            cell.sums[bucket] += seconds


def sample(batch: Sequence[BatchItem]) -> tuple[Sequence[BatchItem], int]:
    """Some of a batch, and for how many each of them stands: however large a batch is, looking at
    it costs the same."""
    weight = max(1, -(-len(batch) // _MOST_AT_ONCE))
    return batch[::weight], weight


def merge_histograms(histograms: Mapping[HistogramKey, Histogram], kind: LatencyKind) -> Histogram:
    """One histogram of all queues and definitions."""
    whole = Histogram()
    for place, histogram in histograms.items():
        if place.kind == kind:
            for upto, observed in histogram.observed.items():
                whole.add(upto, observed, 0.0)
            whole.seconds += histogram.seconds
            if histogram.longest is not None:
                whole.add(LONGEST_MS, 0, histogram.longest)
    return whole
