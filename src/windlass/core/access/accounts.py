"""Accounts: users, their roles in tenants, and their credentials."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from windlass.ids import SessionId, TenantId, TokenId, UserId

#: What a link to an account is for.
LinkPurpose = Literal["login", "password"]
#: The cookie that holds a session over http, and the one over https. Browsers accept a cookie of the
#: second name only over https, from this very host, so that no neighbour can plant one.
COOKIE = "windlass_session"
SECURE_COOKIE = f"__Host-{COOKIE}"


@dataclass(frozen=True, slots=True, kw_only=True)
class User:
    """A person who signs in. `name` is an email address or a plain name, without regard to case."""

    id: UserId
    name: str
    superadmin: bool = False
    disabled: bool = False
    has_password: bool = False
    created_at: datetime | None = None
    last_login_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A role in a tenant. `permissions` are words that definitions ask for.

    A pending one was offered to `name` and gives no right until it is accepted. It has no
    `user_id`: whether an account of that name exists stays secret.
    """

    user_id: UserId | None
    name: str
    tenant: TenantId
    role: str
    permissions: frozenset[str] = frozenset()
    created_at: datetime | None = None
    pending: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Invitation:
    """A role that is offered to a name: in a tenant, or without one in the whole installation."""

    tenant: TenantId | None
    name: str
    role: str
    permissions: frozenset[str] = frozenset()
    created_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """A program's credential, without its secret, of which only a hash is kept.

    It has a role in a tenant, or in the installation, perhaps narrowed to some `rights`. It belongs
    to the tenant and stays valid when its creator is gone, unless it is revoked.
    """

    id: TokenId
    name: str
    role: str
    tenant: TenantId | None = None
    rights: frozenset[str] | None = None
    permissions: frozenset[str] = frozenset()
    created_by: UserId | None = None
    created_at: datetime | None = None
    expires_at: datetime | None = None
    last_used_at: datetime | None = None
    revoked_at: datetime | None = None

    @property
    def prefix(self) -> str:
        """The start of the token, by which people recognize it. It is no secret."""
        return f"wl_{self.id.hex}"


@dataclass(frozen=True, slots=True, kw_only=True)
class LoginSession:
    """A signed-in browser. It ends when it was not seen for a while, and at `ends_at` anyway."""

    id: SessionId
    user_id: UserId
    created_at: datetime
    expires_at: datetime
    ends_at: datetime
    last_seen_at: datetime
    note: str = ""


def fold_name(name: str) -> str:
    """A user's name as it is compared: without regard to case and to spaces around it."""
    return name.strip().casefold()
