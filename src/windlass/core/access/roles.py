"""Roles, rights, and how far each right reaches: one table, and rules over it.

An embedding program may pass a table of its own, with roles of its own, wherever `table` is taken.
A right that is in no role's row is refused to everybody.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from types import MappingProxyType

from windlass.core.access.principal import Membership, Principal
from windlass.core.jobs.models import ALL_TENANTS, Job, Scope
from windlass.errors import Forbidden, TenantNeeded, TenantNotFound
from windlass.ids import TenantId


class Role(StrEnum):
    """The roles there are by default."""

    SUPERADMIN = "superadmin"
    TENANT_ADMIN = "tenant_admin"
    USER = "user"
    WORKER = "worker"


class Right(StrEnum):
    """A right: a noun and a verb."""

    JOBS_READ = "jobs.read"
    JOBS_ENQUEUE = "jobs.enqueue"
    JOBS_ENQUEUE_FOR = "jobs.enqueue_for"
    JOBS_CANCEL = "jobs.cancel"
    JOBS_RETRY = "jobs.retry"
    JOBS_RUN_NOW = "jobs.run_now"
    JOBS_UPDATE = "jobs.update"
    JOBS_DISCARD = "jobs.discard"
    JOBS_REVEAL = "jobs.reveal"
    DEAD_MUTE = "dead.mute"
    HISTORY_READ = "history.read"
    LOGS_READ = "logs.read"
    DEFINITIONS_READ = "definitions.read"
    DEFINITIONS_WRITE = "definitions.write"
    TRIGGERS_READ = "triggers.read"
    TRIGGERS_WRITE = "triggers.write"
    TRIGGERS_FIRE = "triggers.fire"
    EVENTS_READ = "events.read"
    EVENTS_EMIT = "events.emit"
    QUEUES_READ = "queues.read"
    QUEUES_PAUSE = "queues.pause"
    QUEUES_WRITE = "queues.write"
    WORKERS_READ = "workers.read"
    WORKERS_WRITE = "workers.write"
    TENANTS_READ = "tenants.read"
    TENANTS_WRITE = "tenants.write"
    USERS_READ = "users.read"
    USERS_WRITE = "users.write"
    MEMBERS_READ = "members.read"
    MEMBERS_WRITE = "members.write"
    TOKENS_READ = "tokens.read"
    TOKENS_WRITE = "tokens.write"
    OPERATIONS_READ = "operations.read"
    OPERATIONS_WRITE = "operations.write"
    AUDIT_READ = "audit.read"
    STATS_READ = "stats.read"
    METRICS_READ = "metrics.read"
    STREAM_READ = "stream.read"
    SETTINGS_READ = "settings.read"
    NOTIFICATIONS_TEST = "notifications.test"
    WORKER_WORK = "worker.work"


class Reach(IntEnum):
    """Reach of a right; a larger one includes the smaller."""

    OWN = 1  #: what the principal made itself
    TENANT = 2  #: everything of the tenants it is bound to
    ALL = 3  #: all tenants, and what belongs to none


RoleTable = Mapping[str, Mapping[str, Reach]]


def freeze_roles(table: RoleTable) -> RoleTable:
    """A copy of a table that nothing can change any more."""
    return MappingProxyType({role: MappingProxyType(dict(row)) for role, row in table.items()})


_TENANT_ADMIN = (
    Right.JOBS_READ,
    Right.JOBS_ENQUEUE,
    Right.JOBS_ENQUEUE_FOR,
    Right.JOBS_CANCEL,
    Right.JOBS_RETRY,
    Right.JOBS_RUN_NOW,
    Right.JOBS_UPDATE,
    Right.DEAD_MUTE,
    Right.HISTORY_READ,
    Right.LOGS_READ,
    Right.DEFINITIONS_READ,
    Right.TRIGGERS_READ,
    Right.TRIGGERS_WRITE,
    Right.TRIGGERS_FIRE,
    Right.EVENTS_READ,
    Right.EVENTS_EMIT,
    Right.QUEUES_READ,
    Right.TENANTS_READ,
    Right.MEMBERS_READ,
    Right.MEMBERS_WRITE,
    Right.TOKENS_READ,
    Right.TOKENS_WRITE,
    Right.OPERATIONS_READ,
    Right.OPERATIONS_WRITE,
    Right.AUDIT_READ,
    Right.STATS_READ,
    Right.STREAM_READ,
    Right.SETTINGS_READ,
)

#: Role -> right -> how far it reaches. What is not listed is refused.
ROLES: RoleTable = freeze_roles(
    {
        # A worker's credential is its own: no person and no program for people works with it.
        Role.SUPERADMIN: {right: Reach.ALL for right in Right if right is not Right.WORKER_WORK},
        Role.TENANT_ADMIN: dict.fromkeys(_TENANT_ADMIN, Reach.TENANT),
        Role.USER: {
            Right.JOBS_READ: Reach.OWN,
            Right.JOBS_ENQUEUE: Reach.TENANT,
            Right.JOBS_CANCEL: Reach.OWN,
            Right.HISTORY_READ: Reach.OWN,
            Right.LOGS_READ: Reach.OWN,
            Right.DEFINITIONS_READ: Reach.TENANT,
            Right.STREAM_READ: Reach.OWN,
            Right.SETTINGS_READ: Reach.TENANT,
        },
        Role.WORKER: {Right.WORKER_WORK: Reach.ALL},
    }
)

#: Changes that leave no audit entry: what makes jobs, and what workers do.
UNAUDITED = frozenset({Right.JOBS_ENQUEUE, Right.EVENTS_EMIT, Right.WORKER_WORK})


def is_audited(right: str) -> bool:
    """True if using, or being refused, a right leaves an audit entry: rights that change something do,
    and so does revealing what is redacted."""
    return right not in UNAUDITED and not right.endswith(".read")


@dataclass(frozen=True, slots=True)
class AccessBounds:
    """Bounds of one call: a scope, and within it only what `owner` made, if that is set."""

    scope: Scope
    owner: str | None = None

    def holds(self, job: Job) -> bool:
        """True if a job lies within; one that does not is treated like an unknown one."""
        return self.scope.tenant in (None, job.tenant) and self.owner in (None, job.created_by)


def reach_of(
    principal: Principal, right: str, tenant: str | None, table: RoleTable = ROLES
) -> Reach | None:
    """Reach of a principal's right in a tenant; None if it has no such right there.

    `tenant` None asks about what belongs to no tenant, and about all of them at once.
    """
    if principal.rights is not None and right not in principal.rights:
        return None
    reaches = [membership_reach(each, right, tenant, table) for each in principal.memberships]
    return max((reach for reach in reaches if reach is not None), default=None)


def may(
    principal: Principal,
    right: str,
    *,
    tenant: str | None = None,
    owner: str | None = None,
    table: RoleTable = ROLES,
) -> bool:
    """True if a principal may use a right on something of a tenant, made by `owner`.

    Without a tenant it is asked about what belongs to none, such as a definition to be changed.
    """
    reach = reach_of(principal, right, tenant, table)
    return reach is not None and (reach > Reach.OWN or owner == principal.actor)


def scope_of(principal: Principal, asked_tenant: str | None = None) -> Scope:
    """Scope of a principal's call. A request can only narrow it.

    A foreign tenant and an unknown one raise the same error.
    """
    if principal.installation_wide:
        return ALL_TENANTS if asked_tenant is None else Scope.of(asked_tenant)
    tenants = principal.tenants
    if asked_tenant is not None:
        if asked_tenant not in tenants:
            raise TenantNotFound(asked_tenant)
        return Scope.of(asked_tenant)
    if not tenants:
        raise Forbidden("anything", because="no tenant and no role was given to it")
    if len(tenants) > 1:
        raise TenantNeeded(sorted(tenants))
    return Scope(next(iter(tenants)))


def bounds_of(
    principal: Principal, right: str, asked_tenant: str | None = None, *, table: RoleTable = ROLES
) -> AccessBounds:
    """Bounds of a call that needs a right; raises if there is nothing it may touch."""
    scope = scope_of(principal, asked_tenant)
    reach = reach_of(principal, right, scope.tenant, table)
    if reach is None:
        raise Forbidden(right)
    return AccessBounds(scope, principal.actor if reach is Reach.OWN else None)


def membership_reach(
    membership: Membership, right: str, tenant: str | None, table: RoleTable
) -> Reach | None:
    """Reach of a right in a tenant by one membership alone."""
    granted = table.get(membership.role, {}).get(right)
    if granted is None:
        return None
    if membership.tenant is None:
        # A role of no tenant has only what reaches all of them.
        return granted if granted is Reach.ALL else None
    return min(granted, Reach.TENANT) if TenantId(tenant or "") == membership.tenant else None
