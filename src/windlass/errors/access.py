"""5xxx: who may do what — credentials, rights, users, tokens, bulk operations."""

from collections.abc import Collection, Sequence

from windlass.errors.base import WindlassError
from windlass.errors.wording import counted, did_you_mean, listed, quoted


class NotAuthenticated(WindlassError):
    """There is no credential, or it is not valid. The error does not say whether it is unknown, expired
    or revoked."""

    code = "WL5101"

    def __init__(self) -> None:
        super().__init__(
            "a valid token or session is needed.",
            reason="There was none, or it is unknown, expired or revoked.",
            hint="Sign in (`windlass login`), or make a token: `windlass tokens create`.",
        )


class Forbidden(WindlassError):
    """The credential is valid and does not have the right that is needed."""

    code = "WL5102"

    def __init__(self, right: str, *, because: str = "") -> None:
        self.right = right
        super().__init__(
            f"{right} is not allowed with this credential.",
            reason=f"{because[:1].upper()}{because[1:]}." if because else "",
            hint="Ask an administrator of the tenant for a role that has this right.",
        )


class LoginFailed(WindlassError):
    """Name and password do not belong together. The error does not say whether the account exists."""

    code = "WL5103"

    def __init__(self) -> None:
        super().__init__(
            "name or password is wrong.",
            hint="Try again, or ask an administrator for a new link to set a password.",
        )


class LoginThrottled(WindlassError):
    """Too many logins were tried for one account, or from one address."""

    code = "WL5104"

    def __init__(self, *, retry_after_seconds: int) -> None:
        self.retry_after_seconds = retry_after_seconds
        super().__init__(
            "too many logins were tried.",
            reason="Logins are limited for each account and each address.",
            hint=f"Try again in {counted(retry_after_seconds, 'second')}.",
        )


class LinkInvalid(WindlassError):
    """A one-time link cannot be used: it is unknown, used or expired."""

    code = "WL5105"

    def __init__(self) -> None:
        super().__init__(
            "this link cannot be used.",
            reason="Links work once and for a limited time.",
            hint="Ask for a new one.",
        )


class TenantNeeded(WindlassError):
    """The credential is bound to several tenants, and the call did not say which one it is for."""

    code = "WL5106"

    def __init__(self, tenants: Sequence[str]) -> None:
        self.tenants = tuple(tenants)
        super().__init__(
            "this call needs a tenant.",
            reason=f"The credential is bound to {listed([quoted(each) for each in tenants])}.",
            hint="Name one of them (in a shell by -t).",
        )


class UserNotFound(WindlassError):
    """There is no user with this id or name."""

    code = "WL5201"

    def __init__(self, user: str) -> None:
        self.user = user
        super().__init__(f"no user {quoted(user)}.", hint="`windlass users list` shows the users.")


class UserExists(WindlassError):
    """There is a user of this name already, whatever its case."""

    code = "WL5202"

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(
            f"there is a user {quoted(name)} already.",
            hint="Take another name, or offer that user superadmin: `windlass users invite`.",
        )


class MemberNotFound(WindlassError):
    """The user has no role in this tenant."""

    code = "WL5203"

    def __init__(self, user: str, *, tenant: str) -> None:
        self.user = user
        self.tenant = tenant
        super().__init__(
            f"{quoted(user)} is no member of {quoted(tenant)}.",
            hint=f"`windlass members list -t {tenant}` shows its members.",
        )


class InvitationInvalid(WindlassError):
    """An invitation cannot be accepted in this way. The error is the same for an unknown link, a used or
    expired one, one for another name, and one for a name that has an account."""

    code = "WL4410"

    def __init__(self) -> None:
        super().__init__(
            "this invitation cannot be accepted in this way.",
            reason=(
                "Its link works once, for a limited time, and for the name that was invited. The "
                "owner of an account of that name accepts while signed in."
            ),
            hint=(
                "Sign in as the invited name and open the link again, or ask for a new one. If "
                "the account is not yours, ask an administrator for a link to set its password."
            ),
        )


class MemberExists(WindlassError):
    """The invited user has a role in the tenant already."""

    code = "WL4411"

    def __init__(self, user: str, *, tenant: str) -> None:
        self.user = user
        self.tenant = tenant
        super().__init__(
            f"{quoted(user)} is a member of {quoted(tenant)} already.",
            hint="Change the role instead: `windlass members role`.",
        )


class SuperadminByInvitation(WindlassError):
    """An account that exists was to become superadmin without its owner's acceptance."""

    code = "WL4412"

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(
            f"{quoted(name)} becomes superadmin only by accepting an invitation.",
            reason="Another person may hold a password or a link of an existing account.",
            hint="Make an invitation, and send its link: `windlass users invite`.",
        )


class TokenNotFound(WindlassError):
    """There is no token with this id, or it belongs to another tenant."""

    code = "WL5204"

    def __init__(self, id: str, *, known: Collection[str] = ()) -> None:
        self.id = id
        super().__init__(
            f"no token has the name or id {quoted(id)}.",
            reason="It may be revoked, or belong to another tenant.",
            hint=did_you_mean(id, known) + "`windlass tokens list` shows the tokens.",
        )


class SessionNotFound(WindlassError):
    """There is no session with this id, it has ended, or it is another user's."""

    code = "WL5205"

    def __init__(self, id: str) -> None:
        self.id = id
        super().__init__(
            f"no session {quoted(id)}.", hint="It may have ended; list the sessions again."
        )


class TenantExists(WindlassError):
    """A tenant has this id, or a deleted one had it: an id is never given twice."""

    code = "WL4420"

    def __init__(self, tenant: str, *, deleted: bool = False) -> None:
        self.tenant = tenant
        self.deleted = deleted
        super().__init__(
            f"the id {quoted(tenant)} belongs to a tenant that was deleted."
            if deleted
            else f"there is a tenant {quoted(tenant)} already.",
            reason="An id is never given twice: history and audit speak of its first owner."
            if deleted
            else "",
            hint="Take another id."
            if deleted
            else "Change that one (`windlass tenants change`), or take another id.",
        )


class TenantReserved(WindlassError):
    """The tenants `default` and `system` belong to the installation and cannot be deleted."""

    code = "WL4421"

    def __init__(self, tenant: str) -> None:
        self.tenant = tenant
        super().__init__(
            f"the tenant {quoted(tenant)} cannot be deleted.",
            reason="The installation itself works with it.",
            hint="Suspend it (`windlass tenants suspend`) to let it do nothing.",
        )


class OperationNotFound(WindlassError):
    """There is no bulk operation with this id, or it belongs to another tenant."""

    code = "WL5301"

    def __init__(self, id: str) -> None:
        self.id = id
        super().__init__(
            f"no operation {quoted(id)}.",
            reason="It may belong to another tenant, or have been pruned.",
            hint="List the operations to see what there is.",
        )


class OperationTooLarge(WindlassError):
    """A bulk operation is about more jobs than one may be."""

    code = "WL5302"

    def __init__(self, *, most: int) -> None:
        self.most = most
        super().__init__(
            f"more than {most:,} jobs match.",
            reason="One operation takes no more than that.",
            hint="Narrow the filter, by time or by definition, and run several.",
        )


class OperationStateConflict(WindlassError):
    """A bulk operation is in no state to be stopped, or cannot be undone."""

    code = "WL5303"

    def __init__(self, id: str, *, verb: str, because: str) -> None:
        self.id = id
        super().__init__(
            f"operation {quoted(id)} cannot be {verb}.",
            reason=f"{because[:1].upper()}{because[1:]}.",
            hint="Look at its state and counts first.",
        )
