"""`/stats`: counts and latencies over time, for charts."""

from typing import Annotated, Any, Literal

from windlass.api.access.callers import CurrentCaller, ReadyEngine
from windlass.api.routing import Query, Routes, paged
from windlass.api.schema.paging import PageQuery
from windlass.core.monitoring import series_wire
from windlass.core.monitoring import summary_wire as wire

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
    """The last slot is incomplete. `failing` lists the definitions with the most failed attempts."""
    which = {"definition": definition, "queue": queue}
    return wire.stats(await engine.summaries.stats(window, scope=caller.scope, **which))


@routes.get("/tenants", "stats.read", paged("TenantStatsResponse"), summary="Get counts per tenant")
async def tenants(
    caller: CurrentCaller, engine: ReadyEngine, paging: PageQuery, window: Window = "1h"
) -> dict[str, Any]:
    """Each tenant's jobs by state, its counts and latencies in the window, and its `share` of the
    jobs that run now. A tenant is `noisy` while its share is more than twice its fair one, by
    weight among the tenants with jobs in line or running, and another tenant's job has waited more
    than 10 s. A caller bound to a tenant sees only that one, without `share` and `noisy`."""
    rows = await engine.tenant_stats.page(
        window, scope=caller.scope, after=paging.after, limit=paging.limit + 1
    )
    page = paging.first(rows, lambda each: each.tenant)
    return {**page, "items": [wire.tenant_stats(each) for each in page["items"]]}


@routes.get(
    "/definitions",
    "stats.read",
    paged("DefinitionStatsResponse"),
    summary="Get counts per definition",
)
async def definitions(
    caller: CurrentCaller,
    engine: ReadyEngine,
    paging: PageQuery,
    window: Window = "24h",
    definition: Annotated[list[str] | None, Query(description="Only these.")] = None,
) -> dict[str, Any]:
    """Counts, success rate and latencies of each definition with activity in the window, by key."""
    rows = await engine.summaries.definitions(
        window,
        scope=caller.scope,
        only=definition,
        after=paging.after,
        limit=paging.limit + 1,
    )
    page = paging.first(rows, lambda each: each.definition)
    return {**page, "items": [wire.definition_stats(each) for each in page["items"]]}


@routes.get(
    "/tenants/series", "stats.read", "TenantSharesResponse", summary="Get tenants' use over time"
)
async def tenant_series(
    caller: CurrentCaller, engine: ReadyEngine, window: Window = "1h"
) -> dict[str, Any]:
    """Worker seconds per time slot of the 8 tenants that took most in the window, and of the rest
    together. They count in the slot in which an attempt ended; `running` is at the slot's end."""
    return series_wire.tenant_shares(await engine.tenant_stats.series(window, scope=caller.scope))


@routes.get(
    "/queues", "stats.read", paged("QueueSeriesResponse"), summary="Get depth and rates per queue"
)
async def queues(
    caller: CurrentCaller, engine: ReadyEngine, paging: PageQuery, window: Window = "1h"
) -> dict[str, Any]:
    """Each queue now, and per time slot its depth at the slot's end and its rates. `workers` are
    the live ones that serve it; null for a caller bound to a tenant."""
    rows = await engine.usage.queues(
        window, scope=caller.scope, after=paging.after, limit=paging.limit + 1
    )
    page = paging.first(rows, lambda each: each.queue.name)
    return {**page, "items": [series_wire.queue_series(each) for each in page["items"]]}


@routes.get(
    "/workers", "workers.read", "WorkerUseResponse", summary="Get the use of workers over time"
)
async def workers(
    caller: CurrentCaller, engine: ReadyEngine, window: Window = "1h"
) -> dict[str, Any]:
    """Live workers, their slots and the used ones per time slot, noted once a minute; null without
    a note."""
    return series_wire.worker_use(*await engine.usage.workers(window))
