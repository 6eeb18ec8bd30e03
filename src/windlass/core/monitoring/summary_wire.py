"""Counts and rates -> JSON, in the manner of `wire.py`."""

from typing import Any

from windlass.core.jobs.states import JobState
from windlass.core.monitoring.summary import (
    COUNTED,
    CappedCount,
    JobSummary,
    StateCounts,
    Stats,
    StatsPoint,
    TenantStats,
)
from windlass.core.wire import instant, plain

#: Fields that are shown as a rate too.
_RATES = ("enqueued", "started", "succeeded", "failed", "completed", "canceled", "dead_letter")


def summary(summary: JobSummary) -> dict[str, Any]:
    """Counts of jobs: each state by its name, and `views` as people see them."""
    ended = (JobState.RUNNING, JobState.COMPLETED, JobState.CANCELED, JobState.DEAD_LETTER)
    views = {**{str(state): CappedCount(summary.states[state]) for state in ended}, **summary.views}
    return {
        **_states(summary.states),
        "views": {name: {"count": c.number, "exact": c.exact} for name, c in views.items()},
        "oldest_queued_seconds": plain(summary.oldest_age),
        "queues": [_tally(queue) for queue in summary.queues],
        "at": instant(summary.at),
    }


def stats(stats: Stats) -> dict[str, Any]:
    """Statistics of a window, for charts."""
    return {
        "window": stats.window,
        "since": instant(stats.since),
        "until": instant(stats.until),
        "slot_seconds": plain(stats.slot),
        "points": [_point(point) for point in stats.points],
        "total": _point(stats.total),
        "per_second": {name: stats.per_second(name) for name in _RATES},
        "failing": [each._asdict() for each in stats.failing],
    }


def tenant_stats(stats: TenantStats) -> dict[str, Any]:
    """A tenant's jobs by state, and their statistics in a window."""
    return {"tenant_id": stats.tenant, **_states(stats.states), "total": _point(stats.total)}


def _states(states: Any) -> dict[str, int]:
    return {str(state): states[state] for state in JobState}


def _tally(tally: StateCounts) -> dict[str, Any]:
    return {
        "name": tally.name,
        **_states(tally.states),
        "oldest_queued_seconds": plain(tally.oldest_age),
    }


def _point(point: StatsPoint) -> dict[str, Any]:
    return {
        "at": instant(point.at),
        **{name: getattr(point, name) for name in COUNTED},
        "mean_run_seconds": plain(point.mean_run),
        "mean_wait_seconds": plain(point.mean_wait),
    }
