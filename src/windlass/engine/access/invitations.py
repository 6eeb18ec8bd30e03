"""Invitations: offer a role to a name; the invitation's own link accepts it.

An invitation refers to no account, so inviting takes the same steps and returns the same result
whether an account of that name exists or not. Accepting needs the link and a session of the account
of that name. Only if there is no account, the link creates one and sets its first password. So a
link never opens roles in other tenants, and another secret of the account gives no role without the
link.
"""

from collections.abc import Callable

from windlass.core.access.accounts import Invitation
from windlass.core.access.audit import NewAuditEntry, Target
from windlass.core.access.principal import Principal
from windlass.core.access.roles import Right
from windlass.engine.access import secrets
from windlass.engine.access.audit import Audit
from windlass.engine.access.passwords import Passwords
from windlass.engine.access.passwords import check as check_password
from windlass.engine.access.sessions import NewSession, Sessions
from windlass.errors import Forbidden, InvitationInvalid
from windlass.ids import UserId, new_user_id
from windlass.storage.access.invitations import NewAccount
from windlass.storage.storage import Storage
from windlass.tasks import all_tenants


class Invitations:
    def __init__(
        self, storage: Storage, audit: Audit, passwords: Passwords, sessions: Sessions
    ) -> None:
        self._storage = storage
        self._audit = audit
        self._passwords = passwords
        self._sessions = sessions

    async def accept(
        self,
        by: Principal,
        secret: str,
        *,
        keep: str | None = None,
        request_id: str | None = None,
    ) -> Invitation:
        """Accept an invitation by its link, as the signed-in user of the invited name.

        Revokes all links of the account, and its sessions except that of the secret `keep`: the
        tenant that gave it a role before may still hold them.
        """
        if by.user_id is None:
            raise Forbidden("accepting an invitation", because="it needs a signed-in person")
        user = UserId(by.user_id)
        kept = await self._sessions.own_session(keep, user)
        with all_tenants():  # the user is bound to another tenant than the invitation
            accepted = await self._storage.access.accept_invitation(
                _hash_of(secret), user, session=kept, entry_of=self._entry_of(by, user, request_id)
            )
        if accepted is None:
            raise InvitationInvalid
        return accepted

    async def accept_as_new(
        self,
        secret: str,
        password: str,
        *,
        address: str | None = None,
        note: str = "",
        request_id: str | None = None,
    ) -> NewSession:
        """Accept an invitation by its link without an account: create one, set its password, and
        sign in. InvitationInvalid if there is an account of that name."""
        check_password(password)
        link = _hash_of(secret)
        account = NewAccount(new_user_id(), await self._passwords.hash(password))

        def entry_of(invitation: Invitation) -> NewAuditEntry:
            by = Principal(kind="session", id=account.id, name=invitation.name)
            return self._entry_of(by, account.id, request_id)(invitation)

        accepted = await self._storage.access.accept_invitation_as_new_user(
            link, account, entry_of=entry_of
        )
        if accepted is None:
            raise InvitationInvalid
        return await self._sessions.begin(account.id, address=address, note=note)

    async def accept_by_login(
        self, secret: str, name: str, password: str, *, address: str | None = None, note: str = ""
    ) -> NewSession:
        """Sign in by name and password, and accept an invitation by its link."""
        signed_in = await self._sessions.login(name, password, address=address, note=note)
        try:
            await self.accept(signed_in.principal, secret, keep=signed_in.secret)
        except InvitationInvalid:
            await self._sessions.logout(signed_in.secret)
            raise
        return signed_in

    def _entry_of(
        self, by: Principal, user: UserId, request_id: str | None
    ) -> Callable[[Invitation], NewAuditEntry]:
        def entry(invitation: Invitation) -> NewAuditEntry:
            of_tenant = invitation.tenant is not None
            return self._audit.entry(
                by,
                Right.MEMBERS_WRITE if of_tenant else Right.USERS_WRITE,
                Target("member" if of_tenant else "user", str(user)),
                tenant=invitation.tenant,
                before={"pending": True},
                after={
                    "name": invitation.name,
                    "role": invitation.role,
                    "permissions": sorted(invitation.permissions),
                    "pending": False,
                },
                request_id=request_id,
            )

        return entry


def _hash_of(secret: str) -> str:
    if not secrets.is_secret(secret):
        raise InvitationInvalid
    return secrets.digest(secret)
