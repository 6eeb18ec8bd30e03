"""Series for charts: depth and rates of queues, use of workers, worker seconds of tenants."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

from windlass.core.leases.limits import Queue
from windlass.core.monitoring.slots import SlotPlan, StoredSlot
from windlass.core.monitoring.summary import StatsPoint, WorkerUse, total_of
from windlass.ids import TenantId


@dataclass(frozen=True, slots=True)
class Window:
    """A named window of time and its slots; the last one has only begun."""

    name: str
    plan: SlotPlan
    begins: Sequence[datetime]

    @property
    def slots(self) -> Sequence[StoredSlot]:
        """The slots, with their length."""
        span = int(self.plan.slot.total_seconds())
        return [StoredSlot(span, at) for at in self.begins]

    def seconds(self, at: datetime) -> float:
        """The length of a slot so far."""
        return min(self.plan.slot, self.plan.until - at).total_seconds()


class QueuePoint(NamedTuple):
    """A queue in one slot: the jobs that waited at its end, and the rates in it."""

    at: datetime
    depth: int
    in_per_second: float
    out_per_second: float


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueSeries:
    """A queue now and over time. `workers` are the live ones that serve it and claim, None where they
    cannot be seen. The rates are of the whole window: jobs enqueued, and jobs that came to their end.
    """

    queue: Queue
    pending: int
    queued: int
    running: int
    oldest_age: timedelta | None
    workers: int | None
    in_per_second: float
    out_per_second: float
    points: Sequence[QueuePoint]


class WorkerPoint(NamedTuple):
    """Live workers in one slot: the means of what was noted; None without a note."""

    at: datetime
    workers: float | None
    slots: float | None
    slots_used: float | None


class SharePoint(NamedTuple):
    """A tenant in one slot: for how long its attempts ran that ended in it, and the jobs that ran at
    its end."""

    at: datetime
    worker_seconds: float
    running: int


@dataclass(frozen=True, slots=True)
class TenantSeries:
    """What a tenant took of the workers over time; None for several tenants together."""

    tenant: TenantId | None
    points: Sequence[SharePoint]

    @property
    def worker_seconds(self) -> float:
        return sum(point.worker_seconds for point in self.points)


@dataclass(frozen=True, slots=True)
class TenantShares:
    """The tenants that took most of the workers in a window, and the rest together."""

    window: Window
    tenants: Sequence[TenantSeries]
    rest: TenantSeries


def levels(changes: Sequence[int], now: int) -> Sequence[int]:
    """How many there were at the end of each slot, from the changes in each and how many there are
    now."""
    found: list[int] = []
    for change in reversed(changes):
        found.append(max(0, now))
        now -= change
    return found[::-1]


def queue_points(
    window: Window, found: Mapping[datetime, StatsPoint], waiting: int
) -> Sequence[QueuePoint]:
    """The slots of a queue in which so many jobs wait now."""
    points = [found.get(at, StatsPoint(at)) for at in window.begins]
    depths = levels([point.waiting_change for point in points], waiting)
    return [
        QueuePoint(
            point.at,
            depth,
            *_rates(point, window.seconds(point.at)),
        )
        for point, depth in zip(points, depths, strict=True)
    ]


def queue_rates(window: Window, found: Mapping[datetime, StatsPoint]) -> tuple[float, float]:
    """Jobs in and out per second in the whole window."""
    total = total_of(window.plan.since, found.values())
    return _rates(total, (window.plan.until - window.plan.since).total_seconds())


def worker_points(window: Window, found: Iterable[WorkerUse]) -> Sequence[WorkerPoint]:
    """The slots of a window, those without a note included."""
    by_slot = {use.at: WorkerPoint(*use) for use in found}
    return [by_slot.get(at, WorkerPoint(at, None, None, None)) for at in window.begins]


def tenant_series(
    window: Window, tenant: TenantId | None, found: Mapping[datetime, StatsPoint], running: int
) -> TenantSeries:
    """The slots of a tenant of which so many jobs run now."""
    points = [found.get(at, StatsPoint(at)) for at in window.begins]
    counts = levels([point.running_change for point in points], running)
    return TenantSeries(
        tenant,
        [
            SharePoint(point.at, point.run_ms / 1000, count)
            for point, count in zip(points, counts, strict=True)
        ],
    )


def others(everybody: TenantSeries, top: Sequence[TenantSeries]) -> TenantSeries:
    """What is left of all tenants without some of them."""
    points = []
    for place, whole in enumerate(everybody.points):
        own = [each.points[place] for each in top]
        points.append(
            SharePoint(
                whole.at,
                max(0.0, round(whole.worker_seconds - sum(p.worker_seconds for p in own), 3)),
                max(0, whole.running - sum(p.running for p in own)),
            )
        )
    return TenantSeries(None, points)


def _rates(point: StatsPoint, seconds: float) -> tuple[float, float]:
    # A slot that begins this moment has no length yet.
    length = max(seconds, 1.0)
    return point.enqueued / length, point.ended / length
