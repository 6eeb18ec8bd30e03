"""`/tenants`: the owners of jobs."""

from typing import TYPE_CHECKING, Annotated, Any

from windlass.api.access.callers import Caller, CurrentCaller, ReadyEngine
from windlass.api.routing import Path, Query, Request, Routes, paged
from windlass.api.schema.paging import PageQuery
from windlass.core import wire
from windlass.errors import TenantNotFound

if TYPE_CHECKING:
    from windlass.api.schema.requests import NewTenant, TenantEdit

routes = Routes("tenants")

Id = Annotated[str, Path(min_length=1, max_length=191)]


@routes.get("", "tenants.read", paged("Tenant"), summary="List tenants")
async def find(caller: CurrentCaller, engine: ReadyEngine, paging: PageQuery) -> dict[str, Any]:
    tenants = [each for each in await engine.tenants.list() if _sees(caller, each.id)]
    page = paging.cut(tenants, lambda tenant: tenant.id)
    return {**page, "items": [wire.tenant(each) for each in page["items"]]}


@routes.post("", "tenants.write", "Tenant", status_code=201, summary="Create a tenant")
async def create(engine: ReadyEngine, body: "NewTenant") -> dict[str, Any]:
    """409 if the id is taken, also by a deleted tenant."""
    fields = body.given_fields()
    return wire.tenant(await engine.tenants.create(fields.pop("id"), **fields))


@routes.get("/{id}", "tenants.read", "Tenant", summary="Get a tenant")
async def get(caller: CurrentCaller, engine: ReadyEngine, id: Id) -> dict[str, Any]:
    if not _sees(caller, id):
        raise TenantNotFound(id)
    return wire.tenant(await engine.tenants.get(id))


@routes.patch("/{id}", "tenants.write", "Tenant", summary="Change a tenant")
async def change(engine: ReadyEngine, id: Id, body: "TenantEdit") -> dict[str, Any]:
    return wire.tenant(await engine.tenants.change(id, **body.given_fields()))


@routes.post("/{id}/suspend", "tenants.write", "Tenant", summary="Suspend a tenant")
async def suspend(engine: ReadyEngine, id: Id) -> dict[str, Any]:
    await engine.tenants.suspend(id)
    return wire.tenant(await engine.tenants.get(id))


@routes.post("/{id}/resume", "tenants.write", "Tenant", summary="Resume a tenant")
async def resume(engine: ReadyEngine, id: Id) -> dict[str, Any]:
    await engine.tenants.resume(id)
    return wire.tenant(await engine.tenants.get(id))


@routes.delete("/{id}", "tenants.write", "TenantDeletion", summary="Delete a tenant")
async def delete(
    request: Request,
    caller: CurrentCaller,
    engine: ReadyEngine,
    id: Id,
    purge: Annotated[
        bool, Query(description="Also remove all its rows, except the audit.")
    ] = False,
) -> dict[str, Any]:
    """Closes its open jobs to the dead letter and ends its tokens, roles and invitations; its id
    stays taken. History stays unless purged: each request removes a bounded number of rows; repeat
    it while the response says `more`."""
    if not purge:
        return {"closed": await engine.tenants.delete(id, actor=caller.name)}
    purged = await engine.tenants.purge(
        id, by=caller.effective_principal, request_id=request.state.request_id
    )
    return {
        "closed": purged.closed,
        "rows": dict(purged.rows),
        "open": purged.open,
        "more": purged.more,
    }


def _sees(caller: Caller, id: str) -> bool:
    return caller.scope.tenant in (None, id)
