"""Verbs on users and members. A change and its audit entry are stored together."""

from collections.abc import Callable, Collection
from typing import Any, NamedTuple

from windlass.core.access.accounts import Member, User
from windlass.core.access.audit import NewAuditEntry
from windlass.core.access.principal import Membership
from windlass.core.jobs.models import Scope
from windlass.core.payloads.json_text import dump_json
from windlass.errors import UserExists
from windlass.ids import SessionId, UserId
from windlass.storage.access import account_rows
from windlass.storage.access.audit import append, run_audited
from windlass.storage.connection.deadlock_retry import retry_deadlocks
from windlass.storage.database import Database
from windlass.storage.sql import rows

#: Builds the audit entry about a user.
EntryOf = Callable[[UserId], NewAuditEntry]


class UserWithPassword(NamedTuple):
    """A user with its password hash, for a login."""

    user: User
    password_hash: str | None


class AccountVerbs:
    _db: Database

    async def create_user(
        self, user: User, *, password_hash: str | None = None, entry: NewAuditEntry | None = None
    ) -> bool:
        """Create a user; False if the name is taken."""
        return bool(
            await run_audited(
                self._db,
                "create_user",
                entry=entry,
                id=user.id,
                name=user.name,
                password_hash=password_hash,
                superadmin=user.superadmin,
            )
        )

    async def users(self, *, after: str | None = None, most: int = 100) -> list[User]:
        """Users by name; `after` is the last name already seen."""
        return [
            account_rows.user(row) for row in await self._db.run("users", after=after, most=most)
        ]

    async def user(self, id: UserId) -> User | None:
        found = await self._db.run("user", id=id)
        return account_rows.user(found[0]) if found else None

    async def user_by_name(self, name: str) -> UserWithPassword | None:
        """A user by name, with the hash of the password."""
        found = await self._db.run("user_by_name", name=name)
        return (
            UserWithPassword(account_rows.user(found[0]), found[0]["password_hash"])
            if found
            else None
        )

    async def has_superadmin(self) -> bool:
        """Check if a superadmin has ever signed in, and still may."""
        [row] = await self._db.run("has_superadmin")
        return bool(row["found"])

    async def update_user(
        self,
        id: UserId,
        *,
        superadmin: bool | None = None,
        disabled: bool | None = None,
        entry: NewAuditEntry | None = None,
    ) -> bool:
        """Change a user; its sessions and links end when it is disabled. Taking superadmin away
        also withdraws an invitation to it."""
        also: list[tuple[str, dict[str, Any]]] = []
        if disabled:
            also.append(("delete_user_sessions", {"user_id": id, "but": None}))
            also.append(("expire_user_links", {"user_id": id}))
        if superadmin is False:
            also.append(("delete_user_invitations", {"user_id": id, "tenant_id": ""}))
        return bool(
            await run_audited(
                self._db,
                "update_user",
                entry=entry,
                also=also,
                id=id,
                superadmin=superadmin,
                disabled=disabled,
            )
        )

    async def set_password(
        self,
        id: UserId,
        password_hash: str,
        *,
        but: SessionId | None = None,
        entry: NewAuditEntry | None = None,
    ) -> bool:
        """Set a user's password, and end its sessions (except one) and links."""
        return bool(
            await run_audited(
                self._db,
                "set_password",
                entry=entry,
                also=[
                    ("delete_user_sessions", {"user_id": id, "but": but}),
                    ("expire_user_links", {"user_id": id}),
                ],
                id=id,
                password_hash=password_hash,
            )
        )

    async def rehash_password(self, id: UserId, password_hash: str) -> None:
        """Store a stronger hash of the same password."""
        await run_audited(self._db, "set_password", entry=None, id=id, password_hash=password_hash)

    @retry_deadlocks
    async def complete_setup(
        self, link: str, name: str, password_hash: str, *, entry_of: EntryOf
    ) -> UserId | None:
        """Use up the link of a user who never signed in, by its hash, and give the user its name
        and password. None if the link is not valid, or an administrator has signed in. UserExists
        if another user has the name."""
        async with self._db.transaction() as session:
            used = await session.run("use_link", hash=link, purpose="password")
            if not used:
                return None
            id = UserId(rows.uuid(used[0]["user_id"]))
            named = await session.run("user_by_name", name=name)
            if named and account_rows.user(named[0]).id != id:
                raise UserExists(name)
            if not await session.run(
                "complete_setup", id=id, name=name, password_hash=password_hash
            ):
                return None
            await session.run("expire_user_links", user_id=id)
            await append(session, entry_of(id))
            return id

    @retry_deadlocks
    async def delete_user(
        self, id: UserId, *, revoke_tokens: bool = True, entry: NewAuditEntry | None = None
    ) -> bool:
        """Delete a user with its roles, sessions, links and invitations. What it created stays,
        without its name."""
        async with self._db.transaction() as session:
            await session.run("lock_user", id=id)
            if revoke_tokens:  # first: later nothing links the tokens to the user
                await session.run("revoke_user_tokens", user_id=id)
            await session.run("delete_user_invitations", user_id=id, tenant_id=None)
            gone = bool(await session.run("delete_user", id=id))
            if gone and entry is not None:
                await append(session, entry)
            return gone

    async def update_member(
        self,
        user: UserId,
        tenant: str,
        role: str,
        permissions: Collection[str] = (),
        *,
        entry: NewAuditEntry | None = None,
    ) -> bool:
        """Change a member's role in a tenant; False if the user has none there. A first role comes
        from an accepted invitation."""
        return bool(
            await run_audited(
                self._db,
                "update_member",
                entry=entry,
                user_id=user,
                tenant_id=tenant,
                role=role,
                permissions=dump_json(sorted(permissions)),
            )
        )

    async def delete_member(
        self, user: UserId, tenant: str, *, entry: NewAuditEntry | None = None
    ) -> bool:
        """Remove a user's role in a tenant; False if it had none."""
        return bool(
            await run_audited(
                self._db, "delete_member", entry=entry, user_id=user, tenant_id=tenant
            )
        )

    async def members(
        self,
        scope: Scope,
        *,
        user: UserId | None = None,
        name: str | None = None,
        most: int = 1000,
    ) -> list[Member]:
        """Members and their roles, sorted by tenant and name; only `user` or `name` if given."""
        found = await self._db.run(
            "members", tenant_id=scope.tenant, user_id=user, name=name, most=most
        )
        return [account_rows.member(row) for row in found]

    async def memberships(self, user: UserId) -> list[Membership]:
        """A user's roles in tenants that are not deleted."""
        found = await self._db.run("memberships", user_id=user)
        return [account_rows.membership(row) for row in found]
