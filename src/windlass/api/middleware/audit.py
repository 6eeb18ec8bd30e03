"""Audit of requests: records each change with its values before and after, and each refusal."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from windlass.api.routing import RIGHT, Request, Response
from windlass.errors import (
    EventNotFound,
    Forbidden,
    JobNotFound,
    MemberNotFound,
    OperationNotFound,
    TenantNotFound,
    TokenNotFound,
    TriggerNotFound,
    UserNotFound,
)

if TYPE_CHECKING:
    from windlass.api.access.callers import Caller
    from windlass.core.access.audit import Target
    from windlass.core.access.principal import Principal
    from windlass.engine.engine import Engine

Shown = dict[str, Any]


@dataclass(frozen=True, slots=True)
class PendingAudit:
    """A change that is allowed, and under way."""

    caller: "Caller"
    engine: "Engine"
    right: str
    before: Shown | None


async def begin(request: Request, caller: "Caller", engine: "Engine", right: str) -> None:
    """Remember how what will be changed looks now."""
    from windlass.api.middleware.audit_values import current_value

    before = await current_value(request, caller, engine)
    request.state.pending_audit = PendingAudit(caller, engine, right, before)


def forget(request: Request) -> None:
    """Leave no entry after all: nothing was changed."""
    request.state.pending_audit = None


async def end(request: Request, response: Response, pending: PendingAudit) -> None:
    """Leave the entry of a change that was made; what is answered is how it looks now."""
    from windlass.api.middleware.audit_values import difference, redacted

    shown = json.loads(bytes(response.body)) if response.body else None
    before = await redacted(pending.engine, pending.before)
    after = await redacted(pending.engine, shown if isinstance(shown, dict) else None)
    await _record(
        request,
        pending.caller,
        pending.engine,
        pending.right,
        before=difference(before, after),
        after=difference(after, before),
        about=after or before or {},
    )


#: Errors that refuse a write to who may not reach what they named. Another's id is answered like an
#: unknown one, and recorded like it: else one's own audit would tell which ids there are.
_REFUSALS = (
    Forbidden,
    TenantNotFound,
    JobNotFound,
    TriggerNotFound,
    EventNotFound,
    OperationNotFound,
    TokenNotFound,
    MemberNotFound,
    UserNotFound,
)


async def record_refusal(request: Request, error: Exception) -> None:
    """Record an attempt that is refused with this error, if it is one: a write that is not allowed
    or names what is not the caller's, and any request that names another tenant."""
    caller: Caller | None = getattr(request.state, "caller", None)
    # Who names a foreign tenant is known, and becomes no caller.
    by: Principal | None = getattr(request.state, "principal", None)
    if caller is not None and caller.name is not None:
        by = caller.effective_principal
    reads = request.method in ("GET", "HEAD", "OPTIONS")
    if by is None or not isinstance(error, TenantNotFound if reads else _REFUSALS):
        return
    if by.installation_wide and not isinstance(error, Forbidden):
        return  # what they do not find is not there
    described = getattr(request.scope.get("route"), "openapi_extra", None) or {}
    right = described.get(RIGHT, "anything")
    engine: Engine = await request.app.state.windlass.ready()
    await engine.access.record_refusal(
        by,
        right,
        _target(request, right),
        error,
        tenant=caller.scope.tenant if caller is not None else None,
        request_id=request.state.request_id,
    )


async def _record(
    request: Request,
    caller: "Caller",
    engine: "Engine",
    right: str,
    *,
    before: Shown | None,
    after: Shown | None,
    about: Mapping[str, Any],
) -> None:
    """In the chain of the tenant whose thing it is, or of the installation."""
    made = next((str(about[name]) for name in _NAMES if name in about), "")
    tenant = caller.scope.tenant or about.get("tenant_id")
    await engine.audit.record(
        caller.effective_principal,
        right,
        _target(request, right, made),
        tenant=tenant,
        before=before,
        after=after,
        request_id=request.state.request_id,
    )


def _target(request: Request, right: str, made: str = "") -> "Target":
    """The target of a request: the thing in its path, or the one it created."""
    from windlass.core.access.audit import Target

    named = next(iter(map(str, request.path_params.values())), "")
    return Target(right.partition(".")[0], getattr(request.state, "target", named or made))


#: Where something new tells what it is called.
_NAMES = ("id", "key", "name")
