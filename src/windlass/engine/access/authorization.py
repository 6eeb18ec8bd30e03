"""Authorization: turns a credential into a principal, and refuses calls beyond its rights.

A refused change leaves an audit entry in the principal's chain.
"""

from collections.abc import Collection
from datetime import timedelta
from typing import NoReturn
from uuid import UUID

from windlass.core.access.accounts import Token
from windlass.core.access.audit import Target
from windlass.core.access.grants import may_grant
from windlass.core.access.principal import CREATORS, USER, Membership, Principal, created_by_for
from windlass.core.access.roles import (
    ROLES,
    AccessBounds,
    Right,
    Role,
    RoleTable,
    bounds_of,
    freeze_roles,
    may,
    reach_of,
)
from windlass.core.jobs.dedupe import check_stored
from windlass.core.jobs.models import Job, Scope
from windlass.engine.access import secrets
from windlass.engine.access.audit import Audit
from windlass.engine.access.refused_attempts import Refusals
from windlass.errors import (
    Forbidden,
    JobNotFound,
    NotAuthenticated,
    OptionInvalid,
    TenantNotFound,
    WindlassError,
)
from windlass.ids import JobId, TokenId, UserId, parse_job_id
from windlass.storage.storage import Storage

#: Lifetime of an unused session, and of any session.
IDLE, LONGEST = timedelta(hours=12), timedelta(days=30)
#: The last use is stored no more often than this, so that reads cost no writes.
FRESH = timedelta(minutes=1)


class Access:
    def __init__(self, storage: Storage, audit: Audit, table: RoleTable = ROLES) -> None:
        self._storage = storage
        self.refusals = Refusals(audit)
        self.table = freeze_roles(table)

    async def authenticate_token(self, text: str) -> Principal:
        """The principal of a bearer token. NotAuthenticated, whatever is wrong with it."""
        id = secrets.token_id(text)
        found = await self._storage.access.token(id, fresh=FRESH) if id else None
        if found is None or not secrets.same(found.hash, secrets.digest(text)) or not found.valid:
            raise NotAuthenticated
        if found.stale:
            await self._storage.access.touch_token(found.token.id, fresh=FRESH)
        return principal_of(found.token)

    async def authenticate_session(self, text: str) -> Principal:
        """The principal of a session's secret; extends the session."""
        if not secrets.is_secret(text):
            raise NotAuthenticated
        found = await self._storage.access.session(secrets.digest(text), fresh=FRESH)
        if found is None:
            raise NotAuthenticated
        if found.stale:
            await self._storage.access.touch_session(found.session.id, idle=IDLE)
        return await self.user(found.session.user_id, found.name, found.superadmin)

    async def principal_of_actor(self, actor: str) -> Principal | None:
        """The user or token of an actor such as `user:0199…`, with its current roles. None if it is
        gone, disabled, expired or revoked."""
        kind, _, text = actor.partition(":")
        id = parse_job_id(text)
        if kind == "token" and id:
            token = await self._storage.access.token(TokenId(id), fresh=FRESH)
            return principal_of(token.token) if token and token.valid else None
        user = await self._storage.access.user(UserId(id)) if kind == "user" and id else None
        if user is None or user.disabled:
            return None
        return await self.user(user.id, user.name, user.superadmin)

    async def user(self, id: UserId, name: str, superadmin: bool) -> Principal:
        """The principal of a signed-in user, with its current roles."""
        wide = (Membership(None, Role.SUPERADMIN),) if superadmin else ()
        return Principal(
            kind="session",
            id=id,
            name=name,
            memberships=(*wide, *await self._storage.access.memberships(id)),
        )

    async def allow(
        self,
        by: Principal,
        right: str,
        target: Target,
        *,
        tenant: str | None = None,
        request_id: str | None = None,
    ) -> AccessBounds:
        """The bounds of a call that needs a right; `tenant` is the one that the call names.

        Raises Forbidden, or TenantNotFound for a foreign tenant as for an unknown one.
        """
        try:
            return bounds_of(by, right, tenant, table=self.table)
        except (Forbidden, TenantNotFound) as error:
            await self.record_refusal(by, right, target, error, request_id=request_id)
            raise

    async def allow_installation(
        self, by: Principal, right: str, target: Target, *, request_id: str | None = None
    ) -> None:
        """Refuse a change to an object without a tenant, such as a definition, queue or user."""
        if not may(by, right, table=self.table):
            await self.refuse(by, right, target, request_id=request_id)

    async def allow_enqueue_for(
        self, by: Principal, name: str, *, tenant: str, request_id: str | None = None
    ) -> str:
        """The `created_by` of a job that is enqueued on behalf of `name`.

        Forbidden without the right, OptionInvalid for a name that is not allowed and for a user who
        is no member of the job's tenant.
        """
        right = Right.JOBS_ENQUEUE_FOR
        if reach_of(by, right, tenant, self.table) is None:
            await self.refuse(by, right, Target("job"), request_id=request_id)
        found = created_by_for(name)
        if found.startswith(USER):
            user = UserId(UUID(found.removeprefix(USER)))
            if not await self._storage.access.members(Scope.of(tenant), user=user):
                raise OptionInvalid("created_by", name, allowed=CREATORS)
        return found

    async def allow_grant(
        self,
        by: Principal,
        right: Right,
        target: Target,
        *,
        role: str,
        tenant: str | None,
        rights: Collection[str] | None = None,
        permissions: Collection[str] = (),
        request_id: str | None = None,
    ) -> None:
        """Refuse to grant a role with more rights than the grantor has."""
        if role not in self.table:
            raise OptionInvalid("role", role, allowed=f"one of {', '.join(sorted(self.table))}")
        for word in permissions:
            check_stored("permissions", word)
        if not may_grant(
            by, role, tenant, rights=rights, permissions=permissions, table=self.table
        ):
            await self.refuse(
                by,
                right,
                target,
                request_id=request_id,
                because="nobody can grant more rights than they have",
            )

    async def refuse(
        self,
        by: Principal,
        right: str,
        target: Target,
        *,
        request_id: str | None = None,
        because: str = "",
    ) -> NoReturn:
        """Record a refusal and raise it."""
        error = Forbidden(right, because=because)
        await self.record_refusal(by, right, target, error, request_id=request_id)
        raise error

    async def record_refusal(
        self,
        by: Principal,
        right: str,
        target: Target,
        error: WindlassError,
        *,
        tenant: str | None = None,
        request_id: str | None = None,
    ) -> None:
        """Record a refused attempt once, in the principal's chain: that of `tenant` if they belong
        to it, else of their only tenant, else the installation's. Anonymous callers leave no entry:
        they could fill the disk. Refused reads leave none either."""
        looked = isinstance(error, Forbidden) and right.endswith(".read")
        if error.recorded or looked or (by.id is None and not by.memberships):
            return
        error.recorded = True
        if tenant not in by.tenants and not by.installation_wide:
            tenant = next(iter(by.tenants)) if len(by.tenants) == 1 else None
        await self.refusals.record(
            by, right, target, tenant=tenant, code=error.code, request_id=request_id
        )


def within(bounds: AccessBounds, job: Job, asked: JobId | str) -> Job:
    """The job, if the call may touch it; else JobNotFound, as for an unknown one. `asked` is the
    caller's spelling of the id."""
    if not bounds.holds(job):
        raise JobNotFound(asked)
    return job


def principal_of(token: Token) -> Principal:
    """The principal of a valid token."""
    return Principal(
        kind="token",
        id=token.id,
        name=token.name,
        memberships=(Membership(token.tenant, token.role, token.permissions),),
        rights=token.rights,
    )
