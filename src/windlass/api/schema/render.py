"""Things as JSON, with what showing them takes: the clock, the redactor, the schemas' secret marks."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from windlass.api.routing import Request
from windlass.core import wire
from windlass.core.jobs.models import ALL_TENANTS, JobPage, Scope
from windlass.core.payloads.json_text import load_json
from windlass.engine.redaction import create_redactor, run_in_thread_if_long
from windlass.errors import DefinitionNotFound

if TYPE_CHECKING:
    from windlass.core.access.accounts import Member
    from windlass.core.definitions.activity import DefinitionTimes
    from windlass.core.definitions.definition import Definition
    from windlass.core.jobs.models import Attempt, Job, LogLine, Transition, WorkerRow
    from windlass.core.jobs.operations import Operation, OperationPreview
    from windlass.core.triggers.trigger import Event, Trigger
    from windlass.engine.access.users import OneTimeLink
    from windlass.engine.engine import Engine


async def job(engine: "Engine", job: "Job") -> dict[str, Any]:
    """A whole job; what its definition's schema marks as secret is struck out."""
    try:
        schema = load_json((await engine.definitions.get(job.definition)).payload_schema)
    except DefinitionNotFound:
        schema = None
    show = partial(
        wire.job,
        job,
        now=await engine.now(),
        redactor=create_redactor(engine.settings),
        schema=schema,
        opened=None if job.sealed is None else engine.sealer.open_if_possible(job).payload,
    )
    return await run_in_thread_if_long(show, job.payload, job.result, job.metadata, job.warnings)


async def jobs(engine: "Engine", page: JobPage) -> Sequence[dict[str, Any]]:
    """A list's entries."""
    now, redactor = await engine.now(), create_redactor(engine.settings)
    return [wire.job(each, now=now, redactor=redactor, whole=False) for each in page.jobs]


def attempts(found: "Sequence[Attempt]") -> list[dict[str, Any]]:
    return [wire.attempt(each) for each in found]


def history(engine: "Engine", found: "Sequence[Transition]") -> list[dict[str, Any]]:
    redactor = create_redactor(engine.settings)
    return [wire.transition(each, redactor) for each in found]


def lines(found: "Sequence[LogLine]") -> list[dict[str, Any]]:
    return [wire.line(each) for each in found]


def worker(worker: "WorkerRow") -> dict[str, Any]:
    from windlass.engine.leases.workers import liveness

    lives = liveness(worker)
    return {**wire.worker(worker), "liveness": lives, "stale": lives != "live"}


async def definition(
    engine: "Engine", definition: "Definition", scope: Scope = ALL_TENANTS
) -> dict[str, Any]:
    """A definition with all there is to tell of its jobs, in a scope."""
    activity = await engine.activity.activity(definition.key, scope=scope)
    return definition_row(engine, definition, activity)


async def definitions(
    engine: "Engine", found: "Sequence[Definition]", scope: Scope = ALL_TENANTS
) -> list[dict[str, Any]]:
    """Definitions, each with how its jobs are made and how many run, in a scope."""
    times = await engine.activity.times(found, scope)
    return [definition_row(engine, each, times[each.key]) for each in found]


def definition_row(
    engine: "Engine", definition: "Definition", times: "DefinitionTimes | None" = None
) -> dict[str, Any]:
    """A definition as its row stands, and what is known beside it."""
    shown = wire.definition(definition, times)
    hide = create_redactor(engine.settings).redact_value
    for holder in (shown, shown["code"] or {}):
        if "default_payload" in holder:
            holder["default_payload"] = hide(holder["default_payload"], shown["payload_schema"])
    return shown


async def trigger(engine: "Engine", trigger: "Trigger") -> dict[str, Any]:
    """A trigger, with what may surprise about it."""
    warnings = await engine.triggers.warnings_of(trigger)
    return {**wire.trigger(trigger), "warnings": list(warnings)}


async def event(engine: "Engine", event: "Event") -> dict[str, Any]:
    [shown] = await events(engine, [event])
    return shown


async def events(engine: "Engine", found: "Sequence[Event]") -> list[dict[str, Any]]:
    redactor = create_redactor(engine.settings)

    def show() -> list[dict[str, Any]]:
        return [wire.event(each, redactor) for each in found]

    return await run_in_thread_if_long(show, *(each.data for each in found))


def operation(engine: "Engine", operation: "Operation") -> dict[str, Any]:
    return wire.operation(operation, create_redactor(engine.settings))


async def preview(engine: "Engine", found: "OperationPreview") -> dict[str, Any]:
    """The preview of an operation, with some of its jobs as list entries."""
    return {
        "action": str(found.action),
        "total": found.total,
        "more": found.more,
        "by_state": dict(found.by_state),
        "skipped": [{"reason": why, "count": count} for why, count in found.skipped.items()],
        "sample": await jobs(engine, JobPage(found.sample, None)),
    }


def member(member: "Member") -> dict[str, Any]:
    return {**wire.fields_of(member), "permissions": sorted(member.permissions)}


def link(request: Request, made: "OneTimeLink") -> dict[str, Any]:
    """A link with its secret; this is the only answer that has it. `path` is below this server's
    own address, which only whoever sends the link can know."""
    path = f"{request.scope.get('root_path', '')}{made.path}"
    return {
        "purpose": made.purpose,
        "secret": made.secret,
        "path": path,
        "expires_seconds": int(made.lasts.total_seconds()),
    }
