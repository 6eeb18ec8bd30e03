"""`/tenants`: who owns jobs."""

from typing import Annotated, Any

from fastapi import Path

from windlass.api import shown
from windlass.api.callers import Caller, Calling, Ready
from windlass.api.paging import Paged
from windlass.api.routing import Routes
from windlass.api.shapes import NewTenant, TenantEdit
from windlass.core import wire
from windlass.errors import TenantNotFound

routes = Routes("tenants")

Id = Annotated[str, Path(min_length=1, max_length=191)]


@routes.get("", "tenants.read", shown.paged(shown.Tenant), summary="List tenants")
async def find(caller: Calling, engine: Ready, paging: Paged) -> dict[str, Any]:
    found = [each for each in await engine.tenants.list() if _sees(caller, each.id)]
    page = paging.cut(found, lambda tenant: tenant.id)
    return {**page, "items": [wire.tenant(each) for each in page["items"]]}


@routes.post("", "tenants.write", shown.Tenant, status_code=201, summary="Make a tenant")
async def create(engine: Ready, body: NewTenant) -> dict[str, Any]:
    said = body.said()
    return wire.tenant(await engine.tenants.create(said.pop("id"), **said))


@routes.get("/{id}", "tenants.read", shown.Tenant, summary="One tenant")
async def get(caller: Calling, engine: Ready, id: Id) -> dict[str, Any]:
    if not _sees(caller, id):
        raise TenantNotFound(id)
    return wire.tenant(await engine.tenants.get(id))


@routes.patch("/{id}", "tenants.write", shown.Tenant, summary="Change it")
async def change(engine: Ready, id: Id, body: TenantEdit) -> dict[str, Any]:
    return wire.tenant(await engine.tenants.change(id, **body.said()))


@routes.post("/{id}/suspend", "tenants.write", shown.Tenant, summary="Suspend it")
async def suspend(engine: Ready, id: Id) -> dict[str, Any]:
    await engine.tenants.suspend(id)
    return wire.tenant(await engine.tenants.get(id))


@routes.post("/{id}/resume", "tenants.write", shown.Tenant, summary="Let it go on")
async def resume(engine: Ready, id: Id) -> dict[str, Any]:
    await engine.tenants.resume(id)
    return wire.tenant(await engine.tenants.get(id))


@routes.delete("/{id}", "tenants.write", shown.Closed, summary="Delete it")
async def delete(caller: Calling, engine: Ready, id: Id) -> dict[str, Any]:
    """Ends its open jobs in the dead letter; history stays."""
    return {"closed": await engine.tenants.delete(id, actor=caller.name)}


def _sees(caller: Caller, id: str) -> bool:
    return caller.scope.tenant in (None, id)
