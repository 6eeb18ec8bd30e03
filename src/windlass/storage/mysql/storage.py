"""Address -> Storage on MariaDB and MySQL."""

from functools import cached_property
from typing import Any

from windlass.core.jobs.models import LogLine, Scope
from windlass.storage.connection.address import Address
from windlass.storage.connection.deadlines import Deadlines
from windlass.storage.jobs.storage import JobStorage
from windlass.storage.mysql.database import MysqlDatabase
from windlass.storage.storage import Storage

#: So many of the newest log lines are looked through before the full-text index is asked.
_LOOK = 5_000


def open_mysql(
    address: Address, *, now: str | None = None, deadlines: Deadlines | None = None
) -> Storage:
    """The storage on a server. Nothing connects before the first verb."""
    return MysqlStorage(MysqlDatabase(address, now=now, deadlines=deadlines))


class MysqlStorage(Storage):
    @cached_property
    def jobs(self) -> JobStorage:
        """The same verbs, one in another order."""
        return MysqlJobStorage(self._db)


class MysqlJobStorage(JobStorage):
    async def search_logs(
        self, scope: Scope, words: str | None, *, limit: int = 100, **which: Any
    ) -> list[LogLine]:
        if words is None:
            return await super().search_logs(scope, None, limit=limit, **which)
        recent = await self._search(
            "search_recent_logs", scope, words, limit=limit, look=_LOOK, **which
        )
        if len(recent) >= limit:
            return recent
        return await super().search_logs(scope, words, limit=limit, **which)
