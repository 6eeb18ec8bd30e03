"""Members: who has which role in a tenant."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from windlass.core.access import Right, Role, reach_by
from windlass.core.accounts import Member, User
from windlass.core.models import Scope
from windlass.core.principal import Membership, Principal
from windlass.engine.access import Access
from windlass.engine.audit import Audit, Target
from windlass.engine.users import LASTS, OneTimeLink, Users, checked_name
from windlass.errors import MemberNotFound, OptionInvalid, TenantNotFound
from windlass.ids import TenantId, UserId, new_user_id
from windlass.storage.base import Storage


@dataclass(frozen=True, slots=True)
class Invited:
    """A new member; with the link by which it sets a password, if it is new here altogether."""

    member: Member
    link: OneTimeLink | None


class Members:
    def __init__(self, storage: Storage, access: Access, audit: Audit, users: Users) -> None:
        self._storage = storage
        self._access = access
        self._audit = audit
        self._users = users

    async def list(self, by: Principal, *, tenant: str | None = None) -> Sequence[Member]:
        """A tenant's members by name."""
        bounds = await self._access.allow(by, Right.MEMBERS_READ, Target("member"), tenant=tenant)
        return await self._storage.members(bounds.scope)

    async def invite(
        self,
        by: Principal,
        tenant: str,
        name: str,
        *,
        role: str = Role.USER,
        permissions: Collection[str] = (),
        request_id: str | None = None,
    ) -> Invited:
        """Give somebody a role in a tenant, who is made a user if there is none of that name."""
        name = checked_name(name)
        await self._allow(by, tenant, name, role, permissions, request_id)
        made = await self._storage.add_user(User(id=new_user_id(), name=name))
        user = await self._users.find(name)
        # A link is a way in: for somebody who was here before, only if it is nobody's but theirs.
        linked = made or await self._awaited(user, tenant)
        member = await self._put(by, tenant, user, role, permissions, request_id)
        lasts = LASTS["password"]
        return Invited(
            member, await self._users.new_link(user, "password", lasts) if linked else None
        )

    async def change(
        self,
        by: Principal,
        tenant: str,
        user: UserId | str,
        *,
        role: str | None = None,
        permissions: Collection[str] | None = None,
        request_id: str | None = None,
    ) -> Member:
        """Give a member another role, or other permissions; what is not said stays."""
        before = await self._member(by, tenant, user, request_id)
        role = before.role if role is None else role
        permissions = before.permissions if permissions is None else permissions
        await self._allow(by, tenant, before.name, role, permissions, request_id)
        found = await self._users.find(str(before.user_id))
        return await self._put(by, tenant, found, role, permissions, request_id, before=before)

    async def remove(
        self, by: Principal, tenant: str, user: UserId | str, *, request_id: str | None = None
    ) -> None:
        """Take somebody's role in a tenant away. The user itself stays."""
        before = await self._member(by, tenant, user, request_id)
        entry = self._audit.entry(
            by,
            Right.MEMBERS_WRITE,
            Target("member", str(before.user_id)),
            tenant=tenant,
            before=_told(before.name, before.role, before.permissions),
            request_id=request_id,
        )
        if not await self._storage.drop_member(before.user_id, tenant, entry=entry):
            raise MemberNotFound(str(user), tenant=tenant)

    async def _member(
        self, by: Principal, tenant: str, user: UserId | str, request_id: str | None
    ) -> Member:
        """A member whom `by` may change: nobody changes who holds more than itself."""
        target = Target("member", str(user))
        bounds = await self._access.allow(
            by, Right.MEMBERS_WRITE, target, tenant=tenant, request_id=request_id
        )
        for member in await self._storage.members(Scope(bounds.scope.tenant)):
            if str(user) in (str(member.user_id), member.name):
                await self._access.allow_grant(
                    by,
                    Right.MEMBERS_WRITE,
                    target,
                    role=member.role,
                    tenant=tenant,
                    permissions=member.permissions,
                    request_id=request_id,
                )
                return member
        raise MemberNotFound(str(user), tenant=tenant)

    async def _allow(
        self,
        by: Principal,
        tenant: str,
        name: str,
        role: str,
        permissions: Collection[str],
        request_id: str | None,
    ) -> None:
        target = Target("member", name)
        await self._access.allow(
            by, Right.MEMBERS_WRITE, target, tenant=tenant, request_id=request_id
        )
        await self._access.allow_grant(
            by,
            Right.MEMBERS_WRITE,
            target,
            role=role,
            tenant=tenant,
            permissions=permissions,
            request_id=request_id,
        )
        owner, table = TenantId(tenant), self._access.table
        if role == Role.WORKER or not any(
            reach_by(Membership(owner, role), right, owner, table) for right in table[role]
        ):
            raise OptionInvalid("role", role, allowed="a role for people in a tenant")

    async def _put(
        self,
        by: Principal,
        tenant: str,
        user: User,
        role: str,
        permissions: Collection[str],
        request_id: str | None,
        *,
        before: Member | None = None,
    ) -> Member:
        entry = self._audit.entry(
            by,
            Right.MEMBERS_WRITE,
            Target("member", str(user.id)),
            tenant=tenant,
            before=before and _told(before.name, before.role, before.permissions),
            after=_told(user.name, role, permissions),
            request_id=request_id,
        )
        if not await self._storage.put_member(user.id, tenant, role, permissions, entry=entry):
            raise TenantNotFound(tenant)
        [member] = await self._storage.members(Scope.of(tenant), user=user.id)
        return member

    async def _awaited(self, user: User, tenant: str) -> bool:
        """Whether somebody was invited to this tenant and to nothing else, and has not come yet."""
        return (
            not user.superadmin
            and not user.has_password
            and user.last_login_at is None
            and {m.tenant for m in await self._storage.memberships(user.id)} == {tenant}
        )


def _told(name: str, role: str, permissions: Collection[str]) -> dict[str, object]:
    return {"name": name, "role": role, "permissions": sorted(permissions)}
