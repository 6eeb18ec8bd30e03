"""Judges who asks: turns a credential into a principal, and refuses what its rights do not reach.

A refused change leaves an audit entry, in the chain of whoever tried.
"""

from collections.abc import Collection
from datetime import timedelta
from typing import NoReturn
from uuid import UUID

from windlass.core.access.accounts import Token
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
from windlass.engine.access.audit import Audit, Target
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

#: How long a session lasts that is not seen, and how long one that is.
IDLE, LONGEST = timedelta(hours=12), timedelta(days=30)
#: Uses are noted no more often than this, so that reading costs no writing.
FRESH = timedelta(minutes=1)


class Access:
    def __init__(self, storage: Storage, audit: Audit, table: RoleTable = ROLES) -> None:
        self._storage = storage
        self.refusals = Refusals(audit)
        self.table = freeze_roles(table)

    async def authenticate_token(self, text: str) -> Principal:
        """Who presents a bearer token. NotAuthenticated, whatever is wrong with it."""
        id = secrets.token_id(text)
        found = await self._storage.access.token(id, fresh=FRESH) if id else None
        if found is None or not secrets.same(found.hash, secrets.digest(text)) or not found.valid:
            raise NotAuthenticated
        if found.stale:
            await self._storage.access.touch_token(found.token.id, fresh=FRESH)
        return principal_of(found.token)

    async def authenticate_session(self, text: str) -> Principal:
        """Who presents a session's secret; the session lasts on from here."""
        if not secrets.is_secret(text):
            raise NotAuthenticated
        found = await self._storage.access.session(secrets.digest(text), fresh=FRESH)
        if found is None:
            raise NotAuthenticated
        if found.stale:
            await self._storage.access.touch_session(found.session.id, idle=IDLE)
        return await self.user(found.session.user_id, found.name, found.superadmin)

    async def principal_of_actor(self, actor: str) -> Principal | None:
        """The user or token behind an actor such as `user:0199…`, with the roles it has now. None
        if it is gone, disabled, expired or revoked."""
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
        """A signed-in user, with the roles it has now."""
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
        """What a call may touch that needs a right; `tenant` is the one that was asked for.

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
        """Refuse a change to what belongs to no tenant, such as a definition, a queue, a user."""
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
        """Refuse to give out a role that holds more than who gives it."""
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
                because="nobody can give more than it holds",
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
        """Record a refused attempt once, in the chain of who tried: `tenant` if that is theirs,
        else their only tenant's, else the installation's. Nobody in particular leaves no entry:
        they could write as much as they like. Looking without the right leaves none either."""
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
    """The job, if a call may touch it; JobNotFound, as for an unknown one, if not. `asked` is how
    the caller named it."""
    if not bounds.holds(job):
        raise JobNotFound(asked)
    return job


def principal_of(token: Token) -> Principal:
    """Who a valid token speaks for."""
    return Principal(
        kind="token",
        id=token.id,
        name=token.name,
        memberships=(Membership(token.tenant, token.role, token.permissions),),
        rights=token.rights,
    )
