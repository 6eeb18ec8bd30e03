"""Activity of definitions, from counts, roll-ups and the newest jobs; history is not scanned."""

from collections import Counter
from collections.abc import Mapping, Sequence

from windlass.core.definitions.activity import (
    ACTIVITY_WINDOW,
    DefinitionActivity,
    DefinitionTimes,
)
from windlass.core.definitions.definition import Definition
from windlass.core.jobs.models import ALL_TENANTS, Scope
from windlass.core.monitoring.slots import plan_slots
from windlass.core.monitoring.summary import total_of
from windlass.engine.definitions.definitions import Definitions
from windlass.engine.leases.workers import liveness
from windlass.engine.monitoring.latency import Latency
from windlass.storage.storage import Storage


class DefinitionActivityReader:
    def __init__(self, storage: Storage, definitions: Definitions, latency: Latency) -> None:
        self._storage = storage
        self._definitions = definitions
        self._latency = latency

    async def times(
        self, definitions: Sequence[Definition], scope: Scope = ALL_TENANTS
    ) -> Mapping[str, DefinitionTimes]:
        """By key: the trigger type of these definitions, running jobs, and the next due time."""
        if not definitions:
            return {}
        running: Counter[str] = Counter()
        for row in await self._storage.monitoring.state_counts_by_queue(scope):
            running[row["definition"]] += int(row["running"])
        triggers = await self._storage.definitions.definition_triggers(
            scope, [each.key for each in definitions]
        )
        return {
            each.key: DefinitionTimes(
                strategy=strategy or "on_demand",
                running=max(0, running[each.key]),
                next_run_at=due_at if each.enabled and not each.missing_from_code else None,
            )
            for each in definitions
            for strategy, due_at in [triggers.get(each.key, (None, None))]
        }

    async def activity(self, key: str, *, scope: Scope = ALL_TENANTS) -> DefinitionActivity:
        """Activity of one definition: running jobs, last and next run, success rate, latency, and
        the workers that can run it."""
        definition = await self._definitions.get(key)
        times = (await self.times([definition], scope))[definition.key]
        now = await self._storage.now()
        marks = await self._storage.monitoring.rollup_marks()
        plan = plan_slots(now - ACTIVITY_WINDOW, now, ACTIVITY_WINDOW, marks)
        rates = await self._storage.monitoring.throughput(scope, plan, definition=definition.key)
        latencies = await self._latency.histograms(
            ACTIVITY_WINDOW, scope=scope, definition=definition.key
        )
        workers = errors = None
        if scope.tenant is None:
            live = [row for row in await self._storage.leases.workers() if liveness(row) != "lost"]
            workers = [row.id for row in live if definition.key in row.definitions]
            import_errors = {row.id: row.metadata.get("import_errors", {}) for row in live}
            errors = {str(id): str(each[key]) for id, each in import_errors.items() if key in each}
        return DefinitionActivity(
            strategy=times.strategy,
            running=times.running,
            next_run_at=times.next_run_at,
            last_run_at=await self._storage.definitions.last_attempt_started_at(
                scope, definition.key
            ),
            success_rate=total_of(now, rates.values()).success_rate,
            p95_seconds=latencies.percentiles.p95_run_seconds,
            workers=workers,
            import_errors=errors,
        )
