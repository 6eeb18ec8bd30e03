"""Verbs behind the metrics. None scans jobs; the cost of each is bounded."""

from collections.abc import Mapping, Sequence
from typing import Any

from windlass.core.jobs.models import ALL_TENANTS, Scope
from windlass.core.monitoring.latency import Histogram, HistogramKey, Observation
from windlass.storage.connection.deadlock_retry import retry_deadlocks
from windlass.storage.database import Database, Lane
from windlass.storage.sql.statements import Batch, Rows


class MetricVerbs:
    _db: Database

    async def state_counts_by_dimension(self, *, most: int) -> Sequence[Mapping[str, Any]]:
        """Jobs in each state, by `kind` (tenant, queue, definition) and `name`. Each kind names the
        `most` with the most open jobs; the others are summed under the name None."""
        return await self._db.run("state_counts_by_dimension", most=most)

    async def lifetime_counts(self) -> Sequence[Mapping[str, Any]]:
        """Counters since the installation, by queue and definition. They never fall."""
        return await self._db.run("lifetime_counts")

    async def oldest_due_age(
        self, scope: Scope = ALL_TENANTS, *, most: int = 500
    ) -> Mapping[str, float]:
        """Seconds since the longest waiting job of each queue became due.

        In a queue with more than `most` lines, the unread lines may hold an older job.
        """
        return await self._oldest("queue", scope, most)

    async def oldest_due_age_by_tenant(
        self, scope: Scope = ALL_TENANTS, *, most: int = 2000
    ) -> Mapping[str, float]:
        """The same by tenant."""
        return await self._oldest("tenant_id", scope, most)

    async def count_late_schedules(self, *, seconds: float, most: int = 1000) -> int:
        """Count the schedules that are overdue by `seconds`, up to `most`."""
        found = await self._db.run("count_late_schedules", seconds=seconds, most=most)
        return int(found[0]["late"])

    @retry_deadlocks
    async def record_latency(self, observations: Sequence[Observation]) -> None:
        """Add observations to the histograms of this minute, and those of all tenants to all time."""
        if observations:
            batch = Batch.of_rows(Observation._fields, observations)
            await self._db.run("record_latency", lane=Lane.RENEW, observations=batch)

    async def latency_histograms(self) -> dict[HistogramKey, Histogram]:
        """Histograms of wait and run times of all time."""
        return _histograms(await self._db.run("latency_histograms"))

    async def prune_minute_counts(self, *, days: float, most: int = 5000) -> int:
        """Delete some counts of minutes more than `days` ago; totals stay."""
        return int((await self._db.run("prune_minute_counts", days=days, most=most))[0]["pruned"])

    async def _oldest(self, column: str, scope: Scope, most: int) -> Mapping[str, float]:
        ages: dict[str, float] = {}
        for row in await self._db.run("oldest_due_age", most=most):
            if scope.tenant in (None, row["tenant_id"]):
                name = row[column]
                ages[name] = max(0.0, float(row["age"]), ages.get(name, 0.0))
        return ages


def _histograms(found: Rows) -> dict[HistogramKey, Histogram]:
    histograms: dict[HistogramKey, Histogram] = {}
    for row in found:
        place = HistogramKey(row["kind"], row["queue"], row["definition"])
        histograms.setdefault(place, Histogram()).add(
            int(row["upto_ms"]), int(row["observed"]), float(row["seconds"])
        )
    return histograms
