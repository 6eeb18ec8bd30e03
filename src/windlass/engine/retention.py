"""Retention: how long ended jobs and their logs are kept."""

from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from windlass.core.models import FOREVER, Definition
from windlass.ids import EventId, JobId, uuid7
from windlass.settings import Settings
from windlass.storage.base import Storage

#: How long percentiles can look back, by the minute.
_HISTOGRAM_DAYS = 2.0
#: How long what was done by the minute is kept at least.
_MINUTE_DAYS = 8.0


@dataclass(frozen=True, slots=True)
class Pruned:
    jobs: int = 0
    lines: int = 0
    keys: int = 0
    events: int = 0
    minutes: int = 0

    @property
    def anything(self) -> bool:
        return bool(self.jobs or self.lines or self.keys or self.events or self.minutes)


class Retention:
    """Prunes in capped steps, so that it never disturbs workers for long."""

    def __init__(self, storage: Storage, settings: Settings) -> None:
        self._storage = storage
        self._settings = settings

    async def prune(self) -> Pruned:
        """One round over all definitions: a capped step for each. Zero counts mean all done."""
        jobs = lines = 0
        for definition in await self._storage.definitions():
            jobs += await self._by_age(definition)
            jobs += await self._by_count(definition)
            lines += await self._logs(definition)
        keys = await self._storage.prune_keys()
        return Pruned(jobs, lines, keys, await self._events(), await self._minutes())

    async def _by_age(self, definition: Definition) -> int:
        installed = _or_forever(self._settings.retention_days)
        days = definition.retention_days if definition.retention_days is not None else installed
        pruned = await self._older_than(definition, days, spare_dead=days == 0)
        if days == 0:  # a failure must not vanish unseen: it stays for the installation's time
            pruned += await self._older_than(definition, installed or 30, spare_dead=False)
        return pruned

    async def _older_than(self, definition: Definition, days: float, *, spare_dead: bool) -> int:
        if days == FOREVER:
            return 0
        before_id = JobId(await self._id_before(days))
        return await self._storage.prune(
            definition.key, days=days, before_id=before_id, spare_dead=spare_dead
        )

    async def _events(self) -> int:
        days = _or_forever(self._settings.retention_days)
        if days == FOREVER:
            return 0
        before_id = EventId(await self._id_before(days))
        return await self._storage.prune_events(days=days, before_id=before_id)

    async def _minutes(self) -> int:
        pruned = await self._storage.prune_histograms(days=_HISTOGRAM_DAYS)
        days = _or_forever(self._settings.retention_days)
        if days != FOREVER:
            # Jobs may be gone as they end; what was done in the last days is still worth a chart.
            pruned += await self._storage.prune_minutes(days=max(days, _MINUTE_DAYS))
        return pruned

    async def _id_before(self, days: float) -> UUID:
        """An id of so many days ago. Ids begin with their time of making: nothing made later can
        have ended before."""
        before = (await self._storage.now()) - timedelta(days=days)
        return uuid7(max(0, int(before.timestamp() * 1000)) + 1, 0, 0)

    async def _by_count(self, definition: Definition) -> int:
        keep = definition.retention_count or self._settings.retention_count
        if not keep:
            return 0
        return await self._storage.prune_count(definition.key, keep=keep)

    async def _logs(self, definition: Definition) -> int:
        days = definition.log_retention_days
        if days is None:
            days = _or_forever(self._settings.log_retention_days)
        if days == FOREVER:
            return 0
        return await self._storage.prune_logs(definition.key, days=days)


def _or_forever(days: float | None) -> float:
    return FOREVER if days is None else days
