"""Users and members: created, read, changed, deleted; what they created stays."""

import pytest

from tests.conformance.account_builders import (
    a_member,
    a_session,
    a_token,
    a_user,
    accepted,
    an_entry,
    an_operation,
    hash_of,
    invite,
)
from tests.support.job_builders import ACME, DAY, GLOBEX, MINUTE, START, a_tenant
from windlass.core.access.accounts import User
from windlass.core.access.principal import Membership
from windlass.core.jobs.models import ALL_TENANTS, Scope
from windlass.ids import new_user_id


async def test_a_user_is_read_by_id_and_by_name(storage):
    id = await a_user(storage, "ada", superadmin=True)

    stored = await storage.access.user(id)
    found = await storage.access.user_by_name("ada")

    assert stored == found.user
    assert (stored.name, stored.superadmin, stored.disabled, stored.has_password) == (
        "ada",
        True,
        False,
        True,
    )
    assert stored.created_at == START
    assert found.password_hash
    assert await storage.access.user_by_name("eve") is None
    assert await storage.access.user(new_user_id()) is None


async def test_user_names_are_unique_and_case_sensitive(storage):
    await a_user(storage, "ada")

    assert not await storage.access.create_user(User(id=new_user_id(), name="ada"))
    assert await storage.access.create_user(User(id=new_user_id(), name="Ada"))
    assert await storage.access.user_by_name("ada ") is None


async def test_users_are_listed_by_name_in_pages(storage):
    for name in ("cleo", "ada", "bob"):
        await a_user(storage, name)

    first = await storage.access.users(most=2)
    rest = await storage.access.users(after=first[-1].name, most=2)

    assert [user.name for user in first + rest] == ["ada", "bob", "cleo"]


async def test_a_user_update_changes_only_the_given_fields(storage):
    id = await a_user(storage)

    assert await storage.access.update_user(id, superadmin=True)
    assert await storage.access.update_user(id, disabled=True)

    user = await storage.access.user(id)
    assert (user.superadmin, user.disabled) == (True, True)
    assert not await storage.access.update_user(new_user_id(), disabled=True)


async def test_disabling_a_user_ends_its_sessions(storage):
    id = await a_user(storage)
    await a_session(storage, id)

    await storage.access.update_user(id, disabled=True)
    await storage.access.update_user(id, disabled=False)

    assert await storage.access.sessions(id) == []


async def test_a_new_password_ends_links_and_all_other_sessions(storage):
    id = await a_user(storage)
    kept = await a_session(storage, id, "one")
    await a_session(storage, id, "two")
    await storage.access.create_link(hash_of("l"), "password", id, expires=DAY)

    assert await storage.access.set_password(id, "another", but=kept)

    assert [session.id for session in await storage.access.sessions(id)] == [kept]
    assert await storage.access.use_link(hash_of("l"), "password") is None
    assert (await storage.access.user_by_name("ada")).password_hash == "another"


async def test_a_rehashed_password_ends_no_session(storage):
    id = await a_user(storage)
    kept = await a_session(storage, id)

    await storage.access.rehash_password(id, "stronger")

    assert [session.id for session in await storage.access.sessions(id)] == [kept]


async def test_a_change_and_its_audit_entry_are_atomic(storage):
    id = await a_user(storage)

    await storage.access.update_user(id, superadmin=True, entry=an_entry())
    await storage.access.update_user(new_user_id(), superadmin=True, entry=an_entry())

    assert len(await storage.access.entries(None)) == 1


@pytest.mark.parametrize("revoke", [True, False])
async def test_objects_of_a_deleted_user_stay_without_its_name(storage, revoke):
    for tenant in (ACME, GLOBEX):
        await a_tenant(storage, tenant)
    id = await a_user(storage)
    await a_member(storage, id, ACME)
    waiting = await invite(storage, "ada", GLOBEX)
    await a_session(storage, id)
    await storage.access.create_link(hash_of("l"), "login", id, expires=DAY)
    token = a_token(created_by=id)
    await storage.access.create_token(token, hash_of("t"))
    operation = an_operation(created_by=id)
    await storage.jobs.create_operation(operation, [])

    assert await storage.access.delete_user(id, revoke_tokens=revoke, entry=an_entry())

    assert await storage.access.user(id) is None
    assert await storage.access.members(ALL_TENANTS) == []
    assert await storage.access.session(hash_of("s"), fresh=MINUTE) is None
    assert await storage.access.use_link(hash_of("l"), "login") is None
    again = await a_user(storage)
    assert not await storage.access.accept_invitation(
        waiting, again, session=None, entry_of=accepted
    )
    [kept] = await storage.access.tokens(ALL_TENANTS)
    assert (kept.id, kept.created_by, kept.revoked_at is not None) == (token.id, None, revoke)
    assert (await storage.jobs.operation(ALL_TENANTS, operation.id)).created_by is None
    assert len(await storage.access.entries(None)) == 1
    assert not await storage.access.delete_user(id)


async def test_a_member_has_a_role_in_each_tenant(storage):
    for tenant in (ACME, GLOBEX):
        await a_tenant(storage, tenant)
    ada, bob = await a_user(storage, "ada"), await a_user(storage, "bob")

    for user, tenant in ((ada, ACME), (ada, GLOBEX), (bob, ACME)):
        await a_member(storage, user, tenant)
    assert await storage.access.update_member(ada, ACME, "tenant_admin", ["exports"])

    members = await storage.access.members(Scope(ACME))
    assert [(m.name, m.role, m.permissions) for m in members] == [
        ("ada", "tenant_admin", {"exports"}),
        ("bob", "user", frozenset()),
    ]
    assert await storage.access.memberships(ada) == [
        Membership(ACME, "tenant_admin", frozenset({"exports"})),
        Membership(GLOBEX, "user"),
    ]
    assert len(await storage.access.members(ALL_TENANTS, user=ada)) == 2


async def test_a_role_change_needs_an_existing_member(storage):
    for tenant in (ACME, GLOBEX):
        await a_tenant(storage, tenant)
    ada = await a_user(storage)
    await a_member(storage, ada, GLOBEX)

    assert not await storage.access.update_member(ada, ACME, "user", entry=an_entry(ACME))
    assert not await storage.access.update_member(
        new_user_id(), GLOBEX, "user", entry=an_entry(GLOBEX)
    )

    assert await storage.access.memberships(ada) == [Membership(GLOBEX, "user")]
    assert await storage.access.entries(ACME) == []


async def test_a_role_in_a_deleted_tenant_does_not_count(storage):
    await a_tenant(storage, ACME)
    ada = await a_user(storage)
    await a_member(storage, ada, ACME)

    await a_tenant(storage, ACME, state="deleted")

    assert await storage.access.memberships(ada) == []


async def test_a_member_is_removed_once(storage):
    await a_tenant(storage, ACME)
    ada = await a_user(storage)
    await a_member(storage, ada, ACME)

    assert await storage.access.delete_member(ada, ACME)
    assert not await storage.access.delete_member(ada, ACME)
    assert await storage.access.memberships(ada) == []


async def test_an_installation_has_an_administrator_once_one_has_signed_in(storage):
    await a_session(storage, await a_user(storage, "ada"))
    root = await a_user(storage, "root", superadmin=True)
    before = await storage.access.has_superadmin()

    await a_session(storage, root, "r")
    signed_in = await storage.access.has_superadmin()
    await storage.access.update_user(root, disabled=True)

    assert (before, signed_in, await storage.access.has_superadmin()) == (False, True, False)
