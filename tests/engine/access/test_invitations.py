"""Invitations: a role is pending until its own link is opened by its owner, and nothing else."""

from dataclasses import replace

import pytest

from tests.support.principals import (
    ACME,
    ANONYMOUS,
    GLOBEX,
    PASSWORD,
    ROOT,
    admin,
    an_engine,
    join,
    person,
)
from windlass.core.access.roles import Reach, Right, Role, freeze_roles, scope_of
from windlass.core.jobs.models import ALL_TENANTS
from windlass.engine.access.users import LINK_LIFETIMES
from windlass.engine.engine import Engine
from windlass.errors import (
    Forbidden,
    InvitationInvalid,
    LinkInvalid,
    LoginFailed,
    MemberExists,
    MemberNotFound,
    NotAuthenticated,
    OptionInvalid,
    SuperadminByInvitation,
    UserExists,
)
from windlass.telemetry import Telemetry

OTHER = "another horse battery"


@pytest.fixture
async def engine(storage, heard):
    return await an_engine(storage, heard)


async def test_a_new_user_sets_a_password_by_the_link_and_has_the_role(engine):
    invited = await engine.members.invite(admin(), ACME, "Bob@example.com")

    with pytest.raises(OptionInvalid):  # too short, and the link is not used up
        await engine.invitations.accept_as_new(invited.link.secret, "short")
    signed = await engine.invitations.accept_as_new(invited.link.secret, PASSWORD)

    assert signed.principal.tenants == {ACME}
    [member] = await engine.members.list(admin())
    assert (member.name, member.role, member.pending) == ("bob@example.com", Role.USER, False)
    assert member.user_id == signed.principal.id
    assert (await engine.sessions.login("bob@example.com", PASSWORD)).principal.tenants == {ACME}
    with pytest.raises(InvitationInvalid):
        await engine.invitations.accept_as_new(invited.link.secret, PASSWORD)


async def test_a_role_for_an_account_is_pending_until_a_session_of_it_accepts(engine):
    await engine.users.create(ROOT, "bob", password=PASSWORD)
    signed = await engine.sessions.login("bob", PASSWORD)
    invited = await engine.members.invite(admin(), ACME, "bob", role=Role.TENANT_ADMIN)
    before = await engine.access.authenticate_session(signed.secret)

    await engine.invitations.accept(before, invited.link.secret, keep=signed.secret)

    assert before.memberships == ()
    assert (await engine.access.authenticate_session(signed.secret)).tenants == {ACME}


async def test_an_invitation_is_accepted_by_name_and_password_too(engine):
    await engine.users.create(ROOT, "bob", password=PASSWORD)
    link = (await engine.members.invite(admin(), ACME, "bob")).link.secret

    with pytest.raises(LoginFailed):
        await engine.invitations.accept_by_login(link, "bob", "wrong password")
    signed = await engine.invitations.accept_by_login(link, "bob", PASSWORD)

    assert (await engine.access.authenticate_session(signed.secret)).tenants == {ACME}


async def test_no_other_account_accepts_an_invitation(engine):
    await engine.users.create(ROOT, "bob", password=PASSWORD)
    await engine.users.create(ROOT, "eve", password=PASSWORD)
    eve = await engine.sessions.login("eve", PASSWORD)
    link = (await engine.members.invite(admin(), ACME, "bob")).link.secret

    with pytest.raises(InvitationInvalid):
        await engine.invitations.accept(eve.principal, link)
    with pytest.raises(InvitationInvalid):
        await engine.invitations.accept_by_login(link, "eve", PASSWORD)
    for by in (admin(), ROOT, ANONYMOUS):
        with pytest.raises(Forbidden):
            await engine.invitations.accept(by, link)

    # A refused caller gets no session, and the link still works.
    assert [each.id for each in await engine.sessions.list(eve.principal)] == [eve.id]
    await engine.invitations.accept_by_login(link, "bob", PASSWORD)


async def test_an_earlier_inviter_gains_nothing_from_later_roles(engine):
    """The first inviter may hold a link, a session and the password of the account."""
    first = (await engine.members.invite(admin(), ACME, "bob")).link
    second = (await engine.members.invite(admin(GLOBEX), GLOBEX, "bob")).link
    squatter = await engine.invitations.accept_as_new(first.secret, PASSWORD)

    wide = await engine.users.invite(ROOT, "bob")
    again = (await engine.members.invite(admin(), ACME, "bobby")).link

    for secret in (first.secret, again.secret):
        with pytest.raises(InvitationInvalid):
            await engine.invitations.accept(squatter.principal, secret, keep=squatter.secret)
    # The second inviter's link opens nothing of the first tenant either.
    with pytest.raises(InvitationInvalid):
        await engine.invitations.accept_as_new(second.secret, OTHER)
    for signed in (squatter, await engine.sessions.login("bob", PASSWORD)):
        assert (await engine.access.authenticate_session(signed.secret)).tenants == {ACME}

    # An administrator gives the account to its owner, who then accepts what was offered.
    reset = await engine.users.link(ROOT, "bob", "password")
    bob = await engine.sessions.set_password(reset.secret, OTHER)
    with pytest.raises(NotAuthenticated):
        await engine.access.authenticate_session(squatter.secret)
    with pytest.raises(LoginFailed):
        await engine.sessions.login("bob", PASSWORD)
    for link in (second, wide):
        await engine.invitations.accept(bob.principal, link.secret, keep=bob.secret)
    owner = await engine.access.authenticate_session(bob.secret)
    assert (scope_of(owner), owner.tenants) == (ALL_TENANTS, {ACME, GLOBEX})


