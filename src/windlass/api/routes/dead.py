"""`/dead`: the dead letter by cause; retry, edit and retry, discard."""

from typing import Annotated, Any

from fastapi import Query, Request

from windlass.api import showing, shown
from windlass.api.callers import Calling, Ready
from windlass.api.paging import Paged
from windlass.api.routes.jobs import Id, job_id
from windlass.api.routing import Routes
from windlass.api.shapes import Edited, OneGroup
from windlass.core.dead import GroupChange
from windlass.core.wire import instant

routes = Routes("dead")


@routes.get(
    "", "jobs.read", shown.paged(shown.JobEntry), summary="List dead-lettered jobs", own=True
)
async def find(
    caller: Calling,
    engine: Ready,
    paging: Paged,
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
    return paging.page(await showing.jobs(engine, page), page.next)


@routes.get("/groups", "jobs.read", shown.listed(shown.Group), summary="Group them by cause")
async def groups(
    caller: Calling,
    engine: Ready,
    definition: Annotated[str | None, Query(max_length=191)] = None,
    limit: Annotated[int, Query(ge=1, le=500)] = 50,
) -> dict[str, Any]:
    """The cause seen last first."""
    found = await engine.dead.groups(definition=definition, limit=limit, scope=caller.scope)
    return {
        "items": [
            {
                "definition": group.definition,
                "fingerprint": group.fingerprint,
                "sentence": group.sentence,
                "count": group.count,
                "first_at": instant(group.first_at),
                "last_at": instant(group.last_at),
                "tenants": group.tenants,
                "sample_id": str(group.sample_id),
            }
            for group in found
        ]
    }


@routes.post("/groups/retry", "jobs.retry", shown.Changed, summary="Retry a group")
async def retry_group(
    request: Request, caller: Calling, engine: Ready, body: OneGroup
) -> dict[str, Any]:
    request.state.target = f"{body.definition}/{body.fingerprint}"
    return _changed(
        await engine.dead.retry_group(
            body.definition,
            body.fingerprint,
            limit=body.limit,
            actor=caller.name,
            scope=caller.scope,
        )
    )


@routes.post("/groups/discard", "jobs.discard", shown.Changed, summary="Discard a group")
async def discard_group(
    request: Request, caller: Calling, engine: Ready, body: OneGroup
) -> dict[str, Any]:
    request.state.target = f"{body.definition}/{body.fingerprint}"
    return _changed(
        await engine.dead.discard_group(
            body.definition, body.fingerprint, limit=body.limit, scope=caller.scope
        )
    )


@routes.post("/{job_id}/retry", "jobs.retry", shown.Job, summary="Retry one")
async def retry(caller: Calling, engine: Ready, job_id: Id) -> dict[str, Any]:
    job = await engine.dead.retry(job_id, actor=caller.name, scope=caller.scope)
    return await showing.job(engine, job)


@routes.post(
    "/{job_id}/edit-retry", "jobs.retry", shown.Job, summary="Retry one with another payload"
)
async def edit_retry(caller: Calling, engine: Ready, job_id: Id, body: Edited) -> dict[str, Any]:
    job = await engine.dead.edit_retry(job_id, body.payload, actor=caller.name, scope=caller.scope)
    return await showing.job(engine, job)


@routes.delete("/{job_id}", "jobs.discard", status_code=204, summary="Discard one")
async def discard(caller: Calling, engine: Ready, job_id: Id) -> None:
    await engine.dead.discard(job_id, scope=caller.scope)


def _changed(change: GroupChange) -> dict[str, Any]:
    return {"changed": change.changed, "skipped": change.skipped, "more": change.more}
