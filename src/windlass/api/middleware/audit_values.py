"""Values in audit entries: how the changed thing looks, what differs, and what is redacted."""

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from windlass.api.routing import Request
from windlass.api.schema import render
from windlass.core import wire
from windlass.core.payloads.schema_marks import marking_schema
from windlass.engine.engine import Engine
from windlass.engine.redaction import create_redactor, run_in_thread_if_long
from windlass.errors import DefinitionNotFound, WindlassError

if TYPE_CHECKING:
    from windlass.api.access.callers import Caller

Shown = dict[str, Any]
AuditReader = Callable[["Caller", Engine, str], Awaitable[Shown]]


async def current_value(request: Request, caller: "Caller", engine: Engine) -> Shown | None:
    """The named thing before a change; None if it is not there, or its verb writes the entry."""
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
    return render.worker(engine, await engine.workers.get(id))


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


def difference(one: Shown | None, other: Shown | None) -> Shown | None:
    """The fields of one that differ in the other."""
    if one is None or other is None:
        return one
    return {
        name: value
        for name, value in one.items()
        if name not in _PASSING and (name not in other or other[name] != value)
    }


async def redacted(engine: Engine, shown: Shown | None) -> Shown | None:
    """Without what a payload schema marks as secret; names and patterns are the audit's to hide."""
    if shown is None:
        return None
    redactor = create_redactor(engine.settings)
    if "payload" in shown and "definition" in shown:
        try:
            definition = await engine.definitions.get(shown["definition"])
        except DefinitionNotFound:
            return shown
        schema = marking_schema(definition.payload_schema)
        hide = partial(redactor.redact_value, shown["payload"], schema)
        return {**shown, "payload": await run_in_thread_if_long(hide, shown["payload"])}
    if "default_payload" in shown:
        hide = partial(redactor.redact_value, shown["default_payload"], shown["payload_schema"])
        return {
            **shown,
            "default_payload": await run_in_thread_if_long(hide, shown["default_payload"]),
        }
    return shown
