"""Rules for who may enqueue a definition, replace a waiting job, and give a role to others.

Nobody can give more than it holds itself.
"""

from collections.abc import Collection

from windlass.core.access.principal import Membership, Principal
from windlass.core.access.roles import ROLES, Reach, Right, RoleTable, membership_reach, reach_of
from windlass.core.definitions.definition import Definition
from windlass.ids import TenantId


def may_enqueue(
    principal: Principal,
    definition: Definition,
    tenant: str,
    *,
    right: str = Right.JOBS_ENQUEUE,
    table: RoleTable = ROLES,
) -> bool:
    """True if a principal may submit jobs of a definition, or put them in line again by another
    `right`; see `enqueue_refusal`."""
    return not enqueue_refusal(principal, definition, tenant, right=right, table=table)


def enqueue_refusal(
    principal: Principal,
    definition: Definition,
    tenant: str,
    *,
    right: str = Right.JOBS_ENQUEUE,
    table: RoleTable = ROLES,
) -> str:
    """Why a principal may not submit jobs of a definition; empty if it may.

    What `requires_permission` names must be held in the job's tenant, and the system's own
    definitions are for those who reach all.
    """
    reach = reach_of(principal, right, tenant, table)
    if reach is None:
        return f"a job of {definition.key} needs the right {right} in tenant {tenant}"
    if definition.system and reach is not Reach.ALL:
        return f"{definition.key} is Windlass's own: only a role for all tenants may enqueue it"
    needed = definition.requires_permission
    if needed is not None and not has_permission(principal, needed, tenant, table=table):
        return f"definition {definition.key} requires the permission {needed}"
    return ""


def replaceable_owner(principal: Principal, tenant: str, *, table: RoleTable = ROLES) -> str | None:
    """The actor whose waiting jobs a principal may replace; None means everybody's.

    Without `jobs.update` its own are left: it could cancel and enqueue those as well.
    """
    reach = reach_of(principal, Right.JOBS_UPDATE, tenant, table)
    return None if reach in (Reach.TENANT, Reach.ALL) else principal.actor


def has_permission(
    principal: Principal, permission: str, tenant: str | None, *, table: RoleTable = ROLES
) -> bool:
    """True if a word that definitions ask for is held in a tenant: given to the principal there,
    or in its role's row. Who may change definitions anyway holds all of them."""
    if principal.rights is not None and permission not in principal.rights:
        return False
    given = any(
        permission in each.permissions and each.tenant in (None, tenant)
        for each in principal.memberships
    )
    manages = any(
        membership_reach(each, Right.DEFINITIONS_WRITE, None, table) is Reach.ALL
        for each in principal.memberships
    )
    return given or manages or reach_of(principal, permission, tenant, table) is not None


def may_grant(
    principal: Principal,
    role: str,
    tenant: str | None,
    *,
    rights: Collection[str] | None = None,
    permissions: Collection[str] = (),
    table: RoleTable = ROLES,
) -> bool:
    """True if a principal may give a role to somebody, or to a token: never more than it holds.

    `rights` is what the role is narrowed to. Who has every right of a superadmin may give out the
    worker's as well, though it has no use for it itself.
    """
    if role not in table or (tenant is None and not principal.installation_wide):
        return False
    given = set(table[role]) if rights is None else set(table[role]) & set(rights)
    # An unnarrowed role may come to have more tomorrow; only who is not narrowed itself gives it.
    if principal.rights is not None and rights is None:
        return False
    return all(_holds(principal, right, role, tenant, table) for right in given) and all(
        has_permission(principal, word, tenant, table=table) for word in permissions
    )


def _holds(
    principal: Principal, right: str, role: str, tenant: str | None, table: RoleTable
) -> bool:
    if right == Right.WORKER_WORK:
        wide = reach_of(principal, Right.TOKENS_WRITE, None, table) is Reach.ALL
        return wide and (principal.rights is None or right in principal.rights)
    held = reach_of(principal, right, tenant, table)
    made = Membership(None if tenant is None else TenantId(tenant), role)
    given = membership_reach(made, right, tenant, table)
    return given is None or (held is not None and held >= given)
