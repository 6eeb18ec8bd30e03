"""Counts by state and view, and statistics by time slot."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from types import MappingProxyType
from typing import Any, NamedTuple

from windlass.core.jobs.states import JobState
from windlass.core.monitoring.latency import Percentiles
from windlass.ids import DefinitionKey, TenantId

#: Window -> its length, and the length of its slots.
WINDOWS: Mapping[str, tuple[timedelta, timedelta]] = MappingProxyType(
    {
        "5m": (timedelta(minutes=5), timedelta(minutes=1)),
        "1h": (timedelta(hours=1), timedelta(minutes=1)),
        "24h": (timedelta(hours=24), timedelta(minutes=15)),
        "7d": (timedelta(days=7), timedelta(hours=2)),
    }
)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class CappedCount(NamedTuple):
    """A count; if it is not exact, there are at least so many."""

    number: int
    exact: bool = True

    def __str__(self) -> str:
        return f"{self.number:,}{'' if self.exact else '+'}"


@dataclass(frozen=True, slots=True)
class StateCounts:
    """The jobs of a queue or a definition by their stored state. `oldest_age` is how long the oldest
    of those in line waits, where that was looked at."""

    name: str
    states: Mapping[JobState, int]
    oldest_age: timedelta | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class JobSummary:
    """Counts of jobs by state and view, `at` an instant.

    `states` are the stored ones. `views` divide the waiting ones: `queued` are those in line, which
    are neither `scheduled` for later nor `retrying`; `waiting` are pending. Of very many only so many are
    looked at, and the count is not exact. `oldest_age` is how long the oldest job in line waits since it
    was due.
    """

    at: datetime
    states: Mapping[JobState, int]
    views: Mapping[str, CappedCount]
    oldest_age: timedelta | None
    queues: Sequence[StateCounts]
    definitions: Sequence[StateCounts]

    @property
    def running(self) -> int:
        return self.states[JobState.RUNNING]


class StatsPoint(NamedTuple):
    """Statistics of one slot of time, which begins `at`. Times are sums over what ended or began."""

    at: datetime
    enqueued: int = 0
    started: int = 0
    succeeded: int = 0
    failed: int = 0
    completed: int = 0
    canceled: int = 0
    dead_letter: int = 0
    run_ms: int = 0
    wait_ms: int = 0
    #: By how many the jobs that wait, and those that run, became more or fewer.
    waiting_change: int = 0
    running_change: int = 0

    def plus(self, other: "StatsPoint") -> "StatsPoint":
        """Both slots as one that begins with this one."""
        return StatsPoint(
            self.at, *(mine + more for mine, more in zip(self[1:], other[1:], strict=True))
        )

    @property
    def ended(self) -> int:
        """Jobs that came to their end."""
        return self.completed + self.canceled + self.dead_letter

    @property
    def success_rate(self) -> float | None:
        """Share of the attempts that ended which succeeded."""
        attempts = self.succeeded + self.failed
        return self.succeeded / attempts if attempts else None

    @property
    def mean_run(self) -> timedelta | None:
        """Mean run time of attempts that ended."""
        ended = self.succeeded + self.failed
        return timedelta(milliseconds=self.run_ms / ended) if ended else None

    @property
    def mean_wait(self) -> timedelta | None:
        """Mean wait of attempts that began, since they were due."""
        return timedelta(milliseconds=self.wait_ms / self.started) if self.started else None


#: The columns of a point.
COUNTED = StatsPoint._fields[1:]


class FailingDefinition(NamedTuple):
    """A definition with failed attempts, and how many of its jobs were dead-lettered."""

    definition: DefinitionKey
    failed: int
    dead_letter: int
    succeeded: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Stats:
    """Statistics of a window of time: slot by slot, in sum, and the definitions that failed most.

    The last slot has only begun.
    """

    window: str
    since: datetime
    until: datetime
    slot: timedelta
    points: Sequence[StatsPoint]
    failing: Sequence[FailingDefinition]
    #: Percentiles of each slot with observations, and of the whole window.
    percentiles: Mapping[datetime, Percentiles] = field(default_factory=dict)
    overall: Percentiles = field(default_factory=Percentiles)

    @property
    def total(self) -> StatsPoint:
        """All slots as one."""
        return total_of(self.since, self.points)

    def per_second(self, what: str) -> float:
        """The rate of something that is counted, such as "completed"."""
        return float(getattr(self.total, what)) / (self.until - self.since).total_seconds()


@dataclass(frozen=True, slots=True, kw_only=True)
class TenantStats:
    """A tenant's jobs by their stored state, and what happened to them in a window of time.

    `share` is its part of the jobs that run now, and `noisy` says that it takes more than its fair one
    while others wait; both are None where only one tenant can be seen.
    """

    tenant: TenantId
    states: Mapping[JobState, int]
    total: StatsPoint
    percentiles: Percentiles
    weight: int
    oldest_age: timedelta | None
    share: float | None
    noisy: bool | None


@dataclass(frozen=True, slots=True)
class DefinitionStats:
    """What happened to the jobs of a definition in a window of time."""

    definition: DefinitionKey
    total: StatsPoint
    percentiles: Percentiles


class WorkerUse(NamedTuple):
    """Slots of the live workers in a slot of time: means of what was noted each minute."""

    at: datetime
    workers: float
    slots: float
    slots_used: float


def total_of(since: datetime, points: Iterable[StatsPoint]) -> StatsPoint:
    """Slots as one that begins `since`."""
    total = StatsPoint(since)
    for point in points:
        total = total.plus(point)
    return total


def group_by(
    column: str, rows: Iterable[Mapping[str, Any]]
) -> Mapping[str, Mapping[JobState, int]]:
    """Counts by state, summed by the name in a column and in the order of names."""
    groups: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for row in rows:
        groups[row[column]].append(row)
    return {name: sum_states(groups[name]) for name in sorted(groups)}


def sum_states(rows: Sequence[Mapping[str, Any]]) -> Mapping[JobState, int]:
    """Counts by state of several rows together."""
    return {state: sum(int(row[state]) for row in rows) for state in JobState}


def time_slots(window: str, now: datetime) -> Sequence[datetime]:
    """When the slots of a window begin that ends now; they are at the same times for everybody."""
    length, slot = WINDOWS[window]
    last = _EPOCH + (now - _EPOCH) // slot * slot
    first = last - length + slot
    return [first + n * slot for n in range(length // slot)]
