"""`/dead`: dead-lettered jobs by cause; retry, edit and retry, discard, mute."""

from typing import TYPE_CHECKING, Annotated, Any

from windlass.api.access.callers import CurrentCaller, ReadyEngine
from windlass.api.jobs.jobs import Id, job_id
from windlass.api.routing import Query, Request, Routes, listed, paged
from windlass.api.schema import render
from windlass.api.schema.paging import PageQuery
from windlass.core import wire
from windlass.core.jobs.dead import GroupChange

if TYPE_CHECKING:
    from windlass.api.schema.requests import GroupBatch, GroupMute, GroupSelection, NewPayload

routes = Routes("dead")


@routes.get(
    "",
    "jobs.read",
    paged("JobEntry"),
    summary="List dead-lettered jobs",
    own=True,
)
async def find(
    caller: CurrentCaller,
    engine: ReadyEngine,
    paging: PageQuery,
    definition: Annotated[str | None, Query(max_length=191)] = None,
    fingerprint: Annotated[str | None, Query(max_length=64)] = None,
) -> dict[str, Any]:
    page = await engine.dead.list(
        definition=definition,
        fingerprint=fingerprint,
        created_by=caller.owner,
        after=job_id(paging.after),
        limit=paging.limit,
        scope=caller.scope,
    )
    return paging.page(await render.jobs(engine, page), page.next)


@routes.get("/groups", "jobs.read", listed("Group"), summary="Group dead-lettered jobs by cause")
async def groups(
    caller: CurrentCaller,
    engine: ReadyEngine,
    definition: Annotated[str | None, Query(max_length=191)] = None,
    muted: Annotated[bool, Query(description="Include muted groups.")] = False,
    recovered: Annotated[
        bool | None,
        Query(description="Only groups that have recovered, or have not; by default both."),
    ] = None,
    limit: Annotated[int, Query(ge=1, le=500)] = 50,
) -> dict[str, Any]:
    """Most recently seen cause first. A group has recovered if a job of its definition completed
    after its last failure, on the same code or a newer one."""
    rows = await engine.dead.groups(
        definition=definition,
        muted=muted,
        recovered=recovered,
        limit=limit,
        scope=caller.scope,
    )
    return {"items": [wire.dead_group(group) for group in rows]}


@routes.post("/groups/retry", "jobs.retry", "GroupChangeResponse", summary="Retry a group")
async def retry_group(
    request: Request, caller: CurrentCaller, engine: ReadyEngine, body: "GroupBatch"
) -> dict[str, Any]:
    request.state.target = f"{body.definition}/{body.fingerprint}"
    return _group_change(
        await engine.dead.retry_group(
            body.definition,
            body.fingerprint,
            limit=body.limit,
            actor=caller.name,
            scope=caller.scope,
            by=caller.by,
        )
    )


@routes.post("/groups/discard", "jobs.discard", "GroupChangeResponse", summary="Discard a group")
async def discard_group(
    request: Request, caller: CurrentCaller, engine: ReadyEngine, body: "GroupBatch"
) -> dict[str, Any]:
    request.state.target = f"{body.definition}/{body.fingerprint}"
    return _group_change(
        await engine.dead.discard_group(
            body.definition, body.fingerprint, limit=body.limit, scope=caller.scope
        )
    )


@routes.post("/groups/mute", "dead.mute", "Mute", summary="Mute a group")
async def mute_group(
    request: Request, caller: CurrentCaller, engine: ReadyEngine, body: "GroupMute"
) -> dict[str, Any]:
    """Hides the group from lists and health verdicts, for a time or until it is unmuted. A caller
    that is bound to a tenant, or names one, mutes it for that tenant; others mute it for all."""
    request.state.target = f"{body.definition}/{body.fingerprint}"
    mute = await engine.mutes.mute(
        body.definition,
        body.fingerprint,
        lasts=body.for_seconds,
        reason=body.reason,
        actor=caller.name,
        scope=caller.scope,
    )
    return wire.fields_of(mute)


@routes.post("/groups/unmute", "dead.mute", "Mute", summary="Unmute a group")
async def unmute_group(
    request: Request, caller: CurrentCaller, engine: ReadyEngine, body: "GroupSelection"
) -> dict[str, Any]:
    """Returns the mute that still applies, if any: a group muted for all tenants stays muted in
    each of them."""
    request.state.target = f"{body.definition}/{body.fingerprint}"
    return wire.fields_of(
        await engine.mutes.unmute(body.definition, body.fingerprint, scope=caller.scope)
    )


@routes.post("/{job_id}/retry", "jobs.retry", "Job", summary="Retry a dead-lettered job")
async def retry(caller: CurrentCaller, engine: ReadyEngine, job_id: Id) -> dict[str, Any]:
    job = await engine.dead.retry(job_id, actor=caller.name, scope=caller.scope, by=caller.by)
    return await render.job(engine, job)


@routes.post("/{job_id}/edit-retry", "jobs.retry", "Job", summary="Edit the payload and retry")
async def edit_retry(
    caller: CurrentCaller, engine: ReadyEngine, job_id: Id, body: "NewPayload"
) -> dict[str, Any]:
    job = await engine.dead.edit_retry(
        job_id, body.payload, actor=caller.name, scope=caller.scope, by=caller.by
    )
    return await render.job(engine, job)


@routes.delete("/{job_id}", "jobs.discard", status_code=204, summary="Discard a dead-lettered job")
async def discard(caller: CurrentCaller, engine: ReadyEngine, job_id: Id) -> None:
    await engine.dead.discard(job_id, scope=caller.scope)


def _group_change(change: GroupChange) -> dict[str, Any]:
    return {"changed": change.changed, "skipped": change.skipped, "more": change.more}
