"""Verbs that read what happened over time, from counts by the minute and the slots made of them."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from windlass.core.jobs.models import Scope
from windlass.core.monitoring.latency import LatencyPair
from windlass.core.monitoring.slots import SlotPlan, StoredSlot
from windlass.core.monitoring.summary import COUNTED, StatsPoint, WorkerUse
from windlass.ids import TenantId
from windlass.storage.database import Database
from windlass.storage.sql import rows
from windlass.storage.sql.statements import Batch, Rows


class SeriesVerbs:
    _db: Database

    async def throughput(
        self,
        scope: Scope,
        plan: SlotPlan,
        *,
        definition: str | None = None,
        queue: str | None = None,
    ) -> Mapping[datetime, StatsPoint]:
        """Throughput by slot; empty slots are left out."""
        found = await self._db.run(
            "throughput",
            tenant_id=scope.tenant,
            definition=definition,
            queue=queue,
            **_counts_of(plan),
        )
        return _by_slot(found, plan)

    async def throughput_by_definition(
        self,
        scope: Scope,
        plan: SlotPlan,
        *,
        definition: str | None = None,
        queue: str | None = None,
    ) -> Mapping[str, StatsPoint]:
        """Throughput of the whole time by definition; idle ones are left out."""
        found = await self._db.run(
            "throughput_by_definition",
            tenant_id=scope.tenant,
            definition=definition,
            queue=queue,
            **_counts_of(plan),
        )
        return {row["definition"]: _point(plan.since, row) for row in found}

    async def throughput_by_queue(
        self, scope: Scope, plan: SlotPlan, queues: Sequence[str]
    ) -> Mapping[str, Mapping[datetime, StatsPoint]]:
        """Throughput of some queues by slot; idle queues and slots are left out."""
        found = await self._db.run(
            "throughput_by_queue",
            tenant_id=scope.tenant,
            names=Batch(name=queues),
            **_counts_of(plan),
        )
        return {name: _by_slot(own, plan) for name, own in _grouped(found, "queue").items()}

    async def throughput_by_tenant(
        self, plan: SlotPlan, tenants: Sequence[TenantId], *, by_slot: bool = True
    ) -> Mapping[str, Mapping[datetime, StatsPoint]]:
        """Throughput of some tenants by slot, or of the whole time as one; idle tenants and slots are
        left out."""
        found = await self._db.run(
            "throughput_by_tenant",
            names=Batch(name=tenants),
            by_slot=by_slot,
            **_counts_of(plan),
        )
        timed = [
            {**row, "at": plan.since if row["begun"] is None else row["begun"]} for row in found
        ]
        return {name: _by_slot(own, plan) for name, own in _grouped(timed, "tenant_id").items()}

    async def busiest_tenants(
        self, scope: Scope, plan: SlotPlan, *, most: int
    ) -> Sequence[TenantId]:
        """The tenants whose attempts took the most time, the busiest first."""
        found = await self._db.run(
            "busiest_tenants", tenant_id=scope.tenant, most=most, **_counts_of(plan)
        )
        return [TenantId(row["tenant_id"]) for row in found]

    async def latency_by_slot(
        self,
        scope: Scope,
        plan: SlotPlan,
        *,
        definition: str | None = None,
        queue: str | None = None,
    ) -> Mapping[datetime, LatencyPair]:
        """Histograms of waits and runs by slot; the last seconds may be missing."""
        found = await self._db.run(
            "latency_by_slot",
            tenant_id=scope.tenant,
            definition=definition,
            queue=queue,
            spans=_batch(plan.all_slots),
        )
        pairs: defaultdict[datetime, LatencyPair] = defaultdict(LatencyPair)
        for row in found:
            _observe(pairs[plan.begin(rows.instant(row["at"]))], row)
        return pairs

    async def latency_by_definition(
        self, scope: Scope, plan: SlotPlan, definitions: Sequence[str]
    ) -> Mapping[str, LatencyPair]:
        """Histograms of waits and runs of the whole time, of some definitions."""
        found = await self._db.run(
            "latency_by_definition",
            tenant_id=scope.tenant,
            names=Batch(name=definitions),
            spans=_batch(plan.all_slots),
        )
        return _by_name(found)

    async def latency_by_tenant(
        self, plan: SlotPlan, tenants: Sequence[TenantId]
    ) -> Mapping[str, LatencyPair]:
        """Histograms of waits and runs of the whole time, of some tenants."""
        found = await self._db.run(
            "latency_by_tenant", names=Batch(name=tenants), spans=_batch(plan.all_slots)
        )
        return _by_name(found)

    async def worker_use(self, slots: Sequence[StoredSlot]) -> Sequence[WorkerUse]:
        """The mean slots of live workers in each of some slots; those without a note are left out."""
        return [
            WorkerUse(
                rows.instant(row["at"]),
                float(row["workers"]),
                float(row["slots"]),
                float(row["slots_used"]),
            )
            for row in await self._db.run("worker_use", spans=_batch(slots))
        ]


def _counts_of(plan: SlotPlan) -> dict[str, Any]:
    return {
        "spans": _batch(plan.made),
        "minutes_since": plan.minutes_since,
        "since": plan.since,
    }


def _batch(slots: Sequence[StoredSlot]) -> Batch:
    return Batch.of_rows(StoredSlot._fields, slots)


def _by_slot(found: Rows, plan: SlotPlan) -> dict[datetime, StatsPoint]:
    points: dict[datetime, StatsPoint] = {}
    for row in found:
        begin = plan.begin(rows.instant(row["at"]))
        points[begin] = points.get(begin, StatsPoint(begin)).plus(_point(begin, row))
    return points


def _point(at: datetime, row: Mapping[str, Any]) -> StatsPoint:
    return StatsPoint(at, *[int(row[name]) for name in COUNTED])


def _grouped(found: Rows, column: str) -> dict[str, list[Mapping[str, Any]]]:
    groups: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for row in found:
        groups[row[column]].append(row)
    return groups


def _by_name(found: Rows) -> Mapping[str, LatencyPair]:
    pairs: defaultdict[str, LatencyPair] = defaultdict(LatencyPair)
    for row in found:
        _observe(pairs[row["name"]], row)
    return dict(pairs)


def _observe(pair: LatencyPair, row: Mapping[str, Any]) -> None:
    pair.add(row["kind"], int(row["upto_ms"]), int(row["observed"]), float(row["seconds"]))
