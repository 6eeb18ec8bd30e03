"""Users: people who sign in. They are created without a password and set one by a link."""

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Literal

from windlass.core.access.accounts import Invitation, LinkPurpose, User, fold_name
from windlass.core.access.audit import NewAuditEntry, Target
from windlass.core.access.principal import Principal, local
from windlass.core.access.roles import Right, Role
from windlass.core.durations import duration
from windlass.core.jobs.dedupe import check_name
from windlass.engine.access import secrets
from windlass.engine.access.audit import Audit
from windlass.engine.access.authorization import Access
from windlass.engine.access.passwords import Passwords
from windlass.engine.access.passwords import check as check_password
from windlass.errors import LinkInvalid, SuperadminByInvitation, UserExists, UserNotFound
from windlass.ids import UserId, new_user_id, parse_job_id
from windlass.storage.storage import Storage

#: Lifetime of a link, by its purpose.
LINK_LIFETIMES = {
    "login": timedelta(minutes=15),
    "password": timedelta(days=3),
    "invitation": timedelta(days=3),
}


@dataclass(frozen=True, slots=True)
class OneTimeLink:
    """A link that works once: its secret goes into a URL and is shown once."""

    purpose: LinkPurpose | Literal["invitation", "setup"]
    lasts: timedelta
    secret: str = field(repr=False)

    @property
    def path(self) -> str:
        """The path and query of the link, below the server's address."""
        if self.purpose == "setup":
            return f"/setup?key={self.secret}"
        return f"/{self.purpose}?link={self.secret}"


