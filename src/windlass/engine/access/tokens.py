"""Tokens: credentials for programs, shown once, stored as hashes, revocable at any time."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from windlass.core.access.accounts import Token
from windlass.core.access.audit import Target
from windlass.core.access.principal import Membership, Principal
from windlass.core.access.roles import Right, Role, membership_reach
from windlass.core.durations import duration
from windlass.core.jobs.dedupe import check_name
from windlass.core.jobs.models import SYSTEM_TENANT
from windlass.engine.access import secrets
from windlass.engine.access.audit import Audit
from windlass.engine.access.authorization import Access
from windlass.errors import NotAuthenticated, OptionInvalid, TenantNotFound, TokenNotFound
from windlass.ids import TenantId, TokenId, UserId, new_token_id
from windlass.storage.storage import Storage

#: Most tenants that a message lists.
_SHOWN = 5


@dataclass(frozen=True, slots=True)
class CreatedToken:
    """A new token and its secret, which cannot be shown again."""

    token: Token
    secret: str = field(repr=False)


class Tokens:
    def __init__(self, storage: Storage, access: Access, audit: Audit) -> None:
        self._storage = storage
        self._access = access
        self._audit = audit

    async def create(
        self,
        by: Principal,
        name: str,
        *,
        role: str = Role.USER,
        tenant: str | None = None,
        rights: Collection[str] | None = None,
        permissions: Collection[str] = (),
        expires: str | timedelta | None = None,
        request_id: str | None = None,
    ) -> CreatedToken:
        """Create a token with a role in a tenant, or in the whole installation.

        `tenant` may be left out if there is only one. `rights` narrows the role. A token cannot get
        more rights than its creator has. Without `expires` it is valid until it is revoked.
        """
        check_name("name", name)
        target = Target("token", name)
        bounds = await self._access.allow(
            by, Right.TOKENS_WRITE, target, tenant=tenant, request_id=request_id
        )
        owner = bounds.scope.tenant
        if owner is None and self._is_in_tenant(role):
            owner = await self._only_tenant(role)
        narrowed = self._check(role, owner, rights, permissions)
        await self._access.allow_grant(
            by,
            Right.TOKENS_WRITE,
            target,
            role=role,
            tenant=owner,
            rights=narrowed,
            permissions=permissions,
            request_id=request_id,
        )
        lasts = None if expires is None else duration(expires, option="expires")
        token = Token(
            id=new_token_id(),
            name=name,
            role=role,
            tenant=owner,
            rights=narrowed,
            permissions=frozenset(permissions),
            created_by=None if by.user_id is None else UserId(by.user_id),
        )
        return await self._create(by, token, lasts, request_id)

    async def list(
        self,
        by: Principal,
        *,
        tenant: str | None = None,
        ended: bool = True,
        before: TokenId | None = None,
        limit: int = 100,
    ) -> Sequence[Token]:
        """Tokens, newest first, without secrets; `ended` includes revoked and expired ones."""
        bounds = await self._access.allow(by, Right.TOKENS_READ, Target("token"), tenant=tenant)
        return await self._storage.access.tokens(
            bounds.scope, ended=ended, before=before, most=limit
        )

    async def revoke(
        self,
        by: Principal,
        id: TokenId,
        *,
        tenant: str | None = None,
        request_id: str | None = None,
    ) -> None:
        """Revoke a token for good; its next call is refused."""
        target = Target("token", str(id))
        bounds = await self._access.allow(
            by, Right.TOKENS_WRITE, target, tenant=tenant, request_id=request_id
        )
        found = await self._storage.access.token(id, fresh=timedelta())
        if found is None or bounds.scope.tenant not in (None, found.token.tenant):
            raise TokenNotFound(str(id))
        entry = self._audit.entry(
            by,
            Right.TOKENS_WRITE,
            target,
            tenant=found.token.tenant,
            before={"name": found.token.name, "revoked": found.token.revoked_at is not None},
            after={"revoked": True},
            request_id=request_id,
        )
        await self._storage.access.revoke_token(bounds.scope, id, entry=entry)

    def _is_in_tenant(self, role: str) -> bool:
        """Check if a role gives rights within a tenant only."""
        row = self._access.table.get(role, {})
        return bool(row) and not any(
            membership_reach(Membership(None, role), right, None, self._access.table)
            for right in row
        )

    async def _only_tenant(self, role: str) -> TenantId:
        """The only tenant of the installation; OptionInvalid if there are several."""
        tenants = [
            tenant.id
            for tenant in await self._storage.access.tenants()
            if tenant.state != "deleted" and tenant.id != SYSTEM_TENANT
        ]
        if len(tenants) != 1:
            raise OptionInvalid(
                "tenant",
                None,
                allowed=f"one of {', '.join(tenants[:_SHOWN])} (in a shell by -t), "
                "or the role superadmin",
                problem=f"a token with the role {role} belongs to one tenant, "
                f"and there are {len(tenants):,}",
            )
        return tenants[0]

    def _check(
        self,
        role: str,
        tenant: TenantId | None,
        rights: Collection[str] | None,
        permissions: Collection[str],
    ) -> frozenset[str] | None:
        """The rights the role is narrowed to, permissions included; raises if they are invalid."""
        row = self._access.table.get(role, {})
        if role == Role.WORKER and tenant is not None:
            raise OptionInvalid("tenant", tenant, allowed="none: workers serve all tenants")
        if rights is None:
            return None
        unknown = sorted(set(rights) - set(row) - set(permissions))
        if unknown:
            raise OptionInvalid("rights", unknown[0], allowed=f"a right of {role}")
        return frozenset(rights) | frozenset(permissions)

    async def _create(
        self, by: Principal, token: Token, lasts: timedelta | None, request_id: str | None
    ) -> CreatedToken:
        secret = secrets.new_token_text(token.id)
        entry = self._audit.entry(
            by,
            Right.TOKENS_WRITE,
            Target("token", str(token.id)),
            tenant=token.tenant,
            after={
                "name": token.name,
                "role": token.role,
                "rights": None if token.rights is None else sorted(token.rights),
                "permissions": sorted(token.permissions),
                "expires_in_seconds": lasts and lasts.total_seconds(),
            },
            request_id=request_id,
        )
        if not await self._storage.access.create_token(
            token, secrets.digest(secret), expires=lasts, entry=entry
        ):
            if token.created_by and await self._storage.access.user(token.created_by) is None:
                raise NotAuthenticated
            raise TenantNotFound(token.tenant or "")
        found = await self._storage.access.token(token.id, fresh=timedelta())
        return CreatedToken(found.token if found else token, secret)
