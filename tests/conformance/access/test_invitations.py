"""upsert_invitation, invitations, update_invitation, delete_invitation, accept_invitation and
accept_invitation_as_new_user."""

import asyncio

from tests.conformance.account_builders import (
    a_member,
    a_session,
    a_user,
    accepted,
    hash_of,
    invite,
)
from tests.conformance.races.race import ROUNDS, race
from tests.support.job_builders import ACME, DAY, GLOBEX, HOUR, MINUTE, START, a_tenant
from windlass.core.access.accounts import Invitation
from windlass.core.access.principal import Membership
from windlass.core.jobs.models import ALL_TENANTS, Scope
from windlass.ids import new_user_id
from windlass.storage.access.invitations import NewAccount


async def accept(storage, hash, user, session=None):
    return await storage.access.accept_invitation(hash, user, session=session, entry_of=accepted)


async def accept_as_new(storage, hash):
    account = NewAccount(new_user_id(), "$argon2id$x")
    found = await storage.access.accept_invitation_as_new_user(hash, account, entry_of=accepted)
    return account.id if found else None


async def test_a_tenants_invitations_are_listed_until_they_expire(storage, clock):
    for tenant in (ACME, GLOBEX):
        await a_tenant(storage, tenant)
    await invite(storage, "bob", ACME, "tenant_admin", permissions=["exports"])
    await invite(storage, "ada", ACME, expires=DAY)
    await invite(storage, "ada", GLOBEX, expires=DAY)
    await invite(storage, "ada", role="superadmin", expires=DAY)

    ada, bob = await storage.access.invitations(Scope(ACME))
    await clock.advance(HOUR)

    assert (ada.name, ada.tenant, ada.role, ada.created_at) == ("ada", ACME, "user", START)
    assert (bob.role, bob.permissions) == ("tenant_admin", {"exports"})
    assert [each.name for each in await storage.access.invitations(Scope(ACME))] == ["ada"]
    assert await storage.access.invitations(Scope(ACME), name="bob") == []
    assert [each.tenant for each in await storage.access.invitations(ALL_TENANTS)] == [ACME, GLOBEX]


async def test_an_invitation_needs_an_existing_tenant_and_a_non_member(storage):
    await a_tenant(storage, ACME)
    await a_tenant(storage, GLOBEX, state="deleted")
    await a_member(storage, await a_user(storage, "ada"), ACME)

    for tenant, name in ((GLOBEX, "bob"), ("unheard", "bob"), (ACME, "ada")):
        offer = Invitation(tenant=tenant, name=name, role="user")
        assert await storage.access.upsert_invitation(offer, hash_of(name), expires=HOUR) is None

    assert await storage.access.invitations(ALL_TENANTS) == []


async def test_an_invitation_is_accepted_once_by_the_named_account(storage):
    await a_tenant(storage, ACME)
    hash = await invite(storage, "ada", ACME, "tenant_admin", permissions=["exports"])
    ada, eve = await a_user(storage, "ada"), await a_user(storage, "eve")

    by_eve = await accept(storage, hash, eve)
    by_ada = await accept(storage, hash, ada)
    again = await accept(storage, hash, ada)

    assert (by_eve, again) == (None, None)
    assert (by_ada.name, by_ada.tenant, by_ada.role) == ("ada", ACME, "tenant_admin")
    role = Membership(ACME, "tenant_admin", frozenset({"exports"}))
    assert (await storage.access.memberships(ada), await storage.access.memberships(eve)) == (
        [role],
        [],
    )
    assert len(await storage.access.entries(ACME)) == 1


async def test_accepting_ends_links_and_other_sessions_of_the_account(storage):
    await a_tenant(storage, ACME)
    ada, bob = await a_user(storage, "ada"), await a_user(storage, "bob")
    _, own, of_bob = [
        await a_session(storage, user, secret)
        for user, secret in ((ada, "1"), (ada, "2"), (bob, "3"))
    ]
    for number, purpose in enumerate(("login", "password")):
        await storage.access.create_link(hash_of(f"l{number}"), purpose, ada, expires=DAY)

    await accept(storage, await invite(storage, "ada", ACME), ada, session=own)

    assert [session.id for session in await storage.access.sessions(ada)] == [own]
    assert [session.id for session in await storage.access.sessions(bob)] == [of_bob]
    assert await storage.access.use_link(hash_of("l0"), "login") is None
    assert await storage.access.use_link(hash_of("l1"), "password") is None


