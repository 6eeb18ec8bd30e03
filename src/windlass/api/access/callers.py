"""The caller of a request: its name, rights and scope, and the dependencies that check them."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import Annotated, Any

from windlass.api.middleware import audit
from windlass.api.routing import OWN, Depends, Query, Request
from windlass.core.access.grants import may_enqueue
from windlass.core.access.principal import Principal, local
from windlass.core.access.roles import Right, RoleTable, is_audited
from windlass.core.definitions.definition import Definition
from windlass.core.jobs.models import ALL_TENANTS, DEFAULT_TENANT, Job, Scope
from windlass.engine.engine import Engine
from windlass.engine.jobs.requests import Requester
from windlass.errors import Forbidden, JobNotFound, NotAuthenticated, TenantNotFound
from windlass.tasks import bind_tenant

#: Principal of a caller on a server without authentication.
_LOCAL = local()
#: Reason for refusing data that cannot be limited to the caller's own jobs.
ONLY_OWN = "this covers all jobs, and the caller's right covers only their own"
#: Scope of a caller without a tenant, or with several and none chosen: it contains nothing.
NOWHERE = Scope.of("")


@dataclass(frozen=True, slots=True)
class Caller:
    """An authenticated caller: the name in the audit, and the rights.

    With an `owner` the caller may touch only what that owner created; without `reads_all` it sees
    only its own jobs. `name` is None on a server without authentication.
    """

    name: str | None
    scope: Scope
    rights: frozenset[str] | None = None  # None means all
    owner: str | None = None
    reads_all: bool = True
    #: True if the request chose the tenant, with a credential that is bound to none.
    narrowed: bool = False
    principal: Principal | None = field(default=None, compare=False)

    def may(self, right: str) -> bool:
        return self.rights is None or right in self.rights

    @property
    def tenant(self) -> str:
        """Tenant of what the caller creates, unless the request names another."""
        return self.scope.tenant or DEFAULT_TENANT

    @property
    def bound_to(self) -> str | None:
        """Tenant that the credential is bound to, whatever the request names; None if unbound."""
        wide = self.principal is not None and self.principal.installation_wide
        return None if wide else self.scope.tenant

    @property
    def effective_principal(self) -> Principal:
        """Principal for the engine's access rules; it never has more rights than the caller."""
        return self.principal or replace(_LOCAL, name=self.name or _LOCAL.name, rights=self.rights)

    @property
    def by(self) -> Principal | None:
        """Principal whose right to enqueue is checked; None without authentication."""
        return None if self.name is None and self.rights is None else self.effective_principal

    def requester(self, request: Request) -> Requester:
        """The caller as the engine checks it when it enqueues."""
        return Requester(
            self.effective_principal,
            self.by,
            self.name,
            self.reads_all,
            self.scope,
            request.state.request_id,
        )

    @property
    def reaches_all(self) -> bool:
        """True if the credential is bound to no tenant, whatever tenant a request names."""
        if self.principal is not None:
            return self.principal.installation_wide
        return self.scope.tenant is None or self.narrowed

    def sees(self, definition: Definition, table: RoleTable) -> bool:
        """True if the caller may see a definition. System definitions need access to all tenants;
        a caller limited to its own jobs sees what it may enqueue."""
        if self.reaches_all:
            return True
        return not definition.system and (
            self.reads_all
            or may_enqueue(self.effective_principal, definition, self.tenant, table=table)
        )

    def visible_job(self, job: Job, asked: str) -> Job:
        """Return the job, or raise JobNotFound if another owner created it. `asked` is the id as
        the caller typed it; the error repeats nothing else."""
        if self.owner not in (None, job.created_by):
            raise JobNotFound(asked)
        return job


#: Caller of a server without authentication, which listens on loopback only.
ANONYMOUS = Caller(None, ALL_TENANTS)

#: Finds the caller of a request; raises NotAuthenticated.
Authenticate = Callable[[Any], Awaitable[Caller]]


async def open_access(request: Request) -> Caller:
    """Authenticator of an API without credentials: every caller may do everything.

    Such an API accepts only requests from this machine to a loopback name, and refuses cross-site
    writes.
    """
    return ANONYMOUS


async def authenticate_caller(request: Request, tenant: str | None = None) -> Caller:
    """The caller of a request, limited to `tenant` if it names one."""
    bind_tenant(None)
    try:
        known: Caller = await request.app.state.authenticate(request)
    except NotAuthenticated:
        request.app.state.limits.reject(request)
        raise
    if request.app.state.windlass.settings.database.row_security:
        bind_tenant(known.bound_to)
    request.state.caller = known
    if tenant is None or tenant == known.scope.tenant:
        return known
    if known.scope.tenant is not None:
        raise TenantNotFound(tenant)  # the same error as for an unknown tenant
    narrowed = replace(known, scope=Scope.of(tenant), narrowed=True)
    request.state.caller = narrowed
    return narrowed


async def rate_limited_caller(
    request: Request,
    tenant: Annotated[
        str | None, Query(description="Only this tenant's data.", min_length=1, max_length=191)
    ] = None,
) -> Caller:
    """The caller of a request; RequestsThrottled above the rate limit."""
    caller = await authenticate_caller(request, tenant)
    works = caller.rights is not None and Right.WORKER_WORK in caller.rights
    request.app.state.limits.admit(request, caller.name, caller.bound_to, works=works)
    return caller


def require_right(right: str, *, audits: bool = True) -> Callable[..., Awaitable[None]]:
    """Dependency that refuses callers without this right and begins a change's audit entry."""

    async def check(request: Request, caller: CurrentCaller, engine: ReadyEngine) -> None:
        described = getattr(request.scope.get("route"), "openapi_extra", None) or {}
        beyond = caller.owner is not None and not described.get(OWN)
        if beyond or not caller.may(right):
            raise Forbidden(right, because=ONLY_OWN if beyond and caller.may(right) else "")
        if audits and request.method != "GET" and caller.name is not None and is_audited(right):
            await audit.begin(request, caller, engine, right)

    return check


async def ready_engine(request: Request) -> Engine:
    """The engine of the app, checked to be ready once per request."""
    engine: Engine | None = getattr(request.state, "engine", None)
    if engine is None:
        engine = request.state.engine = await request.app.state.windlass.ready()
    return engine


CurrentCaller = Annotated[Caller, Depends(rate_limited_caller)]
ReadyEngine = Annotated[Engine, Depends(ready_engine)]
