"""Histograms of wait and run times, and their percentiles."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeVar

from windlass.core.leases.lease import Lease, LeasedJob

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
#: Histograms of single tenants between two flushes; what comes beyond is counted for all tenants only.
MOST_OF_TENANTS = 500


class HistogramKey(NamedTuple):
    """Key of a histogram: queue, definition, and wait or run; of one tenant, or of all if empty."""

    kind: LatencyKind
    queue: str
    definition: str
    tenant: str = ""


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

    def add_all(self, other: "Histogram") -> None:
        """Count what another histogram has."""
        for upto, observed in other.observed.items():
            self.add(upto, observed, 0.0)
        self.seconds += other.seconds
        if other.longest is not None:
            self.add(LONGEST_MS, 0, other.longest)

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
    tenant_id: str = ""


class Percentiles(NamedTuple):
    """Percentiles of waits and runs, in seconds; None where nothing was observed."""

    p50_wait_seconds: float | None = None
    p95_wait_seconds: float | None = None
    p99_wait_seconds: float | None = None
    p50_run_seconds: float | None = None
    p95_run_seconds: float | None = None

    @classmethod
    def of(cls, wait: Histogram, run: Histogram) -> "Percentiles":
        return cls(
            *(wait.percentile(share) for share in (0.5, 0.95, 0.99)),
            *(run.percentile(share) for share in (0.5, 0.95)),
        )


@dataclass(slots=True)
class LatencyPair:
    """Histograms of waits and of runs."""

    wait: Histogram = field(default_factory=Histogram)
    run: Histogram = field(default_factory=Histogram)

    @property
    def percentiles(self) -> Percentiles:
        return Percentiles.of(self.wait, self.run)

    def add(self, kind: str, upto_ms: int, observed: int, seconds: float) -> None:
        """Count what one stored row has."""
        (self.wait if kind == "wait" else self.run).add(upto_ms, observed, seconds)

    def add_all(self, other: "LatencyPair") -> None:
        """Count what another pair has."""
        self.wait.add_all(other.wait)
        self.run.add_all(other.run)


@dataclass(slots=True)
class _Buckets:
    """Observations of one key: count and sum by bucket, and the longest."""

    counts: list[int] = field(default_factory=lambda: [0] * len(_BOUNDS))
    sums: list[float] = field(default_factory=lambda: [0.0] * len(_BOUNDS))
    longest: float = 0.0

    def add(self, bucket: int, seconds: float, weight: int) -> None:
        self.counts[bucket] += weight
        self.sums[bucket] += weight * max(0.0, seconds)
        self.longest = max(self.longest, seconds)

    def rows(self) -> Iterator[tuple[int, int, float]]:
        """Bound, count and seconds of each bucket with something in it, the longest first."""
        yield LONGEST_MS, 0, self.longest
        for upto, observed, seconds in zip(BOUNDS_MS, self.counts, self.sums, strict=True):
            if observed:
                yield upto, observed, seconds


class LatencyBuffer:
    """Observations of a process that are not stored yet: of all tenants, and of each."""

    def __init__(self) -> None:
        self._cells: dict[HistogramKey, _Buckets] = {}
        self._of_tenants = 0

    def waited(self, leases: Sequence[Lease]) -> None:
        """Count how long jobs that were claimed had waited. Both instants are the database's."""
        some, weight = sample(leases)
        for lease in some:
            self._observe("wait", lease, (lease.started_at - lease.due_at).total_seconds(), weight)

    def ran(self, runs: Iterable[tuple[Lease | LeasedJob, float]], weight: int = 1) -> None:
        """Count for how many seconds attempts ran, each for `weight`."""
        for lease, seconds in runs:
            self._observe("run", lease, seconds, weight)

    def take(self) -> list[Observation]:
        """All there is to store, in a fixed order."""
        cells, self._cells = self._cells, {}
        self._of_tenants = 0
        return sorted(
            Observation(
                key.kind, key.queue, key.definition, upto, observed, seconds, tenant_id=key.tenant
            )
            for key, cell in cells.items()
            for upto, observed, seconds in cell.rows()
        )

    def put_back(self, observations: Iterable[Observation]) -> None:
        """Keep for the next time what could not be stored."""
        for kind, queue, definition, upto, observed, seconds, tenant in observations:
            cell = self._cell(HistogramKey(kind, queue, definition, tenant))
            if upto == LONGEST_MS:
                cell.longest = max(cell.longest, seconds)
                continue
            bucket = BOUNDS_MS.index(upto)
            cell.counts[bucket] += observed
            cell.sums[bucket] += seconds

    def _observe(
        self, kind: LatencyKind, job: Lease | LeasedJob, seconds: float, weight: int
    ) -> None:
        bucket = min(bisect_left(_BOUNDS, seconds), len(_BOUNDS) - 1)
        self._cell(HistogramKey(kind, job.queue, job.definition)).add(bucket, seconds, weight)
        own = HistogramKey(kind, job.queue, job.definition, job.tenant)
        if own in self._cells or self._of_tenants < MOST_OF_TENANTS:
            self._cell(own).add(bucket, seconds, weight)

    def _cell(self, key: HistogramKey) -> _Buckets:
        found = self._cells.get(key)
        if found is None:
            found = self._cells[key] = _Buckets()
            self._of_tenants += key.tenant != ""
        return found


def sample(batch: Sequence[BatchItem]) -> tuple[Sequence[BatchItem], int]:
    """Some of a batch, and for how many each of them stands: however large a batch is, looking at
    it costs the same."""
    weight = max(1, -(-len(batch) // _MOST_AT_ONCE))
    return batch[::weight], weight