async def test_accepting_makes_a_superadmin(storage):
    ada = await a_user(storage, "ada")
    hash = await invite(storage, "ada", role="superadmin")
    before = await storage.access.user(ada)

    await accept(storage, hash, ada)

    assert (before.superadmin, (await storage.access.user(ada)).superadmin) == (False, True)
    assert len(await storage.access.entries(None)) == 1


async def test_a_revoked_superadmin_invitation_is_void(storage):
    await a_tenant(storage, ACME)
    ada = await a_user(storage, "ada")
    hash = await invite(storage, "ada", role="superadmin")
    other = await invite(storage, "ada", ACME)

    await storage.access.update_user(ada, superadmin=False)

    assert await accept(storage, hash, ada) is None
    assert await accept(storage, other, ada)


async def test_an_invitation_is_void_once_expired_revoked_or_replaced(storage, clock):
    for tenant in (ACME, GLOBEX):
        await a_tenant(storage, tenant)
    await a_tenant(storage, "gone")
    ada = await a_user(storage, "ada")
    over = await invite(storage, "ada", GLOBEX, expires=MINUTE)
    await clock.advance(MINUTE)
    first = await invite(storage, "ada", ACME)
    second = await invite(storage, "ada", ACME)
    of_deleted = await invite(storage, "ada", "gone")
    await a_tenant(storage, "gone", state="deleted")

    replaced = await accept(storage, first, ada)
    assert await storage.access.delete_invitation(ACME, "ada")
    assert not await storage.access.delete_invitation(ACME, "ada")

    for hash in (over, second, of_deleted, hash_of("never")):
        assert await accept(storage, hash, ada) is None
        assert await accept_as_new(storage, hash) is None
    assert (replaced, await storage.access.memberships(ada)) == (None, [])


async def test_the_role_of_an_invitation_can_be_changed(storage):
    await a_tenant(storage, ACME)
    ada = await a_user(storage, "ada")
    hash = await invite(storage, "ada", ACME)

    changed = await storage.access.update_invitation(ACME, "ada", "tenant_admin", ["exports"])
    nobody = await storage.access.update_invitation(ACME, "bob", "tenant_admin")
    await accept(storage, hash, ada)

    assert (changed.role, changed.permissions, nobody) == ("tenant_admin", {"exports"}, None)
    assert [each.role for each in await storage.access.memberships(ada)] == ["tenant_admin"]


async def test_a_new_user_gets_an_account_with_the_invited_role_only(storage):
    await a_tenant(storage, ACME)
    ada = await a_user(storage, "ada")
    for_ada, for_bob = await invite(storage, "ada", ACME), await invite(storage, "bob", ACME)
    wide = await invite(storage, "cleo", role="superadmin")

    refused = await accept_as_new(storage, for_ada)
    bob = await accept_as_new(storage, for_bob)
    again = await accept_as_new(storage, for_bob)
    cleo = await accept_as_new(storage, wide)

    assert (refused, again) == (None, None)
    created = await storage.access.user_by_name("bob")
    assert (created.user.id, created.user.superadmin, created.password_hash) == (
        bob,
        False,
        "$argon2id$x",
    )
    assert await storage.access.memberships(bob) == [Membership(ACME, "user")]
    assert await storage.access.memberships(ada) == []
    assert (
        (await storage.access.user(cleo)).superadmin,
        await storage.access.memberships(cleo),
    ) == (True, [])
    assert await accept(storage, for_ada, ada)  # the refused user did not use it up


async def test_concurrent_accepts_succeed_once(storage, twin):
    await a_tenant(storage, ACME)
    ada = await a_user(storage, "ada")
    hash = await invite(storage, "ada", ACME)

    results = await asyncio.gather(*[accept(side, hash, ada) for side in (storage, twin) * 4])

    assert len([each for each in results if each]) == 1
    assert len(await storage.access.entries(ACME)) == 1


async def test_concurrent_accepts_of_two_links_for_one_name_create_one_account(storage, twin):
    for tenant in (ACME, GLOBEX):
        await a_tenant(storage, tenant)
    for number in range(ROUNDS):
        mine = await invite(storage, f"u{number}", ACME)
        foreign = await invite(storage, f"u{number}", GLOBEX)

        created = await race(number, accept_as_new(storage, mine), accept_as_new(twin, foreign))

        [account] = [each for each in created if each]
        assert (await storage.access.user_by_name(f"u{number}")).user.id == account
        assert len(await storage.access.memberships(account)) == 1
        left = foreign if created[0] else mine
        assert await accept(storage, left, account)  # the other link was not used up
