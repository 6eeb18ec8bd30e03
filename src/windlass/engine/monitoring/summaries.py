"""Counts and rates for dashboards and metrics; none of them scans the history."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from windlass.core.jobs.models import ALL_TENANTS, Scope
from windlass.core.jobs.states import ENDED, JobState, View
from windlass.core.monitoring.summary import (
    COUNTED,
    WINDOWS,
    CappedCount,
    JobSummary,
    StateCounts,
    Stats,
    StatsPoint,
    TenantStats,
    time_slots,
)
from windlass.errors import OptionInvalid
from windlass.ids import TenantId
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
        states = _states(rows)
        return JobSummary(
            at=now,
            states=states,
            views=_views(states, waiting, look),
            oldest_age=max(ages.values(), default=None),
            queues=[StateCounts(n, s, ages.get(n)) for n, s in _by("queue", rows).items()],
            definitions=[StateCounts(n, s) for n, s in _by("definition", rows).items()],
        )

    async def own_summary(
        self, owner: str, scope: Scope = ALL_TENANTS, *, look: int = LOOK
    ) -> JobSummary:
        """Count the jobs that one principal created, up to `look` of each kind; a count that reached
        it is not exact. Queues and definitions are left out."""
        now = await self._storage.now()
        found = await self._storage.monitoring.own_counts(scope, owner, look=look)
        states = _states([found])
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
        """Throughput in the last "5m", "1h", "24h" or "7d", for charts; of all jobs or some."""
        now = await self._storage.now()
        begins = _slots(window, now)
        _, slot = WINDOWS[window]
        which = {"definition": definition, "queue": queue}
        found = {
            _at(row["slot"], slot): StatsPoint(
                _at(row["slot"], slot), *[int(row[c]) for c in COUNTED]
            )
            for row in await self._storage.monitoring.throughput(
                scope, since=begins[0], slot=slot, **which
            )
        }
        return Stats(
            window=window,
            since=begins[0],
            until=now,
            slot=slot,
            points=[found.get(begin, StatsPoint(begin)) for begin in begins],
            failing=await self._storage.monitoring.most_failing(
                scope, since=begins[0], most=_MOST_FAILING, **which
            ),
        )

    async def tenants(
        self, window: str = "1h", *, scope: Scope = ALL_TENANTS
    ) -> Sequence[TenantStats]:
        """Count jobs of each tenant by state, and their throughput in a window; sorted by name."""
        begins = _slots(window, await self._storage.now())
        states = _by("tenant_id", await self._storage.jobs.state_counts(scope))
        totals = {
            row["tenant_id"]: StatsPoint(begins[0], *[int(row[c]) for c in COUNTED])
            for row in await self._storage.monitoring.throughput_by_tenant(scope, since=begins[0])
        }
        return [
            TenantStats(
                TenantId(name),
                states.get(name) or _states(()),
                totals.get(name, StatsPoint(begins[0])),
            )
            for name in sorted(states.keys() | totals.keys())
        ]


def _slots(window: str, now: datetime) -> Sequence[datetime]:
    if window not in WINDOWS:
        raise OptionInvalid("window", window, allowed=", ".join(WINDOWS))
    return time_slots(window, now)


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


def _by(column: str, rows: Iterable[Mapping[str, Any]]) -> dict[str, dict[JobState, int]]:
    groups: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for row in rows:
        groups[row[column]].append(row)
    return {name: _states(groups[name]) for name in sorted(groups)}


def _states(rows: Iterable[Mapping[str, Any]]) -> dict[JobState, int]:
    kept = list(rows)
    return {state: sum(int(row[state]) for row in kept) for state in JobState}


def _at(number: Any, slot: timedelta) -> datetime:
    return datetime(1970, 1, 1, tzinfo=UTC) + int(number) * slot
