"""`/logs`: text search in the log lines of all jobs."""

from datetime import datetime
from typing import Annotated, Any

from windlass.api.access.callers import CurrentCaller, ReadyEngine
from windlass.api.jobs.jobs import visible_job
from windlass.api.routing import Query, Routes, paged
from windlass.api.schema import render
from windlass.api.schema.paging import PageQuery
from windlass.core.jobs.models import LogLevel, LogPlace
from windlass.ids import JobId, parse_job_id

routes = Routes("logs")

_Instant = Query(
    max_length=64, description="An instant, or an offset from now: 2026-07-01T10:00Z, -2h."
)


@routes.get("", "logs.read", paged("LogLine"), summary="Search logs", own=True)
async def search(
    caller: CurrentCaller,
    engine: ReadyEngine,
    paging: PageQuery,
    words: Annotated[
        str | None,
        Query(
            description="Lines must contain all of these whole words, in any case; by default every line.",
            min_length=1,
            max_length=500,
        ),
    ] = None,
    definition: Annotated[str | None, Query(max_length=191)] = None,
    job: Annotated[str | None, Query(description="Only this job's lines.", max_length=64)] = None,
    level: Annotated[LogLevel | None, Query(description="This level and above.")] = None,
    since: Annotated[str | None, _Instant] = None,
    until: Annotated[str | None, _Instant] = None,
) -> dict[str, Any]:
    """Newest first. `/jobs/{job_id}/logs?after={sequence - 1}` returns a hit with the lines after
    it."""
    lines = await engine.logs.search(
        words,
        definition=definition,
        level=level,
        job=None if job is None else (await visible_job(caller, engine, job)).id,
        since=since,
        until=until,
        created_by=caller.owner,
        before=_read_cursor(paging.after),
        limit=paging.limit + 1,
        scope=caller.scope,
    )
    page = lines[: paging.limit]
    more = len(lines) > paging.limit
    return paging.page(render.lines(page), _cursor_text(page[-1].place) if more else None)


def _cursor_text(place: LogPlace) -> str:
    return f"{place.at.isoformat()} {place.job_id} {place.sequence}"


def _read_cursor(cursor: str | None) -> LogPlace | None:
    if cursor is None:
        return None
    at, id, sequence = cursor.split()
    job = parse_job_id(id)
    assert job is not None  # a cursor is signed
    return LogPlace(datetime.fromisoformat(at), JobId(job), int(sequence))
