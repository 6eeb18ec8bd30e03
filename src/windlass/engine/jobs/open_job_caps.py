"""Caps on open jobs: a tenant that has as many as it may is told so, and keeps what it has.

A cap is looked at before jobs are stored, not locked: what is stored at the same moment may pass it.
What would add no job, because it is stored already or its key is taken, is never refused.
"""

from collections.abc import Sequence

from windlass import clock
from windlass.core.jobs.models import NewJob, Scope
from windlass.ids import JobId
from windlass.storage.storage import Storage

_FRESH_SECONDS = 5.0
#: So many jobs are looked for at once.
_LOOK = 1000


class OpenJobCaps:
    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        #: By tenant; empty in most installations.
        self.caps: dict[str, int] = {}
        #: Until when the caps need not be read again.
        self.fresh_until = 0.0

    async def refresh(self) -> None:
        """Look again which tenants have a cap, if the last look was some seconds ago."""
        if (now := clock.monotonic()) >= self.fresh_until:
            self.fresh_until = now + _FRESH_SECONDS
            self.caps = await self._storage.access.open_job_caps()

    def forget(self) -> None:
        """Look again next time: a cap was changed."""
        self.fresh_until = 0.0

    async def over(self, jobs: Sequence[NewJob]) -> dict[JobId, str]:
        """The jobs for which there is no room, and why."""
        if not self.caps:
            return {}
        refused = []
        rooms: dict[str, int] = {}
        for job in jobs:
            cap = self.caps.get(job.tenant)
            if cap is None:
                continue
            if job.tenant not in rooms:
                rooms[job.tenant] = cap - await self._open(job.tenant)
            rooms[job.tenant] -= 1
            if rooms[job.tenant] < 0:
                refused.append(job)
        met: set[JobId] = set()
        for start in range(0, len(refused), _LOOK):
            met |= await self._storage.jobs.key_holders(refused[start : start + _LOOK])
        return {
            job.id: f"tenant {job.tenant} may have {self.caps[job.tenant]:,} open jobs, and has them"
            for job in refused
            if job.id not in met
        }

    async def _open(self, tenant: str) -> int:
        rows = await self._storage.jobs.state_counts(Scope.of(tenant))
        return sum(int(row["pending"]) + int(row["queued"]) + int(row["running"]) for row in rows)
