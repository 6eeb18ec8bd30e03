"""Users and members: who may make, change and forget them, and what is left of them."""

import pytest

from tests.support.job_builders import enqueue, job
from tests.support.principals import ACME, GLOBEX, PASSWORD, ROOT, admin, an_engine, join, person
from windlass.core.access.roles import Reach, Right, Role, freeze_roles
from windlass.engine.engine import Engine
from windlass.errors import (
    Forbidden,
    MemberNotFound,
    NotAuthenticated,
    OptionInvalid,
    TenantNotFound,
    UserExists,
    UserNotFound,
)
from windlass.telemetry import Telemetry


@pytest.fixture
async def engine(storage, heard):
    return await an_engine(storage, heard)


async def test_only_superadmins_manage_users(engine, storage):
    bob = await engine.users.create(ROOT, "bob")

    for by in (admin(), person(Role.USER)):
        with pytest.raises(Forbidden):
            await engine.users.create(by, "eve", superadmin=True)
        with pytest.raises(Forbidden):
            await engine.users.change(by, bob.id, superadmin=True)
        with pytest.raises(Forbidden):
            await engine.users.delete(by, bob.id)
        with pytest.raises(Forbidden):
            await engine.users.link(by, bob.id)
        with pytest.raises(Forbidden):
            await engine.users.list(by)

    assert [user.name for user in await engine.users.list(ROOT)] == ["bob"]
    assert len([e for e in await storage.access.entries(ACME) if e.outcome == "refused"]) == 8


async def test_a_user_is_found_by_id_or_by_name_in_any_case(engine):
    made = await engine.users.create(ROOT, "Bob@Example.com")

    assert await engine.users.get(ROOT, made.id) == await engine.users.get(ROOT, "BOB@example.com")
    with pytest.raises(UserExists):
        await engine.users.create(ROOT, "bob@EXAMPLE.com")
    with pytest.raises(UserNotFound):
        await engine.users.get(ROOT, "nobody")
    with pytest.raises(OptionInvalid):
        await engine.users.create(ROOT, "  ")


async def test_what_a_deleted_user_created_stays(engine, storage):
    await engine.users.create(ROOT, "ada", password=PASSWORD)
    await join(engine, ACME, "ada", Role.TENANT_ADMIN)
    signed = await engine.sessions.login("ada", PASSWORD)
    made = await engine.tokens.create(signed.principal, "deploy")
    id = await enqueue(storage, tenant=ACME, created_by=signed.principal.actor)

    await engine.users.delete(ROOT, "ada")

    [token] = await engine.tokens.list(ROOT)
    assert (token.id, token.created_by) == (made.token.id, None)
    assert (await job(storage, id)).created_by == signed.principal.actor
    for known in (
        engine.access.authenticate_session(signed.secret),
        engine.access.authenticate_token(made.secret),
    ):
        with pytest.raises(NotAuthenticated):
            await known
    again = await engine.users.create(ROOT, "ada")
    assert f"user:{again.id}" != signed.principal.actor


async def test_a_deleted_users_tokens_can_be_kept(engine):
    await engine.users.create(ROOT, "ada", password=PASSWORD)
    await join(engine, ACME, "ada", Role.TENANT_ADMIN)
    signed = await engine.sessions.login("ada", PASSWORD)
    made = await engine.tokens.create(signed.principal, "deploy")

    await engine.users.delete(ROOT, "ada", keep_tokens=True)

    assert (await engine.access.authenticate_token(made.secret)).id == made.token.id


async def test_changes_of_users_are_recorded(engine, storage):
    bob = await engine.users.create(ROOT, "bob")
    await engine.users.change(ROOT, bob.id, disabled=True)
    await engine.users.delete(ROOT, bob.id)

    deleted, changed, created = await storage.access.entries(None)

    assert created.after == {"name": "bob", "superadmin": False}
    assert (changed.before, changed.after) == (
        {"superadmin": False, "disabled": False},
        {"disabled": True},
    )
    assert deleted.after == {"deleted": True, "tokens_kept": False}
    assert (await engine.audit.verify()).whole


async def test_an_admin_grants_only_roles_it_has_and_only_in_its_tenant(engine, storage):
    for role in (Role.SUPERADMIN, Role.WORKER):
        with pytest.raises(Forbidden):
            await engine.members.invite(admin(), ACME, "eve", role=role)
    with pytest.raises(Forbidden):
        await engine.members.invite(admin(), ACME, "eve", permissions=["exports"])
    with pytest.raises(TenantNotFound):
        await engine.members.invite(admin(), GLOBEX, "eve")
    with pytest.raises(TenantNotFound):
        await engine.members.invite(ROOT, "unheard", "eve")
    with pytest.raises(OptionInvalid):
        await engine.members.invite(ROOT, ACME, "eve", role="emperor")
    with pytest.raises(OptionInvalid):
        await engine.members.invite(ROOT, ACME, "eve", role=Role.WORKER)

    assert await engine.members.list(ROOT) == []
    assert {e.outcome for e in await storage.access.entries(ACME)} == {"refused"}
    assert await storage.access.entries(GLOBEX) == []


async def test_a_members_role_is_changed_and_taken_away(engine, storage):
    await engine.users.create(ROOT, "bob")
    await join(engine, ACME, "bob")

    changed = await engine.members.change(admin(), ACME, "bob", role=Role.TENANT_ADMIN)
    await engine.members.remove(admin(), ACME, changed.user_id)

    assert changed.role == Role.TENANT_ADMIN
    assert await engine.members.list(admin()) == []
    assert (await engine.users.get(ROOT, "bob")).name == "bob"
    for verb in (
        engine.members.remove(admin(), ACME, "bob"),
        engine.members.change(admin(), ACME, "bob", role=Role.USER),
        engine.members.remove(ROOT, GLOBEX, "bob"),
    ):
        with pytest.raises(MemberNotFound):
            await verb


async def test_no_member_with_more_rights_is_changed(storage, heard, engine):
    table = freeze_roles(
        {
            "owner": {Right.MEMBERS_WRITE: Reach.TENANT, Right.JOBS_DISCARD: Reach.TENANT},
            "helper": {Right.MEMBERS_WRITE: Reach.TENANT},
            "superadmin": dict.fromkeys(Right, Reach.ALL),
        }
    )
    own = Engine(storage, engine.settings, Telemetry(heard), roles=table)
    await own.members.invite(ROOT, ACME, "olga", role="owner")
    helper = person("helper")

    with pytest.raises(Forbidden):
        await own.members.remove(helper, ACME, "olga")
    with pytest.raises(Forbidden):
        await own.members.change(helper, ACME, "olga", role="helper")
    await own.members.invite(helper, ACME, "hans", role="helper")
    await own.members.remove(helper, ACME, "hans")
