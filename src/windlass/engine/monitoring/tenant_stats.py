"""Statistics by tenant: what each did in a window, its share of workers now, and over time."""

from collections.abc import Mapping, Sequence
from datetime import timedelta

from windlass.core.jobs.models import ALL_TENANTS, Scope
from windlass.core.jobs.states import JobState
from windlass.core.monitoring.latency import LatencyPair
from windlass.core.monitoring.noise import noisy_tenants
from windlass.core.monitoring.series import TenantShares, others, tenant_series
from windlass.core.monitoring.summary import TenantStats, group_by, total_of
from windlass.engine.monitoring.rollups import plan_window, read_window
from windlass.ids import TenantId
from windlass.storage.storage import Storage

#: Tenants with a series of their own; the others are one.
_MOST_SERIES = 8


class TenantStatsReader:
    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    async def page(
        self,
        window: str = "1h",
        *,
        scope: Scope = ALL_TENANTS,
        after: str | None = None,
        limit: int = 50,
    ) -> Sequence[TenantStats]:
        """Some tenants behind `after`, by id: their jobs by state, what happened in the window, and
        what they take of the workers now."""
        plan = await plan_window(self._storage, window)
        states = group_by("tenant_id", await self._storage.jobs.state_counts(scope))
        names = [TenantId(name) for name in states if after is None or name > after][:limit]
        totals = await self._storage.monitoring.throughput_by_tenant(plan, names, by_slot=False)
        latencies = await self._storage.monitoring.latency_by_tenant(plan, names)
        ages = await self._ages(scope)
        weights: Mapping[str, int] = {
            each.id: each.weight for each in await self._storage.access.tenants()
        }
        running = _running(states)
        everything = sum(running.values()) if scope.tenant is None else 0
        noisy = noisy_tenants(running, ages, weights)
        return [
            TenantStats(
                tenant=name,
                states=states[name],
                total=total_of(plan.since, totals.get(name, {}).values()),
                percentiles=latencies.get(name, LatencyPair()).percentiles,
                weight=weights.get(name, 1),
                oldest_age=ages.get(name),
                share=running[name] / everything if everything else None,
                noisy=None if scope.tenant else name in noisy,
            )
            for name in names
        ]

    async def series(self, window: str = "1h", *, scope: Scope = ALL_TENANTS) -> TenantShares:
        """Worker seconds over time of the tenants that took most, and of the others together."""
        read = await read_window(self._storage, window)
        verbs = self._storage.monitoring
        names = await verbs.busiest_tenants(scope, read.plan, most=_MOST_SERIES)
        found = await verbs.throughput_by_tenant(read.plan, names)
        whole = await verbs.throughput(scope, read.plan)
        states = group_by("tenant_id", await self._storage.jobs.state_counts(scope))
        running = _running(states)
        top = [
            tenant_series(read, name, found.get(name, {}), running.get(name, 0)) for name in names
        ]
        everybody = tenant_series(read, None, whole, sum(running.values()))
        return TenantShares(read, top, others(everybody, top))

    async def _ages(self, scope: Scope) -> Mapping[str, timedelta]:
        found = await self._storage.monitoring.oldest_due_age_by_tenant(scope)
        return {tenant: timedelta(seconds=seconds) for tenant, seconds in found.items()}


def _running(states: Mapping[str, Mapping[JobState, int]]) -> Mapping[str, int]:
    return {name: max(0, each[JobState.RUNNING]) for name, each in states.items()}
