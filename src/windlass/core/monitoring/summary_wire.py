"""Counts and rates -> JSON, in the manner of `wire.py`."""

from typing import Any

from windlass.core.jobs.states import JobState
from windlass.core.monitoring.latency import Percentiles
from windlass.core.monitoring.suggestions import Suggestion
from windlass.core.monitoring.summary import (
    CappedCount,
    DefinitionStats,
    JobSummary,
    StateCounts,
    Stats,
    StatsPoint,
    TenantStats,
)
from windlass.core.wire import instant, plain

#: Fields that are shown as a rate too.
_RATES = ("enqueued", "started", "succeeded", "failed", "completed", "canceled", "dead_letter")
#: Fields of a point.
_POINT = (*_RATES, "run_ms", "wait_ms")


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


def suggestion(suggestion: Suggestion) -> dict[str, Any]:
    """A suggestion for a filter; `count` is null where jobs are not counted."""
    count = suggestion.count
    return {
        "insert": suggestion.insert,
        "label": suggestion.label,
        "kind": suggestion.kind,
        "means": suggestion.means,
        "count": None if count is None else count.number,
        "exact": count is None or count.exact,
    }


def stats(stats: Stats) -> dict[str, Any]:
    """Statistics of a window, for charts."""
    return {
        "window": stats.window,
        "since": instant(stats.since),
        "until": instant(stats.until),
        "slot_seconds": plain(stats.slot),
        "points": [
            _point(point, stats.percentiles.get(point.at, Percentiles())) for point in stats.points
        ],
        "total": _point(stats.total, stats.overall),
        "per_second": {name: stats.per_second(name) for name in _RATES},
        "failing": [each._asdict() for each in stats.failing],
        "p95_wait_seconds": stats.overall.p95_wait_seconds,
        "p95_run_seconds": stats.overall.p95_run_seconds,
    }


def tenant_stats(stats: TenantStats) -> dict[str, Any]:
    """A tenant's jobs by state, its statistics in a window, and its share of what runs now."""
    return {
        "tenant_id": stats.tenant,
        **_states(stats.states),
        "oldest_queued_seconds": plain(stats.oldest_age),
        "worker_seconds": stats.total.run_ms / 1000,
        "weight": stats.weight,
        "share": stats.share,
        "noisy": stats.noisy,
        "total": _point(stats.total, stats.percentiles),
    }


def definition_stats(stats: DefinitionStats) -> dict[str, Any]:
    """Statistics of a definition in a window."""
    total = _point(stats.total, stats.percentiles)
    del total["at"]
    return {
        "definition": stats.definition,
        **total,
        "success_rate": stats.total.success_rate,
    }


def _states(states: Any) -> dict[str, int]:
    return {str(state): states[state] for state in JobState}


def _tally(tally: StateCounts) -> dict[str, Any]:
    return {
        "name": tally.name,
        **_states(tally.states),
        "oldest_queued_seconds": plain(tally.oldest_age),
    }


def _point(point: StatsPoint, percentiles: Percentiles) -> dict[str, Any]:
    return {
        "at": instant(point.at),
        **{name: getattr(point, name) for name in _POINT},
        "mean_run_seconds": plain(point.mean_run),
        "mean_wait_seconds": plain(point.mean_wait),
        **percentiles._asdict(),
    }
