"""Retention: prunes ended jobs, their logs, events and counts."""

from datetime import timedelta
from uuid import UUID

from windlass.core.definitions.definition import FOREVER, Definition
from windlass.core.monitoring.slots import MINUTE_SECONDS
from windlass.ids import EventId, JobId, uuid7
from windlass.settings import Settings
from windlass.storage.storage import Storage

#: Days a dead-lettered job is kept where retention is zero days.
_DEAD_DAYS = 30.0
#: Days that slots of each length in seconds are kept: what charts show, and a day more.
_SLOT_DAYS = {MINUTE_SECONDS: 2.0, 900: 2.0, 7200: 8.0}
#: Days the counts by the minute are kept at least.
_MINUTE_DAYS = 8.0


class Retention:
    """Prunes in capped steps, so that it never disturbs workers for long. Each verb takes one step
    and returns the number of rows deleted; zero means done."""

    def __init__(self, storage: Storage, settings: Settings) -> None:
        self._storage = storage
        self._settings = settings

    async def prune_jobs(self, definition: Definition) -> int:
        """Prune ended jobs of a definition: those past its days, and those beyond its count."""
        return await self._by_age(definition) + await self._by_count(definition)

    async def prune_logs(self, definition: Definition) -> int:
        """Prune log lines of a definition past its days."""
        days = definition.log_retention_days
        if days is None:
            days = _or_forever(self._settings.log_retention_days)
        if days == FOREVER:
            return 0
        return await self._storage.monitoring.prune_logs(definition.key, days=days)

    async def prune_orphaned_logs(self, after: JobId) -> tuple[int, JobId | None]:
        """Prune log lines without a job. Returns also the id to continue after, None at the end.

        A line is deleted with its job; one may be left if it was written at the same time.
        """
        return await self._storage.monitoring.prune_orphaned_logs(after)

    async def prune_events(self) -> int:
        """Prune events that were matched longer ago than jobs are kept."""
        days = _or_forever(self._settings.retention_days)
        if days == FOREVER:
            return 0
        before_id = EventId(await self._id_before(days))
        return await self._storage.triggers.prune_events(days=days, before_id=before_id)

    async def prune_spent(self) -> int:
        """Prune unused rows of all definitions: expired keys, stored responses of requests, ended
        jobs of definitions that keep none, and old counts by the minute."""
        gone = (
            await self._storage.monitoring.prune_keys()
            + await self._storage.access.prune_idempotency_keys()
        )
        for definition in await self._storage.definitions.definitions():
            if self._days(definition) == 0:
                gone += await self._older_than(definition, 0, spare_dead=True)
        return gone + await self._minutes()

    async def _by_age(self, definition: Definition) -> int:
        days = self._days(definition)
        pruned = await self._older_than(definition, days, spare_dead=days == 0)
        if days == 0:  # a failure must not vanish unseen: keep it for the installation's days
            installed = _or_forever(self._settings.retention_days) or _DEAD_DAYS
            pruned += await self._older_than(definition, installed, spare_dead=False)
        return pruned

    async def _by_count(self, definition: Definition) -> int:
        keep = definition.retention_count or self._settings.retention_count
        if not keep:
            return 0
        return await self._storage.monitoring.prune_by_count(definition.key, keep=keep)

    async def _older_than(self, definition: Definition, days: float, *, spare_dead: bool) -> int:
        if days == FOREVER:
            return 0
        before_id = JobId(await self._id_before(days))
        return await self._storage.monitoring.prune(
            definition.key, days=days, before_id=before_id, spare_dead=spare_dead
        )

    def _days(self, definition: Definition) -> float:
        own = definition.retention_days
        return _or_forever(self._settings.retention_days) if own is None else own

    async def _minutes(self) -> int:
        pruned = await self._storage.monitoring.prune_worker_minutes(days=_MINUTE_DAYS)
        for span, kept in _SLOT_DAYS.items():
            pruned += await self._storage.monitoring.prune_histograms(span, days=kept)
            pruned += await self._storage.monitoring.prune_rollups(span, days=kept)
        days = _or_forever(self._settings.retention_days)
        if days != FOREVER:
            # Even where jobs are deleted as they end, charts need the counts of the last days.
            pruned += await self._storage.monitoring.prune_minute_counts(
                days=max(days, _MINUTE_DAYS)
            )
        return pruned

    async def _id_before(self, days: float) -> UUID:
        """An id of that many days ago. Ids begin with their creation time: what has a greater id
        cannot have ended before."""
        before = (await self._storage.now()) - timedelta(days=days)
        return uuid7(max(0, int(before.timestamp() * 1000)) + 1, 0, 0)


def _or_forever(days: float | None) -> float:
    return FOREVER if days is None else days
