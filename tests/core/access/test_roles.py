"""Roles and rights: the rights of each role, which no request can widen."""

from dataclasses import replace
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.principals import ANONYMOUS
from windlass.core.access.grants import has_permission, may_enqueue, may_grant
from windlass.core.access.principal import Membership, Principal, local
from windlass.core.access.roles import (
    ROLES,
    AccessBounds,
    Reach,
    Right,
    Role,
    bounds_of,
    freeze_roles,
    is_audited,
    may,
    reach_of,
    scope_of,
)
from windlass.core.definitions.definition import Definition
from windlass.core.jobs.models import ALL_TENANTS, Scope
from windlass.errors import Forbidden, TenantNeeded, TenantNotFound
from windlass.ids import DefinitionKey, TenantId

ACME, GLOBEX = TenantId("acme"), TenantId("globex")


def who(role: str, tenant: str | None = ACME, **changes) -> Principal:
    created = Principal(
        kind="session", id=UUID(int=7), name="ada", memberships=(Membership(tenant, role),)
    )
    return replace(created, **changes)


SUPERADMIN = who(Role.SUPERADMIN, None)
ADMIN = who(Role.TENANT_ADMIN)
USER = who(Role.USER)
WORKER = who(Role.WORKER, None, kind="token")


@pytest.mark.parametrize("tenant", [None, ACME, GLOBEX, "system"])
@pytest.mark.parametrize("right", [right for right in Right if right is not Right.WORKER_WORK])
def test_sec_06_a_superadmin_may_do_everything_everywhere(right, tenant):
    assert may(SUPERADMIN, right, tenant=tenant)


def test_sec_07_a_tenant_admin_reads_writes_and_creates_in_its_own_tenant():
    for right in (
        Right.JOBS_READ,
        Right.JOBS_ENQUEUE,
        Right.JOBS_CANCEL,
        Right.JOBS_RETRY,
        Right.TRIGGERS_READ,
        Right.TRIGGERS_WRITE,
    ):
        assert may(ADMIN, right, tenant=ACME)
        assert not may(ADMIN, right, tenant=GLOBEX)
        assert not may(ADMIN, right)


def test_sec_07_a_tenant_admin_deletes_no_jobs_and_manages_no_definitions():
    for right in (Right.JOBS_DISCARD, Right.DEFINITIONS_WRITE):
        assert not may(ADMIN, right, tenant=ACME)


def test_sec_08_a_user_submits_and_sees_and_cancels_its_own_jobs():
    assert may(USER, Right.JOBS_ENQUEUE, tenant=ACME)
    for right in (Right.JOBS_READ, Right.JOBS_CANCEL):
        assert may(USER, right, tenant=ACME, owner=USER.actor)
        assert not may(USER, right, tenant=ACME, owner="user:somebody else")
        assert not may(USER, right, tenant=ACME)
        assert not may(USER, right, tenant=GLOBEX, owner=USER.actor)


def test_sec_08_a_user_has_no_other_write():
    changes = {right for right in Right if not right.endswith(".read")}

    assert {right for right in changes if reach_of(USER, right, ACME)} == {
        Right.JOBS_ENQUEUE,
        Right.JOBS_CANCEL,
    }


def test_sec_09_an_owner_may_cancel_a_job_it_may_otherwise_only_read():
    for right in (Right.JOBS_RETRY, Right.JOBS_RUN_NOW, Right.JOBS_DISCARD):
        assert not may(USER, right, tenant=ACME, owner=USER.actor)
    assert may(USER, Right.JOBS_CANCEL, tenant=ACME, owner=USER.actor)


def test_sec_10_definitions_are_managed_by_superadmins_alone():
    holders = {role for role, row in ROLES.items() if Right.DEFINITIONS_WRITE in row}

    assert holders == {Role.SUPERADMIN}


def test_sec_11_history_is_read_by_admins_and_owners_and_never_written():
    assert may(SUPERADMIN, Right.HISTORY_READ, tenant=ACME)
    assert may(ADMIN, Right.HISTORY_READ, tenant=ACME)
    assert may(USER, Right.HISTORY_READ, tenant=ACME, owner=USER.actor)
    assert not may(USER, Right.HISTORY_READ, tenant=ACME, owner="somebody else")
    assert [right for right in Right if right.startswith("history.")] == [Right.HISTORY_READ]


def test_sec_12_logs_are_written_by_no_right_and_nothing_is_public():
    assert [right for right in Right if right.startswith("logs.")] == [Right.LOGS_READ]
    assert not any(may(ANONYMOUS, right, tenant=t) for right in Right for t in (None, ACME))


