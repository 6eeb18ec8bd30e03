"""Builders: users, tokens, sessions, entries and operations."""

import hashlib
from typing import Any
from uuid import uuid4

from tests.support.job_builders import DAY, HOUR, MINUTE
from windlass.core.access.accounts import Invitation, Token, User
from windlass.core.access.audit import NewAuditEntry
from windlass.core.jobs.operations import BulkAction, Operation
from windlass.ids import (
    JobId,
    SessionId,
    TenantId,
    UserId,
    new_operation_id,
    new_session_id,
    new_token_id,
    new_user_id,
)
from windlass.storage.storage import Storage


def hash_of(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


async def a_user(storage: Storage, name: str = "ada", **changes: Any) -> UserId:
    user = User(id=new_user_id(), name=name, **changes)
    assert await storage.access.create_user(user, password_hash="$argon2id$…".replace("…", "x"))
    return user.id


async def invite(
    storage: Storage, name: str, tenant: str = "", role: str = "user", **about: Any
) -> str:
    """Offer a role; returns the hash of the link."""
    hash = hash_of(f"{tenant} {name} {uuid4()}")
    offer = Invitation(
        tenant=TenantId(tenant) if tenant else None,
        name=name,
        role=role,
        permissions=frozenset(about.get("permissions", ())),
    )
    assert await storage.access.upsert_invitation(offer, hash, expires=about.get("expires", HOUR))
    return hash


def accepted(invitation: Invitation) -> NewAuditEntry:
    """The audit entry of an invitation that is accepted."""
    return an_entry(invitation.tenant, action="members.write")


async def a_member(
    storage: Storage, user: UserId, tenant: str, role: str = "user", permissions: Any = ()
) -> None:
    """Give a user a role in a tenant, as it is done: by an invitation that is accepted."""
    found = await storage.access.user(user)
    assert found is not None
    hash = await invite(storage, found.name, tenant, role, permissions=permissions)
    assert await storage.access.accept_invitation(hash, user, session=None, entry_of=accepted)


def a_token(**changes: Any) -> Token:
    return Token(**{"id": new_token_id(), "name": "deploy", "role": "user"} | changes)


async def a_session(storage: Storage, user: UserId, secret: str = "s") -> SessionId:
    id = new_session_id()
    await storage.access.create_session(id, hash_of(secret), user, idle=10 * MINUTE, longest=DAY)
    return id


def an_entry(tenant: str | None = None, **changes: Any) -> NewAuditEntry:
    about: dict[str, Any] = {
        "actor": "user:1",
        "actor_kind": "session",
        "actor_name": "ada",
        "action": "queues.pause",
        "target_kind": "queue",
        "target_id": "mail",
    }
    return NewAuditEntry(tenant=tenant and TenantId(tenant), **about | changes)


def an_operation(action: str = "cancel", **changes: Any) -> Operation:
    about: dict[str, Any] = {
        "tenant": None,
        "query": "state:queued",
        "total": 0,
        "actor": "user:1",
        "actor_kind": "session",
        "actor_name": "ada",
        "changes": {"priority": 7} if action == "update" else None,
    }
    return Operation(id=new_operation_id(), action=BulkAction(action), **about | changes)


async def begun(
    storage: Storage, jobs: list[JobId], action: str = "cancel", **changes: Any
) -> Operation:
    """An operation on some jobs, held by a process."""
    operation = an_operation(action, **changes)
    await storage.jobs.create_operation(operation, jobs)
    taken = await storage.jobs.claim_operation(hold=MINUTE)
    assert taken is not None
    return taken
