"""Verbs that look for jobs and log lines among many."""

from datetime import datetime
from typing import NamedTuple

from windlass.core.jobs.models import JobPage, LogLevel, LogLine, LogPlace, Scope
from windlass.core.jobs.query import JobQuery
from windlass.ids import JobId
from windlass.storage.database import Database
from windlass.storage.jobs.list_sql import LOOK, JobList, TableFacts
from windlass.storage.sql import rows


class LogCount(NamedTuple):
    """The number of log lines of a level in a slot."""

    slot: int
    level: LogLevel
    lines: int


class ListVerbs:
    _db: Database

    async def page(
        self,
        scope: Scope,
        query: JobQuery,
        *,
        after: JobId | None = None,
        limit: int = 50,
        look: int = LOOK,
    ) -> JobPage:
        """Jobs newest first, without payloads; `after` is the last id already seen.

        `look` bounds how many candidates are looked at where no index has what is meant.
        """
        wanted = JobList(self._db.kind, scope, query)
        if wanted.asks_counts:
            wanted.facts = [_facts(row) for row in await self._db.query(*wanted.count())]
        lowest, highest = await self._ids_between(wanted)
        below = min((id for id in (after, highest) if id is not None), default=None)
        floor = None
        if sifting := wanted.floor(above=lowest, below=below, look=look):
            found = await self._db.query(*sifting)
            floor = JobId(rows.uuid(found[0]["id"])) if found else None
        statement = wanted.page(above=floor or lowest, below=below, limit=limit + 1)
        if statement is None:
            return JobPage([], None)
        jobs = [rows.job(row) for row in await self._db.query(*statement)]
        if len(jobs) > limit:
            return JobPage(jobs[:limit], jobs[limit - 1].id)
        return JobPage(jobs, floor)

    async def _ids_between(self, wanted: JobList) -> tuple[JobId | None, JobId | None]:
        span = wanted.span()
        if span is None:
            return None, None
        [found] = await self._db.query(*span)
        edges: dict[str, datetime | None] = {
            name: rows.optional_instant(found[name])
            for name in found.keys()  # noqa: SIM118  rows of some drivers are no mappings to it
        }
        return wanted.ids_between(edges)

    async def search_logs(
        self,
        scope: Scope,
        words: str | None,
        *,
        definition: str | None = None,
        level: str | None = None,
        job: JobId | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        created_by: str | None = None,
        before: LogPlace | None = None,
        limit: int = 100,
    ) -> list[LogLine]:
        """Log lines that hold all these words, newest first; None is whatever they say. `until`
        itself is not included.

        Of `created_by` only lines of jobs that one made; `before` is the last line already seen.
        """
        found = await self._db.run(
            "latest_logs" if words is None else "search_logs",
            words=words,
            tenant_id=scope.tenant,
            definition=definition,
            level=level,
            job_id=job,
            since=since,
            until=until,
            created_by=created_by,
            before_at=before and before.at,
            before_job=before and before.job_id,
            before_sequence=before and before.sequence,
            most=limit,
        )
        return [rows.log_line(row) for row in found]

    async def log_volume(
        self,
        scope: Scope,
        words: str | None,
        *,
        since: datetime,
        until: datetime,
        slot_seconds: int,
        definition: str | None = None,
        level: str | None = None,
        job: JobId | None = None,
        created_by: str | None = None,
        most: int = 100_000,
    ) -> list[LogCount]:
        """How many log lines a search finds, by slot (numbered from 1970) and level; of more than
        `most` the newest."""
        found = await self._db.run(
            "latest_log_volume" if words is None else "log_volume",
            words=words,
            tenant_id=scope.tenant,
            definition=definition,
            level=level,
            job_id=job,
            since=since,
            until=until,
            created_by=created_by,
            slot_seconds=slot_seconds,
            most=most,
        )
        return [
            LogCount(int(row["slot"]), row["level"], int(row["number_of_lines"])) for row in found
        ]


def _facts(row: rows.Row) -> TableFacts:
    return TableFacts(
        definition=row["definition"],
        chosen=bool(row["chosen"]),
        walked=int(row["walked"]),
        whole=int(row["whole"]),
        mine=int(row["mine"]),
        matching=int(row["matching"]),
    )
