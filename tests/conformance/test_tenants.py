"""put_tenant, change_tenant and tenants."""

from dataclasses import replace

import pytest

from tests.conformance.builders import a_tenant
from windlass.core.tenant import Tenant
from windlass.ids import TenantId


async def test_a_new_database_has_its_two_tenants(storage):
    assert await storage.tenants() == [
        Tenant(id=TenantId("default"), name="Default"),
        Tenant(id=TenantId("system"), name="System"),
    ]


async def test_a_tenant_reads_back_as_it_was_put_and_can_be_changed(storage):
    first = Tenant(id=TenantId("acme – ü"), name="Acme 😀", weight=3, max_running=5)
    first = replace(first, max_open=7, timezone="America/New_York")
    second = replace(first, name="Acme Inc.", state="suspended", weight=1, max_running=None)
    second = replace(second, max_open=None, timezone="Asia/Tokyo")

    await storage.put_tenant(first)
    assert first in await storage.tenants()
    await storage.put_tenant(second)

    assert [t for t in await storage.tenants() if t.id == first.id] == [second]


async def test_tenants_come_by_id_deleted_ones_included(storage):
    for id in ("zeta", "acme"):
        await a_tenant(storage, id, state="deleted")

    assert [t.id for t in await storage.tenants()] == ["acme", "default", "system", "zeta"]


async def test_a_tenant_is_changed_as_it_stands(storage):
    await a_tenant(storage, "acme", weight=3, max_open=9)

    changed = await storage.change_tenant("acme", lambda tenant: replace(tenant, max_running=1))
    missing = await storage.change_tenant("nobody", lambda tenant: tenant)

    [stored] = [tenant for tenant in await storage.tenants() if tenant.id == "acme"]
    assert (stored.weight, stored.max_open, stored.max_running) == (3, 9, 1)
    assert (changed, missing) == (stored, None)


async def test_a_change_of_a_tenant_that_is_refused_changes_nothing(storage):
    await a_tenant(storage, "acme", weight=3)

    def refuse(tenant):
        raise ValueError(tenant.id)

    with pytest.raises(ValueError, match="acme"):
        await storage.change_tenant("acme", refuse)

    assert [tenant.weight for tenant in await storage.tenants() if tenant.id == "acme"] == [3]
