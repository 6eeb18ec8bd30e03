"""The principal of a call: a person's session, a token, or the machine itself, and its memberships."""

from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from windlass.errors import OptionInvalid
from windlass.ids import TenantId

PrincipalKind = Literal["session", "token", "none"]

#: How actors begin: a user and a token of Windlass, and somebody whom only the application knows that
#: enqueued for them.
USER, TOKEN, FOR = "user:", "token:", "for:"
#: Prefixes of Windlass's own actors, which an application's names cannot have.
_ACTORS = (USER, TOKEN)
_LONGEST_NAME = 180


@dataclass(frozen=True, slots=True)
class Membership:
    """A role in one tenant; without a tenant, in the whole installation.

    `permissions` are words that definitions ask for with `requires_permission`.
    """

    tenant: TenantId | None
    role: str
    permissions: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Principal:
    """The caller, with its roles and rights. It comes from the credential, never from a request.

    `rights` narrows what the roles give: only those named are left. None leaves all of them.
    """

    kind: PrincipalKind
    id: UUID | None
    name: str
    memberships: tuple[Membership, ...] = ()
    rights: frozenset[str] | None = None

    @property
    def actor(self) -> str:
        """Name of the principal in jobs, history and audit, such as `user:0199…`.

        By id, because a name can be given to somebody else once its first holder is gone.
        """
        if self.id is None:
            return self.name
        return f"{'user' if self.kind == 'session' else self.kind}:{self.id}"

    @property
    def user_id(self) -> UUID | None:
        """The user behind a session; None for everything else."""
        return self.id if self.kind == "session" else None

    @property
    def tenants(self) -> frozenset[TenantId]:
        """The tenants it is bound to; empty also for one that is bound to none of them."""
        return frozenset(each.tenant for each in self.memberships if each.tenant is not None)

    @property
    def installation_wide(self) -> bool:
        """True if it holds a role that is bound to no tenant."""
        return any(each.tenant is None for each in self.memberships)


def created_by_for(name: str) -> str:
    """The `created_by` of a job that is enqueued on behalf of `name`: `user:<id>` as it is, any other
    name behind `for:`, so that it cannot be mistaken for an actor of Windlass.

    Whether the user exists is for the caller to check.
    """
    text = name.removeprefix(FOR)
    if name.startswith(USER) and _is_uuid(name.removeprefix(USER)):
        return name
    own = text.lower().startswith(_ACTORS)
    if own or not text.isprintable() or text != text.strip() or not 0 < len(text) <= _LONGEST_NAME:
        raise OptionInvalid("created_by", name, allowed=CREATORS)
    return f"{FOR}{text}"


def token_of(actor: str | None) -> UUID | None:
    """The id of the token that an actor is; None for everybody else."""
    id = (actor or "").removeprefix(TOKEN)
    return UUID(id) if id != actor and _is_uuid(id) else None


def display_actor(actor: str, name: str | None) -> str:
    """An actor as people read it: with its name before it, if that is known."""
    return f"{name} ({actor})" if name else actor


#: What `created_by` may name, in words.
CREATORS = (
    f"`{USER}<id>` of a member of the tenant, or a name of your own of at most {_LONGEST_NAME}"
    " printable characters"
)


def _is_uuid(text: str) -> bool:
    try:
        return str(UUID(text)) == text
    except ValueError:
        return False


def local(role: str = "superadmin", name: str = "local") -> Principal:
    """Principal with access to the database itself: the command line, or a server without authentication,
    which listens on loopback only."""
    return Principal(kind="none", id=None, name=name, memberships=(Membership(None, role),))
