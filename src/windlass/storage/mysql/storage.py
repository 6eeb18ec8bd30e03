"""Address -> Storage on MariaDB and MySQL."""

from collections.abc import Collection, Mapping, Sequence
from datetime import timedelta
from typing import Any

from windlass.core.models import Definition, Lease, LogLine, NewJob, Quota, Scope, Tenant
from windlass.core.states import JobState
from windlass.ids import JobId, WorkerId
from windlass.storage.address import Address
from windlass.storage.base import Storage
from windlass.storage.enqueue import Stored
from windlass.storage.mysql.database import MysqlDatabase, retried

#: So many of the newest log lines are looked through before the full-text index is asked.
_LOOK = 5_000


def open_mysql(address: Address, *, now: str | None = None) -> Storage:
    """The storage on a server. Nothing connects before the first verb."""
    return MysqlStorage(MysqlDatabase(address, now=now))


class MysqlStorage(Storage):
    """The same verbs; those of several steps are tried again as a whole when transactions met.

    Locks on ranges of an index make that an ordinary thing here.
    """

    async def enqueue(
        self, jobs: Sequence[NewJob], *, whole: bool = False, existing: bool = True
    ) -> list[Stored]:
        enqueue = super().enqueue
        return await retried(lambda: enqueue(jobs, whole=whole, existing=existing))

    async def claim(
        self,
        worker: WorkerId,
        quotas: Sequence[Quota],
        known: Collection[str],
        *,
        lease_time: timedelta,
    ) -> list[Lease]:
        claim = super().claim
        return await retried(lambda: claim(worker, quotas, known, lease_time=lease_time))

    async def admit(self, ids: Sequence[JobId]) -> Mapping[JobId, JobState]:
        admit = super().admit
        return await retried(lambda: admit(ids))

    async def sync_definitions(self, declared: Sequence[Definition]) -> set[str]:
        sync = super().sync_definitions
        return await retried(lambda: sync(declared))

    async def search_logs(
        self, scope: Scope, words: str, *, limit: int = 100, **which: Any
    ) -> list[LogLine]:
        recent = await self._search("recent_logs", scope, words, limit=limit, look=_LOOK, **which)
        if len(recent) >= limit:
            return recent
        return await super().search_logs(scope, words, limit=limit, **which)

    async def put_tenant(self, tenant: Tenant) -> None:
        put = super().put_tenant
        await retried(lambda: put(tenant))
