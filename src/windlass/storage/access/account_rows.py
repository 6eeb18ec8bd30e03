"""Row -> user, member, invitation, token, session, entry, operation."""

from windlass.core.access.accounts import Invitation, LoginSession, Member, Token, User
from windlass.core.access.audit import AuditEntry
from windlass.core.access.principal import Membership
from windlass.core.jobs.operations import BulkAction, Operation, OperationItem
from windlass.ids import JobId, OperationId, SessionId, TenantId, TokenId, UserId
from windlass.storage.sql.rows import Row, decode_json, instant, optional_instant, uuid


def user(row: Row) -> User:
    return User(
        id=UserId(uuid(row["id"])),
        name=row["name"],
        superadmin=bool(row["superadmin"]),
        disabled=bool(row["disabled"]),
        has_password=bool(row["has_password"]),
        created_at=instant(row["created_at"]),
        last_login_at=optional_instant(row["last_login_at"]),
    )


def member(row: Row) -> Member:
    return Member(
        user_id=UserId(uuid(row["user_id"])),
        name=row["name"],
        tenant=TenantId(row["tenant_id"]),
        role=row["role"],
        permissions=frozenset(decode_json(row["permissions"])),
        created_at=instant(row["created_at"]),
    )


def invitation(row: Row) -> Invitation:
    return Invitation(
        tenant=TenantId(row["tenant_id"]) if row["tenant_id"] else None,
        name=row["name"],
        role=row["role"],
        permissions=frozenset(decode_json(row["permissions"])),
        created_at=instant(row["created_at"]),
    )


def membership(row: Row) -> Membership:
    return Membership(
        TenantId(row["tenant_id"]), row["role"], frozenset(decode_json(row["permissions"]))
    )


def token(row: Row) -> Token:
    rights = decode_json(row["rights"])
    return Token(
        id=TokenId(uuid(row["id"])),
        name=row["name"],
        role=row["role"],
        tenant=None if row["tenant_id"] is None else TenantId(row["tenant_id"]),
        rights=None if rights is None else frozenset(rights),
        permissions=frozenset(decode_json(row["permissions"])),
        created_by=None if row["created_by"] is None else UserId(uuid(row["created_by"])),
        created_at=instant(row["created_at"]),
        expires_at=optional_instant(row["expires_at"]),
        last_used_at=optional_instant(row["last_used_at"]),
        revoked_at=optional_instant(row["revoked_at"]),
    )


def session(row: Row) -> LoginSession:
    return LoginSession(
        id=SessionId(uuid(row["id"])),
        user_id=UserId(uuid(row["user_id"])),
        created_at=instant(row["created_at"]),
        expires_at=instant(row["expires_at"]),
        ends_at=instant(row["ends_at"]),
        last_seen_at=instant(row["last_seen_at"]),
        note=row["note"],
    )


def entry(row: Row) -> AuditEntry:
    return AuditEntry(
        tenant=TenantId(row["tenant_id"]) if row["tenant_id"] else None,
        sequence=row["sequence"],
        at=instant(row["at"]),
        actor=row["actor"],
        actor_kind=row["actor_kind"],
        actor_name=row["actor_name"],
        action=row["action"],
        target_kind=row["target_kind"],
        target_id=row["target_id"],
        outcome=row["outcome"],
        before=decode_json(row["value_before"]),
        after=decode_json(row["value_after"]),
        request_id=row["request_id"],
        previous_hash=row["previous_hash"],
        hash=row["hash"],
    )


def operation(row: Row) -> Operation:
    return Operation(
        id=OperationId(uuid(row["id"])),
        tenant=None if row["tenant_id"] is None else TenantId(row["tenant_id"]),
        action=BulkAction(row["action"]),
        query=row["query"],
        reason=row["reason"],
        state=row["state"],
        total=row["total"],
        done=row["done"],
        failed=row["failed"],
        skipped=row["skipped"],
        actor=row["actor"],
        actor_kind=row["actor_kind"],
        actor_name=row["actor_name"],
        created_by=None if row["created_by"] is None else UserId(uuid(row["created_by"])),
        undo_of=None if row["undo_of"] is None else OperationId(uuid(row["undo_of"])),
        changes=decode_json(row["changes"]),
        created_at=instant(row["created_at"]),
        stop_requested_at=optional_instant(row["stop_requested_at"]),
        finished_at=optional_instant(row["finished_at"]),
        token=row["token"],
    )


def item(row: Row) -> OperationItem:
    return OperationItem(row["place"], JobId(uuid(row["job_id"])), row["state"], row["note"])
