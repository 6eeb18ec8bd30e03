"""Audit of requests: records each change with its values before and after, and each refusal."""

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from windlass.api.routing import RIGHT, Request, Response
from windlass.api.schema import render
from windlass.core import wire
from windlass.core.access.roles import is_audited
from windlass.core.payloads.json_text import load_json
from windlass.engine.access.audit import Target
from windlass.engine.engine import Engine
from windlass.engine.redaction import create_redactor, run_in_thread_if_long
from windlass.errors import (
    DefinitionNotFound,
    EventNotFound,
    Forbidden,
    JobNotFound,
    MemberNotFound,
    OperationNotFound,
    TenantNotFound,
    TokenNotFound,
    TriggerNotFound,
    UserNotFound,
    WindlassError,
)

if TYPE_CHECKING:
    from windlass.api.access.callers import Caller
    from windlass.core.access.principal import Principal

Shown = dict[str, Any]
AuditReader = Callable[["Caller", Engine, str], Awaitable[Shown]]


@dataclass(frozen=True, slots=True)
class PendingAudit:
    """A change that is allowed, and under way."""

    caller: "Caller"
    engine: Engine
    right: str
    before: Shown | None


async def begin(request: Request, caller: "Caller", engine: Engine, right: str) -> None:
    """Remember how what will be changed looks now."""
    if caller.name is not None and is_audited(right):
        before = await _current_value(request, caller, engine)
        request.state.noting = PendingAudit(caller, engine, right, before)


def forget(request: Request) -> None:
    """Leave no entry after all: nothing was changed."""
    request.state.noting = None


async def end(request: Request, response: Response) -> None:
    """Leave the entry of a change that was made; what is answered is how it looks now."""
    noting: PendingAudit | None = getattr(request.state, "noting", None)
    if noting is None:
        return
    shown = json.loads(bytes(response.body)) if response.body else None
    before = await _redact(noting.engine, noting.before)
    after = await _redact(noting.engine, shown if isinstance(shown, dict) else None)
    await _record(
        request,
        noting.caller,
        noting.engine,
        noting.right,
        before=_difference(before, after),
        after=_difference(after, before),
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
    engine: Engine,
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


def _target(request: Request, right: str, made: str = "") -> Target:
    """What a request is about: what it names in its path, or what it made."""
    named = next(iter(map(str, request.path_params.values())), "")
    return Target(right.partition(".")[0], getattr(request.state, "target", named or made))


#: Where something new tells what it is called.
_NAMES = ("id", "key", "name")


async def _current_value(request: Request, caller: "Caller", engine: Engine) -> Shown | None:
    noun = request.scope["route"].tags[0]
    named = next(iter(map(str, request.path_params.values())), None)
    look = _AUDIT_READERS.get(noun)
    if look is None or named is None:
        return None
    try:
        return await look(caller, engine, named)
    except WindlassError:  # the verb itself will say that it is not there
        return None


async def _job(caller: "Caller", engine: Engine, id: str) -> Shown:
    return await render.job(engine, await engine.jobs.get(id, caller.scope))


async def _definition(caller: "Caller", engine: Engine, key: str) -> Shown:
    shown = render.definition_row(engine, await engine.definitions.get(key))
    return {name: value for name, value in shown.items() if name != "updated_at"}


async def _trigger(caller: "Caller", engine: Engine, id: str) -> Shown:
    return await render.trigger(engine, await engine.triggers.get(id, caller.scope))


async def _queue(caller: "Caller", engine: Engine, name: str) -> Shown:
    return wire.queue(await engine.queues.get(name, caller.scope))


async def _tenant(caller: "Caller", engine: Engine, id: str) -> Shown:
    return wire.tenant(await engine.tenants.get(id))


async def _worker(caller: "Caller", engine: Engine, id: str) -> Shown:
    return render.worker(await engine.workers.get(id))


#: A noun -> how one of it looks; verbs of the other nouns leave their entries themselves.
_AUDIT_READERS: Mapping[str, AuditReader] = {
    "jobs": _job,
    "dead": _job,
    "definitions": _definition,
    "triggers": _trigger,
    "schedules": _trigger,
    "queues": _queue,
    "tenants": _tenant,
    "workers": _worker,
}
#: What changes by itself, and is nobody's doing.
_PASSING = ("age_seconds", "last_seen_at")


def _difference(one: Shown | None, other: Shown | None) -> Shown | None:
    """What of one is not the same in the other."""
    if one is None or other is None:
        return one
    return {
        name: value
        for name, value in one.items()
        if name not in _PASSING and (name not in other or other[name] != value)
    }


async def _redact(engine: Engine, shown: Shown | None) -> Shown | None:
    """Without what a payload schema marks as secret; names and patterns are the audit's to hide."""
    if shown is None:
        return None
    redactor = create_redactor(engine.settings)
    if "payload" in shown and "definition" in shown:
        try:
            schema = load_json((await engine.definitions.get(shown["definition"])).payload_schema)
        except DefinitionNotFound:
            return shown
        hide = partial(redactor.redact_value, shown["payload"], schema)
        return {**shown, "payload": await run_in_thread_if_long(hide, shown["payload"])}
    if "default_payload" in shown:
        hide = partial(redactor.redact_value, shown["default_payload"], shown["payload_schema"])
        return {
            **shown,
            "default_payload": await run_in_thread_if_long(hide, shown["default_payload"]),
        }
    return shown
