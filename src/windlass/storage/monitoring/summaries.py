"""Verbs that count, from stored totals and minutes, and from a bounded look at waiting jobs."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from windlass.core.jobs.models import Scope
from windlass.storage.database import Database
from windlass.storage.sql import rows


class SummaryVerbs:
    _db: Database

    async def state_counts_by_queue(self, scope: Scope) -> list[Mapping[str, Any]]:
        """Jobs by queue, definition and state, from the totals."""
        return [
            dict(row) for row in await self._db.run("state_counts_by_queue", tenant_id=scope.tenant)
        ]

    async def queued_counts_by_view(self, scope: Scope, *, look: int) -> Mapping[str, int]:
        """Count the `scheduled` and `retrying` jobs among the first `look` queued ones, by due
        time, of each table; `live` and `later` are the numbers of jobs read."""
        [row] = await self._db.run("queued_counts_by_view", tenant_id=scope.tenant, look=look)
        return {name: int(row[name]) for name in ("live", "later", "scheduled", "retrying")}

    async def own_counts(self, scope: Scope, owner: str, *, look: int) -> Mapping[str, Any]:
        """Count the jobs that `owner` created by state and view, up to `look` of each kind; `live` and
        `later` are the numbers of open jobs read, `oldest_due_at` is None if none is in line."""
        [row] = await self._db.run("own_counts", tenant_id=scope.tenant, owner=owner, look=look)
        due_at = row["oldest_due_at"]
        return {**row, "oldest_due_at": None if due_at is None else rows.instant(due_at)}

    async def oldest_due_at(self, scope: Scope, *, look: int) -> Mapping[str, datetime]:
        """The earliest due time of the jobs in line, by queue, among the `look` oldest."""
        found = await self._db.run("oldest_due_at", tenant_id=scope.tenant, look=look)
        return {row["queue"]: rows.instant(row["due_at"]) for row in found}
