"""Counts and rates for dashboards and metrics; none of them scans the history."""

from collections.abc import Collection, Mapping, Sequence
from datetime import timedelta
from typing import Any

from windlass.core.jobs.models import ALL_TENANTS, Scope
from windlass.core.jobs.states import ENDED, JobState, View
from windlass.core.monitoring.latency import LatencyPair
from windlass.core.monitoring.summary import (
    CappedCount,
    DefinitionStats,
    FailingDefinition,
    JobSummary,
    StateCounts,
    Stats,
    StatsPoint,
    group_by,
    sum_states,
    time_slots,
)
from windlass.engine.monitoring.rollups import plan_window
from windlass.ids import DefinitionKey
from windlass.storage.storage import Storage

LOOK = 10_000
_MOST_FAILING = 10


class Summaries:
    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    async def summary(self, scope: Scope = ALL_TENANTS, *, look: int = LOOK) -> JobSummary:
        """Count jobs by state and view, queue and definition.

        `look` bounds the number of waiting jobs that are read to tell their views apart.
        """
        now = await self._storage.now()
        rows = await self._storage.monitoring.state_counts_by_queue(scope)
        waiting = await self._storage.monitoring.queued_counts_by_view(scope, look=look)
        ages = {
            queue: max(now - due_at, timedelta())
            for queue, due_at in (
                await self._storage.monitoring.oldest_due_at(scope, look=look)
            ).items()
        }
        states = sum_states(rows)
        return JobSummary(
            at=now,
            states=states,
            views=_views(states, waiting, look),
            oldest_age=max(ages.values(), default=None),
            queues=[StateCounts(n, s, ages.get(n)) for n, s in group_by("queue", rows).items()],
            definitions=[StateCounts(n, s) for n, s in group_by("definition", rows).items()],
        )

    async def own_summary(
        self, owner: str, scope: Scope = ALL_TENANTS, *, look: int = LOOK
    ) -> JobSummary:
        """Count the jobs that one principal created, up to `look` of each kind; a count that reached
        it is not exact. Queues and definitions are left out."""
        now = await self._storage.now()
        found = await self._storage.monitoring.own_counts(scope, owner, look=look)
        states = sum_states([found])
        views = _views(states, found, look)
        all_live, all_later = int(found["live"]) < look, int(found["later"]) < look
        views[View.WAITING.value] = CappedCount(states[JobState.PENDING], all_later)
        views[JobState.RUNNING.value] = CappedCount(states[JobState.RUNNING], all_live)
        for state in ENDED:
            views[state.value] = CappedCount(states[state], states[state] < look)
        due_at = found["oldest_due_at"]
        return JobSummary(
            at=now,
            states=states,
            views=views,
            oldest_age=None if due_at is None else max(now - due_at, timedelta()),
            queues=[],
            definitions=[],
        )

    async def stats(
        self,
        window: str = "1h",
        *,
        definition: str | None = None,
        queue: str | None = None,
        scope: Scope = ALL_TENANTS,
    ) -> Stats:
        """Throughput and latency in the last "5m", "1h", "24h" or "7d", for charts; of all jobs or
        some."""
        plan = await plan_window(self._storage, window)
        which = {"definition": definition, "queue": queue}
        verbs = self._storage.monitoring
        found = await verbs.throughput(scope, plan, **which)
        by_definition = await verbs.throughput_by_definition(scope, plan, **which)
        latencies = await verbs.latency_by_slot(scope, plan, **which)
        overall = LatencyPair()
        for pair in latencies.values():
            overall.add_all(pair)
        return Stats(
            window=window,
            since=plan.since,
            until=plan.until,
            slot=plan.slot,
            points=[found.get(at, StatsPoint(at)) for at in time_slots(window, plan.until)],
            failing=most_failing(by_definition),
            percentiles={at: pair.percentiles for at, pair in latencies.items()},
            overall=overall.percentiles,
        )

    async def definitions(
        self,
        window: str = "1h",
        *,
        scope: Scope = ALL_TENANTS,
        only: Collection[str] | None = None,
        after: str | None = None,
        limit: int = 50,
    ) -> Sequence[DefinitionStats]:
        """Throughput and latency of definitions, by key; idle ones are left out. `only` names some,
        the rest is a page that begins behind `after`."""
        plan = await plan_window(self._storage, window)
        totals = await self._storage.monitoring.throughput_by_definition(scope, plan)
        keys = sorted(
            key
            for key in totals
            if (only is None or key in only) and (after is None or key > after)
        )[:limit]
        latencies = await self._storage.monitoring.latency_by_definition(scope, plan, keys)
        return [
            DefinitionStats(
                DefinitionKey(key), totals[key], latencies.get(key, LatencyPair()).percentiles
            )
            for key in keys
        ]


def most_failing(totals: Mapping[str, StatsPoint]) -> Sequence[FailingDefinition]:
    """The definitions with the most failed attempts, the worst first."""
    failed = sorted(key for key in totals if totals[key].failed)
    worst = sorted(failed, key=lambda key: -totals[key].failed)[:_MOST_FAILING]
    return [
        FailingDefinition(
            DefinitionKey(key), totals[key].failed, totals[key].dead_letter, totals[key].succeeded
        )
        for key in worst
    ]


def _views(
    states: Mapping[JobState, int], waiting: Mapping[str, Any], look: int
) -> dict[str, CappedCount]:
    all_later, all_live = int(waiting["later"]) < look, int(waiting["live"]) < look
    scheduled = CappedCount(int(waiting["scheduled"]), all_later)
    retrying = CappedCount(int(waiting["retrying"]), all_later and all_live)
    # The rest is ready; if the look did not cover all jobs, this may be too many.
    left = max(0, states[JobState.QUEUED] - scheduled.number - retrying.number)
    return {
        JobState.QUEUED.value: CappedCount(left, scheduled.exact and retrying.exact),
        View.SCHEDULED.value: scheduled,
        View.RETRYING.value: retrying,
        View.WAITING.value: CappedCount(states[JobState.PENDING]),
    }
