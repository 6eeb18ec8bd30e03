"""Renders models as JSON, with the database clock, the redactor and the schemas' secret marks."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from windlass.api.routing import Request
from windlass.core import wire
from windlass.core.jobs.models import ALL_TENANTS, JobPage, Scope
from windlass.core.payloads.schema_marks import marking_schema
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
    from windlass.engine.leases.workers import RunningJob


async def job(engine: "Engine", job: "Job") -> dict[str, Any]:
    """A whole job; values that its schema marks as secret are redacted."""
    try:
        schema = marking_schema((await engine.definitions.get(job.definition)).payload_schema)
    except DefinitionNotFound:
        schema = None
    show = partial(
        wire.job,
        job,
        # A job that was due when it was last changed is due now: no need to ask the time.
        now=await engine.now() if job.due_at > job.updated_at else job.updated_at,
        redactor=create_redactor(engine.settings),
        schema=schema,
        opened=None if job.sealed is None else engine.sealer.open_if_possible(job).payload,
    )
    return await run_in_thread_if_long(show, job.payload, job.result, job.metadata, job.warnings)


async def jobs(engine: "Engine", page: JobPage) -> Sequence[dict[str, Any]]:
    """The entries of a list of jobs."""
    now, redactor = await engine.now(), create_redactor(engine.settings)
    return [wire.job(each, now=now, redactor=redactor, whole=False) for each in page.jobs]


def attempts(rows: "Sequence[Attempt]") -> list[dict[str, Any]]:
    return [wire.attempt(each) for each in rows]


def history(engine: "Engine", transitions: "Sequence[Transition]") -> list[dict[str, Any]]:
    redactor = create_redactor(engine.settings)
    return [wire.transition(each, redactor) for each in transitions]


def lines(rows: "Sequence[LogLine]") -> list[dict[str, Any]]:
    return [wire.line(each) for each in rows]


def worker(
    engine: "Engine", worker: "WorkerRow", jobs: "Sequence[RunningJob]" = ()
) -> dict[str, Any]:
    """A worker, with jobs that it runs."""
    from windlass.engine.leases.workers import liveness

    lives, redactor = liveness(worker), create_redactor(engine.settings)
    return {
        **wire.worker(worker),
        "liveness": lives,
        "stale": lives != "live",
        "jobs": [wire.running_job(each, redactor) for each in jobs],
    }


async def definition(
    engine: "Engine", definition: "Definition", scope: Scope = ALL_TENANTS
) -> dict[str, Any]:
    """A definition with all statistics of its jobs in a scope."""
    activity = await engine.activity.activity(definition.key, scope=scope)
    return definition_row(engine, definition, activity)


async def definitions(
    engine: "Engine", rows: "Sequence[Definition]", scope: Scope = ALL_TENANTS
) -> list[dict[str, Any]]:
    """Definitions, each with its triggers and number of running jobs in a scope."""
    times = await engine.activity.times(rows, scope)
    return [definition_row(engine, each, times[each.key]) for each in rows]


def definition_row(
    engine: "Engine", definition: "Definition", times: "DefinitionTimes | None" = None
) -> dict[str, Any]:
    """The row of a definition, with its run times if given."""
    data = wire.definition(definition, times)
    hide = create_redactor(engine.settings).redact_value
    for holder in (data, data["code"] or {}):
        if "default_payload" in holder:
            holder["default_payload"] = hide(holder["default_payload"], data["payload_schema"])
    return data


async def trigger(engine: "Engine", trigger: "Trigger") -> dict[str, Any]:
    """A trigger, with its warnings."""
    warnings = await engine.triggers.warnings_of(trigger)
    return {**wire.trigger(trigger), "warnings": list(warnings)}


async def event(engine: "Engine", event: "Event") -> dict[str, Any]:
    [rendered] = await events(engine, [event])
    return rendered


async def events(engine: "Engine", rows: "Sequence[Event]") -> list[dict[str, Any]]:
    redactor = create_redactor(engine.settings)

    def show() -> list[dict[str, Any]]:
        return [wire.event(each, redactor) for each in rows]

    return await run_in_thread_if_long(show, *(each.data for each in rows))


def operation(engine: "Engine", operation: "Operation") -> dict[str, Any]:
    return wire.operation(operation, create_redactor(engine.settings))


async def preview(engine: "Engine", operation_preview: "OperationPreview") -> dict[str, Any]:
    """The preview of an operation, with some of its jobs as list entries."""
    return {
        "action": str(operation_preview.action),
        "total": operation_preview.total,
        "more": operation_preview.more,
        "by_state": dict(operation_preview.by_state),
        "skipped": [
            {"reason": why, "count": count} for why, count in operation_preview.skipped.items()
        ],
        "sample": await jobs(engine, JobPage(operation_preview.sample, None)),
    }


def member(member: "Member") -> dict[str, Any]:
    return {**wire.fields_of(member), "permissions": sorted(member.permissions)}


def link(request: Request, link: "OneTimeLink") -> dict[str, Any]:
    """A link with its secret, which no later response contains. Only the path, because the server
    does not know its public address."""
    path = f"{request.scope.get('root_path', '')}{link.path}"
    return {
        "purpose": link.purpose,
        "secret": link.secret,
        "path": path,
        "expires_seconds": int(link.lasts.total_seconds()),
    }
