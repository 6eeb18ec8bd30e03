"""Series for charts -> JSON, in the manner of `wire.py`."""

from collections.abc import Sequence
from typing import Any

from windlass.core.monitoring.series import (
    QueueSeries,
    TenantSeries,
    TenantShares,
    Window,
    WorkerPoint,
)
from windlass.core.wire import instant, plain


def queue_series(series: QueueSeries) -> dict[str, Any]:
    """A queue now, and its depth and rates over time."""
    return {
        "name": series.queue.name,
        "pending": series.pending,
        "queued": series.queued,
        "running": series.running,
        "depth": series.pending + series.queued,
        "oldest_queued_seconds": plain(series.oldest_age),
        "max_concurrency": series.queue.max_concurrency,
        "paused": series.queue.paused_at is not None,
        "workers": series.workers,
        "in_per_second": series.in_per_second,
        "out_per_second": series.out_per_second,
        "points": [{**point._asdict(), "at": instant(point.at)} for point in series.points],
    }


def worker_use(window: Window, points: Sequence[WorkerPoint]) -> dict[str, Any]:
    """Slots of workers over time."""
    return {
        **_window(window),
        "points": [{**point._asdict(), "at": instant(point.at)} for point in points],
    }


def tenant_shares(shares: TenantShares) -> dict[str, Any]:
    """Worker seconds of tenants over time."""
    return {
        **_window(shares.window),
        "tenants": [{"tenant_id": each.tenant, **_tenant_points(each)} for each in shares.tenants],
        "rest": _tenant_points(shares.rest),
    }


def _window(window: Window) -> dict[str, Any]:
    return {
        "window": window.name,
        "since": instant(window.plan.since),
        "until": instant(window.plan.until),
        "slot_seconds": plain(window.plan.slot),
    }


def _tenant_points(series: TenantSeries) -> dict[str, Any]:
    return {
        "worker_seconds": round(series.worker_seconds, 3),
        "points": [{**point._asdict(), "at": instant(point.at)} for point in series.points],
    }
