"""`/logs`: text search in the log lines of all jobs."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, get_args

from windlass.api.access.callers import Caller, CurrentCaller, ReadyEngine
from windlass.api.jobs.jobs import visible_job
from windlass.api.routing import Depends, Query, Routes, paged
from windlass.api.schema import render
from windlass.api.schema.paging import PageQuery
from windlass.core import wire
from windlass.core.jobs.models import LogLevel, LogPlace
from windlass.engine.engine import Engine
from windlass.ids import JobId, parse_job_id

routes = Routes("logs")

_LEVELS = get_args(LogLevel)
_Instant = Query(
    max_length=64, description="An instant, or an offset from now: 2026-07-01T10:00Z, -2h."
)


@dataclass(frozen=True, slots=True)
class LogFilters:
    """Filters of log lines."""

    words: Annotated[
        str | None,
        Query(
            description="Lines must contain all of these whole words, in any case; by default every line.",
            min_length=1,
            max_length=500,
        ),
    ] = None
    definition: Annotated[str | None, Query(max_length=191)] = None
    job: Annotated[str | None, Query(description="Only this job's lines.", max_length=64)] = None
    level: Annotated[LogLevel | None, Query(description="This level and above.")] = None
    since: Annotated[str | None, _Instant] = None
    until: Annotated[str | None, _Instant] = None


@routes.get("", "logs.read", paged("LogLine"), summary="Search logs", own=True)
async def search(
    caller: CurrentCaller,
    engine: ReadyEngine,
    paging: PageQuery,
    chosen: Annotated[LogFilters, Depends(LogFilters)],
) -> dict[str, Any]:
    """Newest first. `/jobs/{job_id}/logs?after={sequence - 1}` returns a hit with the lines after
    it."""
    lines = await engine.logs.search(
        **await _search(caller, engine, chosen),
        before=_read_cursor(paging.after),
        limit=paging.limit + 1,
    )
    page = lines[: paging.limit]
    more = len(lines) > paging.limit
    return paging.page(render.lines(page), _cursor_text(page[-1].place) if more else None)


@routes.get("/volume", "logs.read", "LogVolumeResponse", summary="Count logs over time", own=True)
async def volume(
    caller: CurrentCaller,
    engine: ReadyEngine,
    chosen: Annotated[LogFilters, Depends(LogFilters)],
) -> dict[str, Any]:
    """Lines that a search finds, by time slot and level: of the last day, unless `since` says
    otherwise. Of more than 100,000 lines the newest are counted; `exact` is then false."""
    found = await engine.logs.volume(**await _search(caller, engine, chosen))
    points = [
        {"at": wire.instant(each.at), **{level: each.lines.get(level, 0) for level in _LEVELS}}
        for each in found.points
    ]
    return {**wire.fields_of(found), "points": points}


async def _search(caller: Caller, engine: Engine, chosen: LogFilters) -> dict[str, Any]:
    """The options of a search for the lines that are chosen and visible to the caller."""
    job = None if chosen.job is None else (await visible_job(caller, engine, chosen.job)).id
    return {
        "words": chosen.words,
        "definition": chosen.definition,
        "level": chosen.level,
        "job": job,
        "since": chosen.since,
        "until": chosen.until,
        "created_by": caller.owner,
        "scope": caller.scope,
    }


def _cursor_text(place: LogPlace) -> str:
    return f"{place.at.isoformat()} {place.job_id} {place.sequence}"


def _read_cursor(cursor: str | None) -> LogPlace | None:
    if cursor is None:
        return None
    at, id, sequence = cursor.split()
    job = parse_job_id(id)
    assert job is not None  # a cursor is signed
    return LogPlace(datetime.fromisoformat(at), JobId(job), int(sequence))
