"""Bounded reads for live updates, without payloads."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence

from windlass.core.jobs.models import LogLine
from windlass.core.leases.limits import Queue
from windlass.ids import JobId
from windlass.storage.monitoring.stream_reads import (
    Activity,
    EventStatus,
    JobSnapshot,
    LogRange,
    TriggerStatus,
)
from windlass.storage.storage import Storage

_MOST_JOBS = 1_000
_MOST_LOGS = 100

__all__ = ["Activity", "EventStatus", "JobSnapshot", "LogRange", "StreamReads", "TriggerStatus"]


class StreamReads:
    """Reads across all tenants; the live feed filters what each listener may see."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    async def activity(self) -> Sequence[Activity]:
        """Counts by tenant, queue and definition."""
        return await self._storage.monitoring.stream_activity()

    async def queues(self) -> Sequence[Queue]:
        """Queues with a pause or a limit, without counts."""
        return await self._storage.leases.queues()

    async def triggers(self, *, most: int) -> Sequence[TriggerStatus]:
        """Triggers, the most recently active first."""
        return await self._storage.monitoring.stream_triggers(most=most)

    async def events(self, *, most: int) -> Sequence[EventStatus]:
        """The newest events, newest first."""
        return await self._storage.monitoring.stream_events(most=most)

    async def jobs(self, ids: Collection[JobId]) -> Mapping[JobId, JobSnapshot]:
        """Snapshots of these jobs by id, read a thousand at a time; deleted ones are left out."""
        wanted, found = list(ids), dict[JobId, JobSnapshot]()
        for start in range(0, len(wanted), _MOST_JOBS):
            batch = wanted[start : start + _MOST_JOBS]
            found |= await self._storage.monitoring.stream_jobs(batch)
        return found

    async def log_lines(
        self, ranges: Mapping[JobId, LogRange]
    ) -> Mapping[JobId, Sequence[LogLine]]:
        """The log lines in these ranges by job, in order, read from a hundred jobs at a time."""
        wanted, found = list(ranges), defaultdict[JobId, list[LogLine]](list)
        for start in range(0, len(wanted), _MOST_LOGS):
            batch = {id: ranges[id] for id in wanted[start : start + _MOST_LOGS]}
            for line in await self._storage.monitoring.stream_log_lines(batch):
                found[line.job_id].append(line)
        return found
