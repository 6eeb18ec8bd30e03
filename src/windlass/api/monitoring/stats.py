"""`/stats`: counts over time, for charts."""

from typing import Annotated, Any, Literal

from windlass.api.access.callers import CurrentCaller, ReadyEngine
from windlass.api.routing import Query, Routes, paged
from windlass.api.schema.paging import PageQuery
from windlass.core.monitoring import summary_wire as wire
from windlass.core.monitoring.summary import WINDOWS

routes = Routes("stats")

Window = Annotated[Literal["5m", "1h", "24h", "7d"], Query(description="The period, up to now.")]


@routes.get("", "stats.read", "StatsResponse", summary="Get counts per time slot")
async def get(
    caller: CurrentCaller,
    engine: ReadyEngine,
    window: Window = "1h",
    definition: Annotated[str | None, Query(max_length=191)] = None,
    queue: Annotated[str | None, Query(max_length=191)] = None,
) -> dict[str, Any]:
    """The last slot is incomplete. `failing` lists the definitions with the most failed attempts.
    Percentiles cover all tenants together; they are null for a single tenant."""
    which = {"definition": definition, "queue": queue}
    stats = wire.stats(await engine.summaries.stats(window, scope=caller.scope, **which))
    wait = run = None
    if caller.scope.tenant is None:
        percentiles = await engine.latency.percentiles(WINDOWS[window][0], **which)
        wait, run = percentiles.wait.p95, percentiles.run.p95
    return {**stats, "p95_wait_seconds": wait, "p95_run_seconds": run}


@routes.get("/tenants", "stats.read", paged("TenantStatsResponse"), summary="Get counts per tenant")
async def tenants(
    caller: CurrentCaller, engine: ReadyEngine, paging: PageQuery, window: Window = "1h"
) -> dict[str, Any]:
    """Each tenant's jobs by state, and its counts in the window. A caller bound to a tenant sees
    only that one."""
    rows = await engine.summaries.tenants(window, scope=caller.scope)
    page = paging.cut(rows, lambda each: each.tenant)
    return {**page, "items": [wire.tenant_stats(each) for each in page["items"]]}
