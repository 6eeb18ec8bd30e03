"""Members: users with a role in a tenant, and invitations to one."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from windlass.core.access.accounts import Invitation, Member, fold_name
from windlass.core.access.audit import Target
from windlass.core.access.principal import Membership, Principal
from windlass.core.access.roles import Right, Role, membership_reach
from windlass.core.jobs.models import Scope
from windlass.engine.access import secrets
from windlass.engine.access.audit import Audit
from windlass.engine.access.authorization import Access
from windlass.engine.access.users import OneTimeLink, new_invitation_link, valid_name
from windlass.errors import MemberExists, MemberNotFound, OptionInvalid, TenantNotFound
from windlass.ids import TenantId, UserId, parse_job_id
from windlass.storage.storage import Storage


@dataclass(frozen=True, slots=True)
class MemberInvitation:
    """A pending member, and the link that accepts the role. Both look the same whether an account
    of that name exists or not."""

    member: Member
    link: OneTimeLink


class Members:
    def __init__(self, storage: Storage, access: Access, audit: Audit) -> None:
        self._storage = storage
        self._access = access
        self._audit = audit

    async def list(self, by: Principal, *, tenant: str | None = None) -> Sequence[Member]:
        """A tenant's members by name; those who have not accepted yet are pending."""
        bounds = await self._access.allow(by, Right.MEMBERS_READ, Target("member"), tenant=tenant)
        found = await self._storage.access.members(bounds.scope)
        offers = await self._storage.access.invitations(bounds.scope)
        return sorted(
            [*found, *(pending(each) for each in offers)],
            key=lambda member: (member.tenant, member.name),
        )

    async def invite(
        self,
        by: Principal,
        tenant: str,
        name: str,
        *,
        role: str = Role.USER,
        permissions: Collection[str] = (),
        request_id: str | None = None,
    ) -> MemberInvitation:
        """Offer a role in a tenant to a name. They get it once they accept by the link; inviting
        again creates a new link and voids the one before."""
        name = valid_name(name)
        await self._allow(by, tenant, name, role, permissions, request_id)
        before = await self._find(tenant, name)
        if before is not None:
            await self._allow_change(by, before, request_id)
            if not before.pending:
                raise MemberExists(name, tenant=tenant)
        link = new_invitation_link()
        invitation = await self._storage.access.upsert_invitation(
            Invitation(
                tenant=TenantId(tenant), name=name, role=role, permissions=frozenset(permissions)
            ),
            secrets.digest(link.secret),
            expires=link.lasts,
            entry=self._audit.entry(
                by,
                Right.MEMBERS_WRITE,
                Target("member", name),
                tenant=tenant,
                before=before and _audit_fields(before.name, before.role, before.permissions),
                after={**_audit_fields(name, role, permissions), "pending": True},
                request_id=request_id,
            ),
        )
        if invitation is None:
            raise TenantNotFound(tenant)
        return MemberInvitation(pending(invitation), link)

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
        """Give a member another role or other permissions; None keeps the old value. For a pending
        member the offer changes and the link stays."""
        before = await self._member(by, tenant, user, request_id)
        role = before.role if role is None else role
        permissions = before.permissions if permissions is None else permissions
        await self._allow(by, tenant, before.name, role, permissions, request_id)
        entry = self._audit.entry(
            by,
            Right.MEMBERS_WRITE,
            _target(before),
            tenant=tenant,
            before=_audit_fields(before.name, before.role, before.permissions),
            after=_audit_fields(before.name, role, permissions),
            request_id=request_id,
        )
        if before.user_id is None:
            done = bool(
                await self._storage.access.update_invitation(
                    tenant, before.name, role, permissions, entry=entry
                )
            )
        else:
            done = await self._storage.access.update_member(
                before.user_id, tenant, role, permissions, entry=entry
            )
        changed = await self._find(tenant, before.name) if done else None
        if changed is None:
            raise MemberNotFound(str(user), tenant=tenant)
        return changed

    async def remove(
        self, by: Principal, tenant: str, user: UserId | str, *, request_id: str | None = None
    ) -> None:
        """Take away a role in a tenant, or take back an invitation and void its link. The user
        itself stays."""
        before = await self._member(by, tenant, user, request_id)
        entry = self._audit.entry(
            by,
            Right.MEMBERS_WRITE,
            _target(before),
            tenant=tenant,
            before=_audit_fields(before.name, before.role, before.permissions),
            request_id=request_id,
        )
        if before.user_id is None:
            done = await self._storage.access.delete_invitation(tenant, before.name, entry=entry)
        else:
            done = await self._storage.access.delete_member(before.user_id, tenant, entry=entry)
        if not done:
            raise MemberNotFound(str(user), tenant=tenant)

    async def _member(
        self, by: Principal, tenant: str, user: UserId | str, request_id: str | None
    ) -> Member:
        """Find a member that `by` may change."""
        target = Target("member", str(user))
        await self._access.allow(
            by, Right.MEMBERS_WRITE, target, tenant=tenant, request_id=request_id
        )
        member = await self._find(tenant, str(user))
        if member is None:
            raise MemberNotFound(str(user), tenant=tenant)
        await self._allow_change(by, member, request_id)
        return member

    async def _find(self, tenant: str, user: str) -> Member | None:
        """Find a member by name, pending or not; one who has accepted also by id."""
        # The same statements whether an account of that name exists or not.
        scope, id, name = Scope.of(tenant), parse_job_id(user), fold_name(user)
        if id is not None:
            found = await self._storage.access.members(scope, user=UserId(id))
        else:
            found = await self._storage.access.members(scope, name=name)
        if found:
            return found[0]
        offers = await self._storage.access.invitations(scope, name=name)
        return pending(offers[0]) if offers else None

    async def _allow_change(self, by: Principal, member: Member, request_id: str | None) -> None:
        """Refuse to change a member who holds, or is offered, more than `by`."""
        await self._access.allow_grant(
            by,
            Right.MEMBERS_WRITE,
            _target(member),
            role=member.role,
            tenant=member.tenant,
            permissions=member.permissions,
            request_id=request_id,
        )

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
            membership_reach(Membership(owner, role), right, owner, table) for right in table[role]
        ):
            raise OptionInvalid("role", role, allowed="a role for people in a tenant")


def pending(invitation: Invitation) -> Member:
    """The member that an invitation stands for."""
    return Member(
        user_id=None,
        name=invitation.name,
        tenant=invitation.tenant or TenantId(""),
        role=invitation.role,
        permissions=invitation.permissions,
        created_at=invitation.created_at,
        pending=True,
    )


def _target(member: Member) -> Target:
    """The audit target. A pending member goes by the invited name: an id would reveal an account."""
    return Target("member", member.name if member.user_id is None else str(member.user_id))


def _audit_fields(name: str, role: str, permissions: Collection[str]) -> dict[str, object]:
    return {"name": name, "role": role, "permissions": sorted(permissions)}
