"""Verbs on tokens, sessions, one-time links and login counts. They see only hashes of secrets."""

from collections.abc import Collection
from datetime import timedelta
from typing import NamedTuple

from windlass.core.access.accounts import LinkPurpose, LoginSession, Token
from windlass.core.access.audit import NewAuditEntry
from windlass.core.jobs.models import Scope
from windlass.core.payloads.json_text import dump_json
from windlass.ids import SessionId, TokenId, UserId
from windlass.storage.access import account_rows
from windlass.storage.access.audit import run_audited
from windlass.storage.connection.deadlock_retry import retry_deadlocks
from windlass.storage.database import Database
from windlass.storage.sql import rows
from windlass.storage.sql.statements import Batch


class StoredToken(NamedTuple):
    """A token with what authentication needs. If `stale`, its last use should be stored again."""

    token: Token
    hash: str
    valid: bool
    stale: bool


class StoredSession(NamedTuple):
    session: LoginSession
    name: str
    superadmin: bool
    stale: bool


class LoginTries(NamedTuple):
    """The number of login tries in a window, and the time left in it."""

    number: int
    left: timedelta


class CredentialVerbs:
    _db: Database

    async def create_token(
        self,
        token: Token,
        hash: str,
        *,
        expires: timedelta | None = None,
        entry: NewAuditEntry | None = None,
    ) -> bool:
        """Create a token; False if its tenant does not exist, or its creator is gone."""
        return bool(
            await run_audited(
                self._db,
                "create_token",
                entry=entry,
                id=token.id,
                name=token.name,
                hash=hash,
                role=token.role,
                tenant_id=token.tenant,
                rights=None if token.rights is None else dump_json(sorted(token.rights)),
                permissions=dump_json(sorted(token.permissions)),
                created_by=token.created_by,
                expires=expires,
            )
        )

    async def tokens(
        self, scope: Scope, *, ended: bool = True, before: TokenId | None = None, most: int = 100
    ) -> list[Token]:
        """Tokens, newest first; `ended` includes revoked and expired ones. `before` is the last one
        already seen."""
        found = await self._db.run(
            "tokens", tenant_id=scope.tenant, ended=ended, before=before, most=most
        )
        return [account_rows.token(row) for row in found]

    async def token(self, id: TokenId, *, fresh: timedelta) -> StoredToken | None:
        """A token by id, with its hash; `stale` if its last use was stored before `fresh`."""
        found = await self._db.run("token", id=id, seconds=fresh)
        if not found:
            return None
        row = found[0]
        return StoredToken(
            account_rows.token(row), row["hash"], bool(row["valid"]), bool(row["stale"])
        )

    async def token_names(self, ids: Collection[TokenId]) -> dict[TokenId, str]:
        """The names of tokens of any tenant, revoked ones included; deleted ones are left out."""
        found = await self._db.run("token_names", ids=Batch(id=list(ids)))
        return {TokenId(rows.uuid(row["id"])): row["name"] for row in found}

    async def touch_token(self, id: TokenId, *, fresh: timedelta) -> None:
        """Store that a token was used, unless that was stored within `fresh`."""
        await self._db.run("touch_token", id=id, seconds=fresh)

    async def revoke_token(
        self, scope: Scope, id: TokenId, *, entry: NewAuditEntry | None = None
    ) -> bool:
        """Revoke a token for good; False if the scope has no such valid token."""
        return bool(
            await run_audited(self._db, "revoke_token", entry=entry, id=id, tenant_id=scope.tenant)
        )

    @retry_deadlocks
    async def create_session(
        self,
        id: SessionId,
        hash: str,
        user: UserId,
        *,
        idle: timedelta,
        longest: timedelta,
        note: str = "",
    ) -> bool:
        """Create a session, and store that its user signed in; False if the user is gone."""
        async with self._db.transaction() as session:
            exists = bool(await session.run("record_login", id=user))
            if exists:
                await session.run(
                    "create_session",
                    id=id,
                    hash=hash,
                    user_id=user,
                    idle=idle,
                    longest=longest,
                    note=note,
                )
            return exists

    async def session(self, hash: str, *, fresh: timedelta) -> StoredSession | None:
        """The session with this hash, if it has not expired and its user may sign in."""
        found = await self._db.run("session", hash=hash, seconds=fresh)
        if not found:
            return None
        row = found[0]
        return StoredSession(
            account_rows.session(row), row["name"], bool(row["superadmin"]), bool(row["stale"])
        )

    async def touch_session(self, id: SessionId, *, idle: timedelta) -> None:
        """Store that a session was used, and extend it, but not beyond its maximum."""
        await self._db.run("touch_session", id=id, idle=idle)

    async def sessions(self, user: UserId, *, most: int = 100) -> list[LoginSession]:
        """A user's open sessions, newest first."""
        found = await self._db.run("sessions", user_id=user, most=most)
        return [account_rows.session(row) for row in found]

    async def delete_session(
        self, id: SessionId, *, user: UserId | None = None, entry: NewAuditEntry | None = None
    ) -> bool:
        """End a session; with `user`, only one of that user."""
        return bool(await run_audited(self._db, "delete_session", entry=entry, id=id, user_id=user))

    async def delete_user_sessions(self, user: UserId, *, but: SessionId | None = None) -> None:
        """End all sessions of a user, except `but`."""
        await self._db.run("delete_user_sessions", user_id=user, but=but)

    async def create_link(
        self, hash: str, purpose: LinkPurpose, user: UserId, *, expires: timedelta
    ) -> bool:
        """Create a link that works once; False if the user is gone."""
        return bool(
            await run_audited(
                self._db,
                "create_link",
                entry=None,
                hash=hash,
                purpose=purpose,
                user_id=user,
                expires=expires,
            )
        )

    async def use_link(self, hash: str, purpose: LinkPurpose) -> UserId | None:
        """Use up a link and return its owner; None if it was used, has expired, or never existed."""
        found = await run_audited(self._db, "use_link", entry=None, hash=hash, purpose=purpose)
        return UserId(rows.uuid(found[0]["user_id"])) if found else None

    @retry_deadlocks
    async def count_login_try(self, key: str, *, window: timedelta) -> LoginTries:
        """Count a login before its password is checked, so that no two are counted as one."""
        async with self._db.transaction() as session:
            [row] = await session.run("count_login_try", key=key, window=window)
        return LoginTries(int(row["tries"]), timedelta(seconds=max(0.0, float(row["seconds"]))))

    async def clear_login_tries(self, key: str) -> None:
        """Reset the count of a key."""
        await self._db.run("clear_login_tries", key=key)

    @retry_deadlocks
    async def remember_login(self, key: str, *, lasts: timedelta) -> None:
        """Remember that an account signed in from an address; `key` contains both."""
        async with self._db.transaction() as session:
            await session.run("remember_login", key=key, lasts=lasts)

    async def remembered_login(self, key: str) -> bool:
        """Check if a login under this key is still remembered."""
        return bool(await self._db.run("remembered_login", key=key))

    async def prune_access(self, *, most: int = 1000) -> None:
        """Delete some expired sessions, links and login counts."""
        await self._db.run("prune_access", most=most)
