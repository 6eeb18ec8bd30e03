"""Sessions: people sign in by a password or a one-time link, and out again."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from windlass.core.access.accounts import LinkPurpose, LoginSession, User, fold_name
from windlass.core.access.audit import NewAuditEntry, Target
from windlass.core.access.principal import Principal
from windlass.core.access.roles import Right, may
from windlass.core.text import clean
from windlass.engine.access import secrets
from windlass.engine.access.audit import Audit
from windlass.engine.access.authorization import IDLE, LONGEST, Access
from windlass.engine.access.login_throttle import Throttle
from windlass.engine.access.passwords import Passwords
from windlass.engine.access.passwords import check as check_password
from windlass.errors import LinkInvalid, LoginFailed, SessionNotFound
from windlass.ids import SessionId, UserId, new_session_id
from windlass.storage.storage import Storage

_NOTE_BYTES = 300


@dataclass(frozen=True, slots=True)
class NewSession:
    """A new session: its principal, and the secret for its cookie, which is stored nowhere else."""

    id: SessionId
    principal: Principal
    secret: str = field(repr=False)


class Sessions:
    def __init__(
        self,
        storage: Storage,
        access: Access,
        audit: Audit,
        passwords: Passwords,
        throttle: Throttle,
    ) -> None:
        self._storage = storage
        self._access = access
        self._audit = audit
        self._passwords = passwords
        self._throttle = throttle

    async def login(
        self, name: str, password: str, *, address: str | None = None, note: str = ""
    ) -> NewSession:
        """Sign in by name and password. Neither LoginFailed nor its timing reveals if the account
        exists. `note` describes the browser in the list of sessions."""
        counted = await self._throttle.count(name, address)
        known = await self._storage.access.user_by_name(fold_name(name))
        stored = known.password_hash if known and not known.user.disabled else None
        right = await self._passwords.verify(stored, password)
        if known is None or stored is None or not right:
            raise LoginFailed
        await self._throttle.succeeded(counted)
        if self._passwords.outdated(stored):
            await self._storage.access.rehash_password(
                known.user.id, await self._passwords.hash(password)
            )
        return await self._begin(known.user, address, note)

    async def login_with_link(
        self, secret: str, *, address: str | None = None, note: str = ""
    ) -> NewSession:
        """Sign in by a login link, which works once."""
        return await self._begin(await self._use(secret, "login"), address, note)

    async def set_password(
        self, secret: str, password: str, *, address: str | None = None, note: str = ""
    ) -> NewSession:
        """Set a password by a link, which works once, and sign in. All other sessions end."""
        check_password(password)  # first: a password that is too short must not use up the link
        user = await self._use(secret, "password")
        by = await self._access.user(user.id, user.name, user.superadmin)
        await self._storage.access.set_password(
            user.id, await self._passwords.hash(password), entry=self._of_password(by, None)
        )
        return await self._begin(user, address, note)

    async def change_password(
        self,
        by: Principal,
        before: str,
        after: str,
        *,
        keep: str | None = None,
        request_id: str | None = None,
    ) -> None:
        """Change one's own password, given the old one. All sessions end except that of `keep`."""
        check_password(after)
        user = await self._own_user(by)
        counted = await self._throttle.count_password_change(user.name)
        known = await self._storage.access.user_by_name(user.name)
        if not await self._passwords.verify(known and known.password_hash, before):
            raise LoginFailed
        await self._throttle.succeeded(counted)
        await self._storage.access.set_password(
            user.id,
            await self._passwords.hash(after),
            but=await self.own_session(keep, user.id),
            entry=self._of_password(by, request_id),
        )

    async def logout(self, secret: str) -> None:
        """End a session by its secret; nothing happens if there is none."""
        found = await self._storage.access.session(secrets.digest(secret), fresh=IDLE)
        if found is not None:
            await self._storage.access.delete_session(found.session.id)

    async def list(self, by: Principal, *, user: UserId | None = None) -> Sequence[LoginSession]:
        """The open sessions: one's own, or with the right to it another user's."""
        return await self._storage.access.sessions(
            await self._target_user(by, user, Right.USERS_READ)
        )

    async def revoke(
        self,
        by: Principal,
        id: SessionId,
        *,
        user: UserId | None = None,
        request_id: str | None = None,
    ) -> None:
        """End a session: one's own, or with the right to it another user's."""
        owner = await self._target_user(by, user, Right.USERS_WRITE)
        entry = self._audit.entry(
            by, "sessions.revoke", Target("session", str(id)), tenant=None, request_id=request_id
        )
        if not await self._storage.access.delete_session(id, user=owner, entry=entry):
            raise SessionNotFound(str(id))

    async def revoke_all(
        self, by: Principal, *, user: UserId | None = None, request_id: str | None = None
    ) -> None:
        """End all sessions of oneself, or with the right to it of another user."""
        owner = await self._target_user(by, user, Right.USERS_WRITE)
        await self._storage.access.delete_user_sessions(owner)
        await self._audit.record(
            by, "sessions.revoke", Target("user", str(owner)), tenant=None, request_id=request_id
        )

    async def own_session(self, secret: str | None, user: UserId) -> SessionId | None:
        """The id of the user's session with this secret; None if there is none."""
        found = (
            await self._storage.access.session(secrets.digest(secret), fresh=IDLE)
            if secret
            else None
        )
        return found.session.id if found and found.session.user_id == user else None

    async def begin(self, user: UserId, *, address: str | None, note: str) -> NewSession:
        """Begin a session of a user who has just proved their identity."""
        found = await self._storage.access.user(user)
        if found is None:
            raise LoginFailed
        return await self._begin(found, address, note)

    async def prune(self) -> None:
        """Delete some expired sessions, links, invitations and login counts."""
        await self._storage.access.prune_access()

    def _of_password(self, by: Principal, request_id: str | None) -> NewAuditEntry:
        target = Target("user", str(by.user_id))
        return self._audit.entry(
            by, "sessions.password", target, tenant=None, request_id=request_id
        )

    async def _begin(self, user: User, address: str | None, note: str) -> NewSession:
        secret, id = secrets.new_secret(secrets.SESSION), new_session_id()
        if not await self._storage.access.create_session(
            id,
            secrets.digest(secret),
            user.id,
            idle=IDLE,
            longest=LONGEST,
            note=clean(note, _NOTE_BYTES),
        ):
            raise LoginFailed
        await self._throttle.remember(user.name, address)
        return NewSession(id, await self._access.user(user.id, user.name, user.superadmin), secret)

    async def _use(self, secret: str, purpose: LinkPurpose) -> User:
        if not secrets.is_secret(secret):
            raise LinkInvalid
        id = await self._storage.access.use_link(secrets.digest(secret), purpose)
        user = await self._storage.access.user(id) if id else None
        if user is None or user.disabled:
            raise LinkInvalid
        return user

    async def _own_user(self, by: Principal) -> User:
        user = await self._storage.access.user(UserId(by.user_id)) if by.user_id else None
        if user is None:
            raise LoginFailed
        return user

    async def _target_user(self, by: Principal, user: UserId | None, right: Right) -> UserId:
        own = None if by.user_id is None else UserId(by.user_id)
        if own is not None and user in (None, own):
            return own
        if user is None or not may(by, right, table=self._access.table):
            await self._access.refuse(by, right, Target("user", str(user or "")))
        return user