def test_sec_13_an_embedding_program_may_define_roles():
    table = freeze_roles({"auditor": {Right.AUDIT_READ: Reach.TENANT}})
    auditor = who("auditor")

    assert may(auditor, Right.AUDIT_READ, tenant=ACME, table=table)
    assert not may(auditor, Right.AUDIT_READ, tenant=ACME)
    assert not may(ADMIN, Right.JOBS_READ, tenant=ACME, table=table)
    with pytest.raises(TypeError):
        table["auditor"]["jobs.read"] = Reach.ALL


def definition(**about) -> Definition:
    return Definition(key=DefinitionKey("export"), title="Export", **about)


def test_sec_14_a_required_permission_is_checked_in_the_jobs_tenant():
    restricted = definition(requires_permission="exports")
    permitted = replace(USER, memberships=(Membership(ACME, Role.USER, frozenset({"exports"})),))

    assert may_enqueue(USER, definition(), ACME)
    assert not may_enqueue(USER, restricted, ACME)
    assert not may_enqueue(ADMIN, restricted, ACME)
    assert may_enqueue(permitted, restricted, ACME)
    assert not may_enqueue(permitted, restricted, GLOBEX)
    assert may_enqueue(SUPERADMIN, restricted, GLOBEX)
    assert not may_enqueue(WORKER, definition(), ACME)


def test_a_required_permission_may_be_a_right():
    restricted = definition(requires_permission=Right.JOBS_RETRY)

    assert may_enqueue(ADMIN, restricted, ACME)
    assert not may_enqueue(USER, restricted, ACME)


def test_a_narrowed_token_has_only_the_permissions_it_names():
    membership = (Membership(ACME, Role.USER, frozenset({"exports"})),)
    narrowed = replace(USER, memberships=membership, rights=frozenset({Right.JOBS_ENQUEUE}))

    assert not has_permission(narrowed, "exports", ACME)
    named = replace(narrowed, rights=frozenset({Right.JOBS_ENQUEUE, "exports"}))
    assert has_permission(named, "exports", ACME)


def test_system_definitions_need_access_to_all_tenants():
    assert not may_enqueue(ADMIN, definition(system=True), ACME)
    assert may_enqueue(SUPERADMIN, definition(system=True), ACME)


def test_only_a_worker_has_worker_rights_and_no_others():
    assert may(WORKER, Right.WORKER_WORK)
    assert [right for right in Right if reach_of(WORKER, right, None)] == [Right.WORKER_WORK]
    assert not may(SUPERADMIN, Right.WORKER_WORK)


def test_a_right_of_no_role_is_refused_to_everyone():
    assert not may(SUPERADMIN, "jobs.launder")


def test_a_tenant_bound_superadmin_token_stays_in_its_tenant():
    bound = who(Role.SUPERADMIN, ACME)

    assert may(bound, Right.JOBS_DISCARD, tenant=ACME)
    assert not may(bound, Right.JOBS_DISCARD, tenant=GLOBEX)
    assert not may(bound, Right.DEFINITIONS_WRITE)
    assert scope_of(bound) == Scope(ACME)


def test_a_tenant_role_without_a_tenant_has_no_rights():
    loose = who(Role.TENANT_ADMIN, None)

    assert not any(may(loose, right, tenant=t) for right in Right for t in (None, ACME))


def test_a_request_can_only_narrow_the_scope_of_its_credential():
    two = replace(USER, memberships=(Membership(ACME, "user"), Membership(GLOBEX, "user")))

    assert scope_of(SUPERADMIN) == ALL_TENANTS
    assert scope_of(SUPERADMIN, "acme") == Scope(ACME)
    assert scope_of(ADMIN) == scope_of(ADMIN, "acme") == Scope(ACME)
    assert scope_of(two, "globex") == Scope(GLOBEX)
    with pytest.raises(TenantNeeded):
        scope_of(two)
    with pytest.raises(Forbidden):
        scope_of(ANONYMOUS)


def test_foreign_and_unknown_tenants_get_the_same_error():
    results = []
    for tenant in ("globex", "unheard"):
        with pytest.raises(TenantNotFound) as not_found:
            scope_of(ADMIN, tenant)
        results.append(str(not_found.value).replace(tenant, "…"))

    assert results[0] == results[1]


def test_bounds_name_the_owner_when_only_own_jobs_are_reachable():
    assert bounds_of(USER, Right.JOBS_READ) == AccessBounds(Scope(ACME), USER.actor)
    assert bounds_of(ADMIN, Right.JOBS_READ) == AccessBounds(Scope(ACME))
    assert bounds_of(SUPERADMIN, Right.JOBS_READ) == AccessBounds(ALL_TENANTS)
    with pytest.raises(Forbidden):
        bounds_of(USER, Right.JOBS_RETRY)


