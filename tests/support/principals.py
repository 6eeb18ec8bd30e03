"""Principals, and an engine whose passwords cost nothing."""

from argon2 import PasswordHasher

from windlass import Settings
from windlass.core.access.principal import Membership, Principal, local
from windlass.core.access.roles import Role
from windlass.core.access.tenant import Tenant
from windlass.engine.access.passwords import Passwords
from windlass.engine.engine import Engine
from windlass.ids import TenantId, new_token_id
from windlass.storage.storage import Storage
from windlass.telemetry import Telemetry

ACME, GLOBEX = TenantId("acme"), TenantId("globex")
ROOT = local()
#: Somebody without any credential.
ANONYMOUS = Principal(kind="none", id=None, name="nobody")
PASSWORD = "correct horse battery"


def cheap() -> Passwords:
    return Passwords(cheap_hasher())


def cheap_hasher() -> PasswordHasher:
    """The least that the algorithm allows."""
    return PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)


def person(role: str, tenant: TenantId | None = ACME, name: str = "ada") -> Principal:
    return Principal(
        kind="token", id=new_token_id(), name=name, memberships=(Membership(tenant, role),)
    )


def admin(tenant: TenantId = ACME) -> Principal:
    return person(Role.TENANT_ADMIN, tenant)


async def an_engine(storage: Storage, heard: object) -> Engine:
    """With two tenants."""
    for tenant in (ACME, GLOBEX):
        await storage.access.create_tenant(Tenant(id=tenant, name=tenant.title()))
    return Engine(storage, Settings(), Telemetry(heard), passwords=cheap())


async def join(
    engine: Engine, tenant: str, name: str, role: str = Role.USER, *, keep: str | None = None
) -> Principal:
    """Invite somebody who has an account, and accept by a session of theirs."""
    invited = await engine.members.invite(ROOT, tenant, name, role=role)
    user = await engine.users.get(ROOT, name)
    owner = Principal(kind="session", id=user.id, name=user.name)
    await engine.invitations.accept(owner, invited.link.secret, keep=keep)
    return await engine.access.user(user.id, user.name, user.superadmin)


async def everything_stored(storage: Storage) -> str:
    """All that the tables of this part hold, as text."""
    tables = (
        "users",
        "members",
        "tokens",
        "sessions",
        "links",
        "invitations",
        "login_tries",
        "audit",
        "audit_heads",
        "operations",
    )
    found = [await storage.database.query(f"select * from windlass_{t}", {}) for t in tables]
    return str([dict(row) for rows in found for row in rows])
