"""Verbs on invitations: roles offered to a name."""

from collections.abc import Callable, Collection
from datetime import timedelta
from typing import NamedTuple

from windlass.core.access.accounts import Invitation
from windlass.core.access.audit import NewAuditEntry
from windlass.core.jobs.models import Scope
from windlass.core.payloads.json_text import dump_json
from windlass.ids import SessionId, UserId
from windlass.storage.access import account_rows
from windlass.storage.access.audit import append, run_audited
from windlass.storage.connection.deadlock_retry import retry_deadlocks
from windlass.storage.database import Database, Session

#: Builds the audit entry of an accepted invitation.
EntryOf = Callable[[Invitation], NewAuditEntry]


class NewAccount(NamedTuple):
    """The account to create for an invited name without one."""

    id: UserId
    password_hash: str


class InvitationVerbs:
    _db: Database

    async def upsert_invitation(
        self,
        invitation: Invitation,
        hash: str,
        *,
        expires: timedelta,
        entry: NewAuditEntry | None = None,
    ) -> Invitation | None:
        """Offer a role by a link; replaces an earlier offer to the name. None if the tenant does
        not exist, or the name has a role in it."""
        found = await run_audited(
            self._db,
            "upsert_invitation",
            entry=entry,
            tenant_id=invitation.tenant or "",
            name=invitation.name,
            role=invitation.role,
            permissions=dump_json(sorted(invitation.permissions)),
            hash=hash,
            expires=expires,
        )
        return account_rows.invitation(found[0]) if found else None

    async def invitations(
        self, scope: Scope, *, name: str | None = None, most: int = 1000
    ) -> list[Invitation]:
        """Open invitations to tenants, by tenant and name."""
        found = await self._db.run("invitations", tenant_id=scope.tenant, name=name, most=most)
        return [account_rows.invitation(row) for row in found]

    async def update_invitation(
        self,
        tenant: str,
        name: str,
        role: str,
        permissions: Collection[str] = (),
        *,
        entry: NewAuditEntry | None = None,
    ) -> Invitation | None:
        """Offer another role by the same link; None if there is no open invitation."""
        found = await run_audited(
            self._db,
            "update_invitation",
            entry=entry,
            tenant_id=tenant,
            name=name,
            role=role,
            permissions=dump_json(sorted(permissions)),
        )
        return account_rows.invitation(found[0]) if found else None

    async def delete_invitation(
        self, tenant: str, name: str, *, entry: NewAuditEntry | None = None
    ) -> bool:
        """Withdraw the invitation of a name to a tenant; voids its link."""
        return bool(
            await run_audited(
                self._db, "delete_invitation", entry=entry, tenant_id=tenant, name=name
            )
        )

    @retry_deadlocks
    async def accept_invitation(
        self, hash: str, user: UserId, *, session: SessionId | None, entry_of: EntryOf
    ) -> Invitation | None:
        """Give a user the role offered to its name by a link. Ends its links, and its sessions
        except `session`. None if the link is for another name, or no longer valid."""
        async with self._db.transaction() as transaction:
            await transaction.run("lock_user", id=user)
            found = await transaction.run("accept_invitation", hash=hash, user_id=user)
            if not found:
                return None
            invitation = account_rows.invitation(found[0])
            await _give_role(transaction, user, invitation)
            await transaction.run("delete_user_sessions", user_id=user, but=session)
            await transaction.run("expire_user_links", user_id=user)
            await append(transaction, entry_of(invitation))
            return invitation

    @retry_deadlocks
    async def accept_invitation_as_new_user(
        self, hash: str, account: NewAccount, *, entry_of: EntryOf
    ) -> Invitation | None:
        """Create an account for an invited name, with the role offered by a link. None if the name
        has an account, or the link is no longer valid."""
        try:
            async with self._db.transaction() as transaction:
                found = await transaction.run("accept_invitation_as_new_user", hash=hash)
                if not found:
                    return None
                invitation = account_rows.invitation(found[0])
                made = await transaction.run(
                    "create_user",
                    id=account.id,
                    name=invitation.name,
                    password_hash=account.password_hash,
                    superadmin=invitation.tenant is None,
                )
                if not made:
                    raise _NameTaken
                if invitation.tenant is not None:
                    await _give_role(transaction, account.id, invitation)
                await append(transaction, entry_of(invitation))
                return invitation
        except _NameTaken:
            return None


class _NameTaken(Exception):
    """Another transaction created an account of the name; this one is rolled back."""


async def _give_role(session: Session, user: UserId, invitation: Invitation) -> None:
    if invitation.tenant is None:
        await session.run("update_user", id=user, superadmin=True, disabled=None)
    else:
        await session.run(
            "upsert_member",
            user_id=user,
            tenant_id=invitation.tenant,
            role=invitation.role,
            permissions=dump_json(sorted(invitation.permissions)),
        )