async def test_accepting_a_role_elsewhere_voids_links_and_sessions_made_before(engine):
    await engine.users.create(ROOT, "bob", password=PASSWORD)
    await join(engine, ACME, "bob")
    old = await engine.sessions.login("bob", PASSWORD)
    links = [await engine.users.link(ROOT, "bob", purpose) for purpose in ("login", "password")]
    own = await engine.sessions.login("bob", PASSWORD)

    invited = await engine.members.invite(admin(GLOBEX), GLOBEX, "bob")
    await engine.invitations.accept(own.principal, invited.link.secret, keep=own.secret)

    with pytest.raises(NotAuthenticated):
        await engine.access.authenticate_session(old.secret)
    with pytest.raises(LinkInvalid):
        await engine.sessions.login_with_link(links[0].secret)
    with pytest.raises(LinkInvalid):
        await engine.sessions.set_password(links[1].secret, OTHER)
    assert (await engine.access.authenticate_session(own.secret)).tenants == {ACME, GLOBEX}


async def test_inviting_looks_the_same_whether_there_is_an_account_or_not(engine, storage):
    await engine.users.create(ROOT, "boss", superadmin=True, password=PASSWORD)
    await engine.users.create(ROOT, "there")
    await engine.users.create(ROOT, "disabled")
    await engine.users.change(ROOT, "disabled", disabled=True)
    await join(engine, GLOBEX, "there")
    names = ("boss", "there", "disabled", "new")

    invited = [await engine.members.invite(admin(), ACME, name) for name in names]

    alike = {replace(each.member, name="", created_at=None) for each in invited}
    assert len(alike) == 1
    assert all(each.member.pending and each.member.user_id is None for each in invited)
    assert {(each.link.purpose, each.link.lasts) for each in invited} == {
        ("invitation", LINK_LIFETIMES["invitation"])
    }
    listed = await engine.members.list(admin())
    assert listed == sorted((each.member for each in invited), key=lambda member: member.name)
    entries = [
        each for each in await storage.access.entries(ACME) if each.action == "members.write"
    ]
    assert {each.target_id for each in entries} == set(names)
    for name in ("boss", "there", "disabled", "new"):  # the id of an account finds no member
        changed = await engine.members.change(admin(), ACME, name, role=Role.TENANT_ADMIN)
        assert (changed.pending, changed.user_id) == (True, None)


async def test_inviting_again_creates_a_new_link_and_voids_the_old_one(engine):
    first = await engine.members.invite(admin(), ACME, "bob")
    second = await engine.members.invite(admin(), ACME, "bob", role=Role.TENANT_ADMIN)

    with pytest.raises(InvitationInvalid):
        await engine.invitations.accept_as_new(first.link.secret, PASSWORD)
    signed = await engine.invitations.accept_as_new(second.link.secret, PASSWORD)

    assert signed.principal.memberships[0].role == Role.TENANT_ADMIN
    with pytest.raises(MemberExists):
        await engine.members.invite(admin(), ACME, "bob")


async def test_a_pending_member_is_removed_with_its_link(engine, storage):
    invited = await engine.members.invite(admin(), ACME, "bob")

    await engine.members.remove(admin(), ACME, "BOB")

    assert await engine.members.list(admin()) == []
    with pytest.raises(InvitationInvalid):
        await engine.invitations.accept_as_new(invited.link.secret, PASSWORD)
    with pytest.raises(MemberNotFound):
        await engine.members.remove(admin(), ACME, "bob")
    assert (await engine.audit.verify(ACME)).whole


async def test_an_invitation_expires(engine, clock):
    invited = await engine.members.invite(admin(), ACME, "bob")

    await clock.advance(invited.link.lasts)

    assert await engine.members.list(admin()) == []
    with pytest.raises(InvitationInvalid):
        await engine.invitations.accept_as_new(invited.link.secret, PASSWORD)


async def test_an_invitation_beyond_ones_rights_is_not_replaced(storage, heard, engine):
    table = freeze_roles(
        {
            "owner": {Right.MEMBERS_WRITE: Reach.TENANT, Right.JOBS_DISCARD: Reach.TENANT},
            "helper": {Right.MEMBERS_WRITE: Reach.TENANT},
            "superadmin": dict.fromkeys(Right, Reach.ALL),
        }
    )
    own = Engine(storage, engine.settings, Telemetry(heard), roles=table)
    await own.members.invite(ROOT, ACME, "olga", role="owner")

    with pytest.raises(Forbidden):
        await own.members.invite(person("helper"), ACME, "olga", role="helper")


async def test_an_account_becomes_superadmin_only_by_its_own_session(engine, storage):
    await engine.users.create(ROOT, "bob", password=PASSWORD)
    for by in (admin(), person(Role.USER)):
        with pytest.raises(Forbidden):
            await engine.users.invite(by, "bob")
    with pytest.raises(SuperadminByInvitation):
        await engine.users.change(ROOT, "bob", superadmin=True)

    link = await engine.users.invite(ROOT, "bob")
    pending = await engine.users.get(ROOT, "bob")
    signed = await engine.invitations.accept_by_login(link.secret, "bob", PASSWORD)

    assert not pending.superadmin
    assert scope_of(await engine.access.authenticate_session(signed.secret)) == ALL_TENANTS
    with pytest.raises(UserExists):
        await engine.users.invite(ROOT, "bob")
    accepted, offered, *_ = await storage.access.entries(None)
    assert (offered.after, accepted.after["role"]) == (
        {"name": "bob", "superadmin": True, "pending": True},
        "superadmin",
    )