class Users:
    def __init__(
        self, storage: Storage, access: Access, audit: Audit, passwords: Passwords
    ) -> None:
        self._storage = storage
        self._access = access
        self._audit = audit
        self._passwords = passwords

    async def create(
        self,
        by: Principal,
        name: str,
        *,
        superadmin: bool = False,
        password: str | None = None,
        request_id: str | None = None,
    ) -> User:
        """Create a user; `name` is an email address or a plain name, case does not matter.

        Without a password the user must first set one by a link.
        """
        user = User(id=new_user_id(), name=valid_name(name), superadmin=superadmin)
        target = Target("user", str(user.id))
        await self._access.allow_installation(by, Right.USERS_WRITE, target, request_id=request_id)
        hashed = None if password is None else await self._passwords.hash(password)
        entry = self._audit.entry(
            by,
            Right.USERS_WRITE,
            target,
            tenant=None,
            after={"name": user.name, "superadmin": superadmin},
            request_id=request_id,
        )
        if not await self._storage.access.create_user(user, password_hash=hashed, entry=entry):
            raise UserExists(user.name)
        return await self.find(str(user.id))

    async def list(
        self, by: Principal, *, after: str | None = None, limit: int = 100
    ) -> Sequence[User]:
        """List users by name; `after` is the last name already seen."""
        await self._access.allow_installation(by, Right.USERS_READ, Target("user"))
        return await self._storage.access.users(after=after, most=limit)

    async def get(self, by: Principal, user: UserId | str) -> User:
        """A user by id or name."""
        await self._access.allow_installation(by, Right.USERS_READ, Target("user", str(user)))
        return await self.find(str(user))

    async def change(
        self,
        by: Principal,
        user: UserId | str,
        *,
        superadmin: bool | None = None,
        disabled: bool | None = None,
        request_id: str | None = None,
    ) -> User:
        """Take superadmin from a user, disable or enable it. A disabled user's sessions end at
        once; tokens it created stay valid. Only `invite` gives superadmin."""
        target = Target("user", str(user))
        await self._access.allow_installation(by, Right.USERS_WRITE, target, request_id=request_id)
        before = await self.find(str(user))
        if superadmin and not before.superadmin:
            raise SuperadminByInvitation(before.name)
        # Never True: a user who lost superadmin since the look-up must not get it back.
        superadmin = None if superadmin else superadmin
        changes = {"superadmin": superadmin, "disabled": disabled}
        entry = self._audit.entry(
            by,
            Right.USERS_WRITE,
            Target("user", str(before.id)),
            tenant=None,
            before={"superadmin": before.superadmin, "disabled": before.disabled},
            after={name: value for name, value in changes.items() if value is not None},
            request_id=request_id,
        )
        if not await self._storage.access.update_user(
            before.id, superadmin=superadmin, disabled=disabled, entry=entry
        ):
            raise UserNotFound(str(user))
        return await self.find(str(before.id))

    async def invite(
        self, by: Principal, user: UserId | str, *, request_id: str | None = None
    ) -> OneTimeLink:
        """Offer superadmin to a user or name. They get it once they accept by the link; inviting
        again voids the link before."""
        target = Target("user", str(user))
        await self._access.allow_installation(by, Right.USERS_WRITE, target, request_id=request_id)
        by_id = parse_job_id(str(user)) is not None
        name = (await self.find(str(user))).name if by_id else valid_name(str(user))
        known = await self._storage.access.user_by_name(name)
        if known is not None and known.user.superadmin:
            raise UserExists(name)
        entry = self._audit.entry(
            by,
            Right.USERS_WRITE,
            Target("user", str(known.user.id) if known else name),
            tenant=None,
            after={"name": name, "superadmin": True, "pending": True},
            request_id=request_id,
        )
        invitation = Invitation(tenant=None, name=name, role=Role.SUPERADMIN)
        link = new_invitation_link()
        await self._storage.access.upsert_invitation(
            invitation, secrets.digest(link.secret), expires=link.lasts, entry=entry
        )
        return link

    async def delete(
        self,
        by: Principal,
        user: UserId | str,
        *,
        keep_tokens: bool = False,
        request_id: str | None = None,
    ) -> None:
        """Delete a user. What it created stays, without its name; its tokens are revoked.

        Jobs keep the id in `created_by`; it then refers to no user and is never reused.
        """
        target = Target("user", str(user))
        await self._access.allow_installation(by, Right.USERS_WRITE, target, request_id=request_id)
        before = await self.find(str(user))
        entry = self._audit.entry(
            by,
            Right.USERS_WRITE,
            Target("user", str(before.id)),
            tenant=None,
            before={"name": before.name, "superadmin": before.superadmin},
            after={"deleted": True, "tokens_kept": keep_tokens},
            request_id=request_id,
        )
        if not await self._storage.access.delete_user(
            before.id, revoke_tokens=not keep_tokens, entry=entry
        ):
            raise UserNotFound(str(user))

    async def link(
        self,
        by: Principal,
        user: UserId | str,
        purpose: LinkPurpose = "password",
        *,
        expires: str | timedelta | None = None,
        request_id: str | None = None,
    ) -> OneTimeLink:
        """Create a link by which a user sets its password or signs in, once."""
        target = Target("user", str(user))
        await self._access.allow_installation(by, Right.USERS_WRITE, target, request_id=request_id)
        found = await self.find(str(user))
        await self._audit.record(
            by,
            Right.USERS_WRITE,
            Target("user", str(found.id)),
            tenant=None,
            after={"link": purpose},
            request_id=request_id,
        )
        lasts = LINK_LIFETIMES[purpose] if expires is None else duration(expires, option="expires")
        return await self.new_link(found, purpose, lasts)

    async def first_admin(
        self, name: str = "admin", *, expires: str | timedelta = "15m"
    ) -> OneTimeLink:
        """Create a login link for the superadmin of this name, who is created if needed. For
        operators, who have direct access to the database anyway."""
        user = await self._superadmin(name)
        return await self.link(local(), user.id, "login", expires=expires)

    async def administered(self) -> bool:
        """Check if a superadmin has ever signed in; until then `first_admin` and `setup_link` are
        of use."""
        return await self._storage.access.has_superadmin()

    async def setup_link(
        self, name: str = "admin", *, expires: str | timedelta = "1h"
    ) -> OneTimeLink:
        """Create a link by which the first administrator chooses name and password; `name` is that
        of the account until then. For operators, like `first_admin`."""
        user = await self._superadmin(name)
        link = await self.link(local(), user.id, "password", expires=expires)
        return replace(link, purpose="setup")

    async def complete_setup(
        self, secret: str, name: str, password: str, *, request_id: str | None = None
    ) -> UserId:
        """Create the first administrator by a setup link, which works once. LinkInvalid as soon as
        an administrator has signed in, whatever links there are."""
        named = valid_name(name)
        check_password(password)  # first: a password that is too short must not use up the link
        if not secrets.is_secret(secret):
            raise LinkInvalid
        hashed = await self._passwords.hash(password)

        def entry_of(user: UserId) -> NewAuditEntry:
            return self._audit.entry(
                Principal(kind="session", id=user, name=named),
                Right.USERS_WRITE,
                Target("user", str(user)),
                tenant=None,
                after={"name": named, "superadmin": True, "setup": True},
                request_id=request_id,
            )

        user = await self._storage.access.complete_setup(
            secrets.digest(secret), named, hashed, entry_of=entry_of
        )
        if user is None:
            raise LinkInvalid
        return user

    async def _superadmin(self, name: str) -> User:
        """The superadmin of a name, who is created if there is nobody of that name."""
        if await self._storage.access.user_by_name(valid_name(name)) is None:
            with contextlib.suppress(UserExists):  # another server has just created it
                await self.create(local(), name, superadmin=True)
        user = await self.find(valid_name(name))
        if not user.superadmin:
            raise UserExists(user.name)
        return user

    async def new_link(self, user: User, purpose: LinkPurpose, lasts: timedelta) -> OneTimeLink:
        """Create a link for a user; the caller has checked and recorded the right to it."""
        secret = secrets.new_secret(secrets.LINK)
        if not await self._storage.access.create_link(
            secrets.digest(secret), purpose, user.id, expires=lasts
        ):
            raise UserNotFound(str(user.id))
        return OneTimeLink(purpose, lasts, secret)

    async def find(self, user: str) -> User:
        """Find a user by id or name; the caller has checked the right to it."""
        if id := parse_job_id(user):
            found = await self._storage.access.user(UserId(id))
        else:
            known = await self._storage.access.user_by_name(fold_name(user))
            found = known.user if known else None
        if found is None:
            raise UserNotFound(user)
        return found


def new_invitation_link() -> OneTimeLink:
    """A link for an invitation; store it by its hash."""
    return OneTimeLink("invitation", LINK_LIFETIMES["invitation"], secrets.new_secret(secrets.LINK))


def valid_name(name: str) -> str:
    """The stored form of a user's name; OptionInvalid if it is not allowed."""
    return fold_name(check_name("name", fold_name(check_name("name", name))))