def test_changes_are_audited_and_enqueues_are_not():
    assert is_audited(Right.JOBS_CANCEL)
    assert is_audited(Right.JOBS_REVEAL)
    assert not is_audited(Right.JOBS_READ)
    assert not is_audited(Right.JOBS_ENQUEUE)
    assert not is_audited(Right.EVENTS_EMIT)
    assert not is_audited(Right.WORKER_WORK)


def test_a_tenant_admin_cannot_grant_more_than_it_has():
    assert may_grant(ADMIN, Role.USER, ACME)
    assert may_grant(ADMIN, Role.TENANT_ADMIN, ACME)
    assert not may_grant(ADMIN, Role.TENANT_ADMIN, GLOBEX)
    assert not may_grant(ADMIN, Role.SUPERADMIN, ACME)
    assert not may_grant(ADMIN, Role.SUPERADMIN, None)
    assert not may_grant(ADMIN, Role.WORKER, None)
    assert not may_grant(ADMIN, Role.USER, ACME, permissions=["exports"])
    assert not may_grant(USER, Role.TENANT_ADMIN, ACME)
    assert not may_grant(ADMIN, "unheard", ACME)


def test_an_unrestricted_superadmin_grants_every_role():
    narrowed = replace(SUPERADMIN, rights=frozenset({Right.TOKENS_WRITE, Right.JOBS_READ}))

    assert all(may_grant(SUPERADMIN, role, None, permissions=["any"]) for role in Role)
    assert may_grant(local(), Role.WORKER, None)
    assert not may_grant(narrowed, Role.SUPERADMIN, None)
    assert not may_grant(narrowed, Role.WORKER, None)
    assert not may_grant(narrowed, Role.SUPERADMIN, None, rights=[Right.JOBS_CANCEL])
    assert may_grant(narrowed, Role.SUPERADMIN, None, rights=[Right.JOBS_READ])


# No sequence of calls leads out of a tenant.

TENANTS = st.sampled_from([None, "acme", "globex", "system", "default", ""])
RIGHTS = st.sampled_from([*Right, "exports"])
NARROWED = st.none() | st.frozensets(RIGHTS)


@st.composite
def bound_to_acme(draw) -> Principal:
    """A caller bound to one tenant, with any role, narrowed or not."""
    roles = draw(st.lists(st.sampled_from([*Role, "unheard"]), min_size=1, max_size=3))
    permissions = draw(st.frozensets(st.sampled_from(["exports", "imports"])))
    return Principal(
        kind=draw(st.sampled_from(["session", "token"])),
        id=UUID(int=draw(st.integers(1, 3))),
        name="ada",
        memberships=tuple(Membership(ACME, role, permissions) for role in roles),
        rights=draw(NARROWED),
    )


@given(bound_to_acme(), RIGHTS, TENANTS, st.sampled_from([None, "user:x"]))
def test_other_tenants_are_out_of_reach(principal, right, tenant, owner):
    if tenant != ACME:
        for named in (owner, principal.actor):
            assert not may(principal, right, tenant=tenant, owner=named)


@given(bound_to_acme(), st.lists(st.tuples(RIGHTS, TENANTS), max_size=20))
def test_no_sequence_of_requests_widens_a_scope(principal, requests):
    for right, scope in requests:
        try:
            bounds = bounds_of(principal, right, scope)
        except (TenantNotFound, Forbidden):
            continue
        assert bounds.scope == Scope(ACME) == scope_of(principal, scope)
        assert right in (principal.rights or {right})


@given(
    bound_to_acme(),
    st.lists(st.tuples(st.sampled_from(Role), TENANTS, NARROWED), max_size=12),
)
def test_no_sequence_of_grants_leaves_a_tenant_or_adds_rights(principal, grants):
    first = principal
    held = {right for right in Right if reach_of(first, right, ACME)}

    for role, tenant, rights in grants:
        if may_grant(principal, role, tenant, rights=rights):
            principal = Principal(
                kind="token",
                id=UUID(int=9),
                name="made",
                memberships=(Membership(tenant and TenantId(tenant), role),),
                rights=rights,
            )
            reached = {r for r in Right for t in (None, GLOBEX) if reach_of(principal, r, t)}
            assert not reached
            assert not principal.installation_wide
            if tenant == ACME:
                assert {r for r in Right if reach_of(principal, r, ACME)} <= held
