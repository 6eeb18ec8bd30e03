"""create_tenant, change_tenant, delete_tenant, purge_tenant_jobs, purge_tenant and tenants."""

import asyncio
from dataclasses import replace

import pytest

from tests.conformance.account_builders import (
    a_member,
    a_session,
    a_token,
    a_user,
    accepted,
    hash_of,
    invite,
)
from tests.support.job_builders import ACME, GLOBEX, MINUTE, a_tenant
from windlass.core.access.tenant import Tenant
from windlass.core.jobs.models import ALL_TENANTS
from windlass.ids import TenantId


async def test_a_new_database_has_its_two_tenants(storage):
    assert await storage.access.tenants() == [
        Tenant(id=TenantId("default"), name="Default"),
        Tenant(id=TenantId("system"), name="System"),
    ]


async def test_a_tenant_reads_back_as_created_and_can_be_changed(storage):
    first = Tenant(id=TenantId("acme – ü"), name="Acme 😀", weight=3, max_running=5)
    first = replace(first, max_open=7, timezone="America/New_York")
    second = replace(first, name="Acme Inc.", state="suspended", weight=1, max_running=None)
    second = replace(second, max_open=None, timezone="Asia/Tokyo")

    assert await storage.access.create_tenant(first) is None
    assert first in await storage.access.tenants()
    await storage.access.change_tenant(first.id, lambda _: second)

    assert [t for t in await storage.access.tenants() if t.id == first.id] == [second]


async def test_tenants_are_listed_by_id_deleted_ones_included(storage):
    for id in ("zeta", "acme"):
        await a_tenant(storage, id, state="deleted")

    assert [t.id for t in await storage.access.tenants()] == ["acme", "default", "system", "zeta"]


async def test_a_tenant_is_changed_from_its_current_values(storage):
    await a_tenant(storage, "acme", weight=3, max_open=9)

    changed = await storage.access.change_tenant(
        "acme", lambda tenant: replace(tenant, max_running=1)
    )
    missing = await storage.access.change_tenant("nobody", lambda tenant: tenant)

    [stored] = [tenant for tenant in await storage.access.tenants() if tenant.id == "acme"]
    assert (stored.weight, stored.max_open, stored.max_running) == (3, 9, 1)
    assert (changed, missing) == (stored, None)


async def test_a_refused_tenant_change_changes_nothing(storage):
    await a_tenant(storage, "acme", weight=3)

    def refuse(tenant):
        raise ValueError(tenant.id)

    with pytest.raises(ValueError, match="acme"):
        await storage.access.change_tenant("acme", refuse)

    assert [tenant.weight for tenant in await storage.access.tenants() if tenant.id == "acme"] == [
        3
    ]


@pytest.mark.parametrize("state", ["active", "suspended", "deleted"])
async def test_creating_a_known_tenant_id_changes_nothing(storage, state):
    await a_tenant(storage, "acme", state=state, weight=3, max_open=9)
    before = await storage.access.tenants()

    holder = await storage.access.create_tenant(Tenant(id=TenantId("acme"), name="Mine now"))

    assert (holder.id, holder.state, holder.weight) == ("acme", state, 3)
    assert await storage.access.tenants() == before


async def test_concurrent_creates_of_a_tenant_succeed_once(storage, twin):
    created = await asyncio.gather(
        *[
            side.access.create_tenant(Tenant(id=TenantId("acme"), name=str(number)))
            for number, side in enumerate((storage, twin) * 3)
        ]
    )

    [first] = [number for number, holder in enumerate(created) if holder is None]
    [tenant] = [tenant for tenant in await storage.access.tenants() if tenant.id == "acme"]
    assert tenant.name == str(first)


async def test_deleting_a_tenant_revokes_all_access_to_it(storage):
    for tenant in (ACME, GLOBEX):
        await a_tenant(storage, tenant)
    users = {name: await a_user(storage, name) for name in ("only", "both", "none")}
    users["root"] = await a_user(storage, "root", superadmin=True)
    for name in ("only", "both", "root"):
        await a_member(storage, users[name], ACME)
    await a_member(storage, users["both"], GLOBEX)
    for name, user in users.items():
        await a_session(storage, user, name)
    tokens = {tenant: a_token(tenant=tenant) for tenant in (ACME, GLOBEX)}
    for token in tokens.values():
        await storage.access.create_token(token, hash_of("t"))
    link = await invite(storage, "none", ACME)

    deleted = await storage.access.delete_tenant(ACME)
    again = await storage.access.delete_tenant(ACME)

    assert (deleted, again, await storage.access.delete_tenant("unheard")) == (True, False, False)
    revoked = {
        tenant: (await storage.access.token(token.id, fresh=MINUTE)).token.revoked_at is not None
        for tenant, token in tokens.items()
    }
    assert revoked == {ACME: True, GLOBEX: False}
    assert [member.name for member in await storage.access.members(ALL_TENANTS)] == ["both"]
    signed_in = {name for name, user in users.items() if await storage.access.sessions(user)}
    assert signed_in == {"both", "none", "root"}
    assert not await storage.access.accept_invitation(
        link, users["none"], session=None, entry_of=accepted
    )


async def test_a_revived_tenant_has_no_old_tokens_or_members(storage):
    """In case an operator writes `active` into the row by hand."""
    await a_tenant(storage, ACME)
    token, ada = a_token(tenant=ACME), await a_user(storage, "ada")
    await storage.access.create_token(token, hash_of("t"))
    await a_member(storage, ada, ACME)
    await storage.access.delete_tenant(ACME)

    await a_tenant(storage, ACME, state="active")

    assert not (await storage.access.token(token.id, fresh=MINUTE)).valid
    assert await storage.access.memberships(ada) == []
