"""`/stats`: what happened when, for charts."""

from typing import Annotated, Any, Literal

from windlass.api.access.callers import CurrentCaller, ReadyEngine
from windlass.api.routing import Query, Routes, paged
from windlass.api.schema.paging import PageQuery
from windlass.core.monitoring import summary_wire as wire
from windlass.core.monitoring.summary import WINDOWS

routes = Routes("stats")

Window = Annotated[
    Literal["5m", "1h", "24h", "7d"], Query(description="How long ago it may have been.")
]


@routes.get("", "stats.read", "StatsResponse", summary="What happened, slot by slot")
async def get(
    caller: CurrentCaller,
    engine: ReadyEngine,
    window: Window = "1h",
    definition: Annotated[str | None, Query(max_length=191)] = None,
    queue: Annotated[str | None, Query(max_length=191)] = None,
) -> dict[str, Any]:
    """The last slot has only begun. `failing` has the definitions with the most failed attempts.
    Percentiles are known of all tenants together, and null for those of one."""
    which = {"definition": definition, "queue": queue}
    told = wire.stats(await engine.summaries.stats(window, scope=caller.scope, **which))
    wait = run = None
    if caller.scope.tenant is None:
        found = await engine.latency.percentiles(WINDOWS[window][0], **which)
        wait, run = found.wait.p95, found.run.p95
    return {**told, "p95_wait_seconds": wait, "p95_run_seconds": run}


@routes.get("/tenants", "stats.read", paged("TenantStatsResponse"), summary="The same by tenant")
async def tenants(
    caller: CurrentCaller, engine: ReadyEngine, paging: PageQuery, window: Window = "1h"
) -> dict[str, Any]:
    """How the jobs of each tenant stand, and what happened in the window; to those of one tenant,
    of theirs."""
    found = await engine.summaries.tenants(window, scope=caller.scope)
    page = paging.cut(found, lambda each: each.tenant)
    return {**page, "items": [wire.tenant_stats(each) for each in page["items"]]}
