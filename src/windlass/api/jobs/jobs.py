"""`/jobs`: enqueue, find, explain, change, cancel, retry, reveal, clone."""

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

from windlass.api.access.callers import Caller, CurrentCaller, ReadyEngine, authenticate_caller
from windlass.api.live.current_feed import CurrentFeed
from windlass.api.middleware.hints import commands_to_requests, is_cli_request
from windlass.api.routing import Path, Query, Request, Response, Routes, listed, paged
from windlass.api.schema import render
from windlass.api.schema.paging import LAST_NUMBER, PageQuery
from windlass.core import wire
from windlass.core.jobs.models import Job
from windlass.core.jobs.query import JobQuery
from windlass.core.jobs.states import JobState, View
from windlass.engine.engine import Engine
from windlass.engine.jobs.requests import CheckedRequest, RequestedJob
from windlass.errors import (
    BatchRefused,
    DatabaseOutage,
    DefinitionDisabled,
    DefinitionNotFound,
    FieldError,
    Forbidden,
    JobNotFound,
    OptionInvalid,
    ParentInvalid,
    TenantNotFound,
    TenantSuspended,
    WindlassError,
)
from windlass.ids import JobId, parse_job_id

if TYPE_CHECKING:
    from windlass.api.schema.requests import JobEdit, NewJob, NewJobs, QueryInstant, Reason

routes = Routes("jobs")

Id = Annotated[
    str,
    Path(description="A job's id, or its last six or more characters.", max_length=64),
]
_STATES = frozenset([*JobState, *View])


@routes.post(
    "",
    "jobs.enqueue",
    "Enqueued",
    also=(200, 409),
    status_code=201,
    summary="Enqueue a job",
    own=True,
)
async def enqueue(
    request: Request,
    response: Response,
    caller: CurrentCaller,
    engine: ReadyEngine,
    body: "NewJob",
    dry_run: Annotated[bool, Query(description="Check it, and store nothing.")] = False,
) -> dict[str, Any]:
    """201 when a job was created, 200 when an equal one exists, 409 when a limit rejects it. A dry
    run returns 200 with the status `valid`. An `Idempotency-Key` becomes the job's
    `idempotency_key`, unless the body has one."""
    options = {"tenant": target_tenant(caller, body.tenant), **body.options()}
    key = request.headers.get("idempotency-key")
    if key is not None:
        options.setdefault("idempotency_key", key)
    requested = RequestedJob(body.definition, body.payload, options, key)
    return await _enqueue(request, response, caller, engine, requested, dry_run=dry_run)


@routes.post(
    "/batch",
    "jobs.enqueue",
    "Receipts",
    also=(200,),
    status_code=201,
    summary="Enqueue many jobs",
    own=True,
)
async def enqueue_batch(
    request: Request,
    response: Response,
    caller: CurrentCaller,
    engine: ReadyEngine,
    body: "NewJobs",
    dry_run: Annotated[bool, Query(description="Check them, and store nothing.")] = False,
) -> dict[str, Any]:
    """One transaction, one receipt per job. If one is refused, none is stored, and `errors` lists
    every fault: `/jobs/3/payload/to` is in the fourth. 201 when a job was created, else 200. An
    `Idempotency-Key` belongs to the batch, not to a job."""
    requester = caller.requester(request)
    checked: list[CheckedRequest] = []
    refused: dict[int, WindlassError] = {}
    for place, each in enumerate(body.jobs):
        options = {"tenant": target_tenant(caller, each.tenant), **each.options()}
        requested = RequestedJob(each.definition, each.payload, options)
        try:
            checked.append(await engine.enqueue_requests.check(requested, requester))
        except (Forbidden, DatabaseOutage):
            raise
        except WindlassError as error:
            refused[place] = error
    try:
        if refused:
            raise BatchRefused(refused)
        if dry_run:
            receipts = [_VALID] * len(checked)
        else:
            stored = await engine.enqueue_requests.enqueue_batch(checked, requester)
            receipts = [wire.receipt(each) for each in stored]
    except BatchRefused as error:
        raise _within_batch(request, error) from None
    if not any(each["status"] == "created" for each in receipts):
        response.status_code = 200
    return {"items": receipts}


@routes.get("", "jobs.read", paged("JobEntry"), summary="List jobs", own=True)
async def find(
    caller: CurrentCaller,
    engine: ReadyEngine,
    paging: PageQuery,
    q: Annotated[str, Query(description="A filter, such as `state:retrying attempts:>3`.")] = "",
    state: Annotated[list[str] | None, Query(description="States and views.")] = None,
    definition: Annotated[str | None, Query(max_length=191)] = None,
    queue: Annotated[str | None, Query(max_length=191)] = None,
    source: Annotated[str | None, Query(max_length=16)] = None,
    correlation_id: Annotated[str | None, Query(max_length=191)] = None,
    created_after: Annotated["QueryInstant | None", Query()] = None,
    created_before: Annotated["QueryInstant | None", Query()] = None,
) -> dict[str, Any]:
    """Newest first, without payloads and results; errors are cut to 500 characters."""
    states = frozenset(word for words in state or () for word in words.split(","))
    if unknown := sorted(states - _STATES):
        raise OptionInvalid("state", unknown[0], allowed=f"some of {', '.join(sorted(_STATES))}")
    chosen = _parsed(q) & JobQuery.of(
        states=states,
        definition=definition,
        queue=queue,
        source=source,
        correlation_id=correlation_id,
        created_after=created_after,
        created_before=created_before,
        created_by=caller.owner,
    )
    page = await engine.lists.page(
        chosen, scope=caller.scope, after=job_id(paging.after), limit=paging.limit
    )
    return paging.page(await render.jobs(engine, page), page.next)


@routes.get("/summary", "jobs.read", "SummaryResponse", summary="Count jobs", own=True)
async def summary(caller: CurrentCaller, engine: ReadyEngine) -> dict[str, Any]:
    """Counts by state and view, and how long the oldest queued job has waited. Does not read
    history. A caller limited to its own jobs gets counts of those, each up to 10,000, and no
    queues."""
    from windlass.core.monitoring import summary_wire

    if caller.owner is not None:
        own = await engine.summaries.own_summary(caller.owner, caller.scope)
        return summary_wire.summary(own)
    return summary_wire.summary(await engine.summaries.summary(caller.scope))


@routes.get(
    "/suggest", "jobs.read", listed("FilterSuggestion"), summary="Suggest a filter", own=True
)
async def suggest(
    caller: CurrentCaller,
    engine: ReadyEngine,
    q: Annotated[str, Query(description="A filter that is being typed.", max_length=4_000)] = "",
    limit: Annotated[int, Query(ge=1, le=500)] = 30,
) -> dict[str, Any]:
    """What may follow: fields, then values of the field that the caller may see, with the number of
    jobs where totals are kept. `insert` is the whole filter with the suggestion. Reads neither jobs
    nor history."""
    from windlass.core.monitoring import summary_wire
    from windlass.engine.monitoring.filter_suggestions import FilterReader

    reader = FilterReader(
        scope=caller.scope,
        owner=caller.owner,
        reaches_all=caller.reaches_all,
        may=caller.may,
        sees=partial(caller.sees, table=engine.access.table),
    )
    found = await engine.filter_suggestions.suggest(q, reader, limit=limit)
    return {"items": [summary_wire.suggestion(each) for each in found]}


@routes.get("/{job_id}", "jobs.read", "Job", summary="Get a job", own=True)
async def get(caller: CurrentCaller, engine: ReadyEngine, job_id: Id) -> dict[str, Any]:
    return await render.job(engine, await visible_job(caller, engine, job_id))


@routes.get(
    "/{job_id}/attempts",
    "jobs.read",
    listed("Attempt"),
    summary="List a job's attempts",
    own=True,
)
async def attempts(caller: CurrentCaller, engine: ReadyEngine, job_id: Id) -> dict[str, Any]:
    job = await visible_job(caller, engine, job_id)
    rows = await engine.jobs.attempts(job.id, caller.scope)
    return {"items": render.attempts(rows)}


@routes.get(
    "/{job_id}/history",
    "history.read",
    listed("Transition"),
    summary="Get a job's history",
    own=True,
)
async def history(caller: CurrentCaller, engine: ReadyEngine, job_id: Id) -> dict[str, Any]:
    job = await visible_job(caller, engine, job_id)
    transitions = await engine.jobs.history(job.id, caller.scope)
    return {"items": render.history(engine, transitions)}


@routes.get("/{job_id}/logs", "logs.read", listed("LogLine"), summary="Get a job's log", own=True)
async def logs(
    caller: CurrentCaller,
    engine: ReadyEngine,
    job_id: Id,
    after: Annotated[
        int, Query(ge=0, le=LAST_NUMBER, description="The last sequence number seen.")
    ] = 0,
    limit: Annotated[int, Query(ge=1, le=5_000)] = 1_000,
) -> dict[str, Any]:
    job = await visible_job(caller, engine, job_id)
    lines = await engine.jobs.logs(job.id, scope=caller.scope, after=after, limit=limit)
    return {"items": render.lines(lines)}


@routes.get(
    "/{job_id}/graph",
    "jobs.read",
    "Graph",
    summary="Get a job's dependencies",
    own=True,
)
async def graph(caller: CurrentCaller, engine: ReadyEngine, job_id: Id) -> dict[str, Any]:
    job = await visible_job(caller, engine, job_id)
    edges = await engine.jobs.family(job.id, caller.scope, created_by=caller.owner)
    return {
        "edges": [
            {
                "child_id": str(edge.child_id),
                "parent_id": str(edge.parent_id),
                "policy": edge.policy,
                "settled": edge.settled,
                "child_state": edge.child_state,
                "parent_state": edge.parent_state,
            }
            for edge in edges
        ]
    }


@routes.get(
    "/{job_id}/explain",
    "jobs.read",
    "ExplanationResponse",
    summary="Explain why a job is not running",
    own=True,
)
async def explain(
    request: Request, caller: CurrentCaller, engine: ReadyEngine, job_id: Id
) -> dict[str, Any]:
    job = await visible_job(caller, engine, job_id)
    explanation = await engine.jobs.explain(job.id, caller.scope, created_by=caller.owner)
    hint = explanation.hint if is_cli_request(request) else commands_to_requests(explanation.hint)
    return {"code": explanation.code, "sentence": explanation.sentence, "hint": hint}


@routes.get(
    "/{job_id}/wait",
    "jobs.read",
    "Job",
    also=(202,),
    summary="Wait for a job to end",
    own=True,
)
async def wait(
    request: Request,
    response: Response,
    caller: CurrentCaller,
    engine: ReadyEngine,
    feed: CurrentFeed,
    job_id: Id,
    timeout: Annotated[float, Query(ge=0, le=60, description="Longest wait, in seconds.")] = 30.0,
) -> dict[str, Any]:
    """200 with the job once it has ended, in any state; 202 with the job as it is at the timeout:
    repeat the request. A waiting request counts as a stream."""
    job = await visible_job(caller, engine, job_id)
    if not job.ended and timeout:
        from windlass.api.live.job_wait import wait_for_end

        reserved = feed.quota.take(caller.name, caller.scope.tenant)
        try:
            await wait_for_end(request, engine, feed, job, timeout=timeout)
        finally:
            feed.quota.give_back(reserved)
        # The credential may have been revoked or the job deleted meanwhile.
        again = await authenticate_caller(request, request.query_params.get("tenant"))
        job = await visible_job(again, engine, str(job.id))
    response.status_code = 200 if job.ended else 202
    return await render.job(engine, job)


@routes.patch("/{job_id}", "jobs.update", "Job", summary="Change a waiting job")
async def update(
    caller: CurrentCaller, engine: ReadyEngine, job_id: Id, body: "JobEdit"
) -> dict[str, Any]:
    """Changes priority, queue, due time or metadata. 409 if the job runs or has ended."""
    job = await engine.jobs.update(
        job_id, body.change(), scope=caller.scope, actor=caller.name, by=caller.by
    )
    return await render.job(engine, job)


@routes.delete("/{job_id}", "jobs.discard", status_code=204, summary="Discard a job")
async def discard(caller: CurrentCaller, engine: ReadyEngine, job_id: Id) -> None:
    """Deletes an ended job; 409 if it has not ended or other jobs wait for it."""
    await engine.jobs.discard(job_id, scope=caller.scope)


@routes.post("/{job_id}/cancel", "jobs.cancel", "Job", summary="Cancel a job", own=True)
async def cancel(
    caller: CurrentCaller, engine: ReadyEngine, job_id: Id, body: "Reason | None" = None
) -> dict[str, Any]:
    """Ends a waiting job at once; asks a running job to stop."""
    visible = await visible_job(caller, engine, job_id)
    job = await engine.jobs.cancel(
        visible.id, scope=caller.scope, actor=caller.name, reason=body.reason if body else None
    )
    return await render.job(engine, job)


@routes.post("/{job_id}/retry", "jobs.retry", "Job", summary="Retry a job")
async def retry(caller: CurrentCaller, engine: ReadyEngine, job_id: Id) -> dict[str, Any]:
    """Queues a dead-lettered or canceled job again, with fresh attempts."""
    job = await engine.jobs.retry(job_id, scope=caller.scope, actor=caller.name, by=caller.by)
    return await render.job(engine, job)


@routes.post("/{job_id}/run-now", "jobs.run_now", "Job", summary="Run a job now")
async def run_now(caller: CurrentCaller, engine: ReadyEngine, job_id: Id) -> dict[str, Any]:
    """Makes a scheduled, retrying or held job due at once."""
    job = await engine.jobs.run_now(job_id, scope=caller.scope, actor=caller.name, by=caller.by)
    return await render.job(engine, job)


@routes.post(
    "/{job_id}/reveal",
    "jobs.reveal",
    "RevealedJob",
    summary="Reveal a job's payload and result",
    audits=False,
    keys="refused",
)
async def reveal(
    request: Request,
    response: Response,
    caller: CurrentCaller,
    engine: ReadyEngine,
    job_id: Id,
    body: "Reason | None" = None,
) -> dict[str, Any]:
    """The original values, decrypted and not redacted. Writes an audit entry with the reason."""
    from windlass.core.access.audit import Target

    job = await engine.jobs.reveal(job_id, caller.scope)
    await engine.audit.record(
        caller.effective_principal,
        "jobs.reveal",
        Target("jobs", str(job.id)),
        tenant=job.tenant,
        after={"reason": body.reason if body else None},
        request_id=request.state.request_id,
    )
    response.headers["cache-control"] = "no-store"
    return wire.revealed(job)


@routes.post(
    "/{job_id}/clone",
    "jobs.enqueue",
    "Enqueued",
    also=(200, 409),
    status_code=201,
    summary="Clone a job",
    own=True,
)
async def clone(
    request: Request,
    response: Response,
    caller: CurrentCaller,
    engine: ReadyEngine,
    job_id: Id,
    dry_run: Annotated[bool, Query(description="Check it, and store nothing.")] = False,
) -> dict[str, Any]:
    """Creates a job of the same definition and payload, secrets included, due at once. Parents and
    keys are not copied."""
    job = await _readable_job(caller, engine, job_id)
    options = {name: getattr(job, name) for name in _CLONED}
    if job.timeout_seconds is not None:
        options["timeout"] = job.timeout_seconds
    requested = RequestedJob(job.definition, engine.jobs.opened(job).payload, options)
    return await _enqueue(request, response, caller, engine, requested, dry_run=dry_run)


#: Options a clone copies from its job, besides definition and payload.
_CLONED = ("tenant", "queue", "priority", "max_attempts", "metadata", "correlation_id")


async def _enqueue(
    request: Request,
    response: Response,
    caller: Caller,
    engine: Engine,
    requested: RequestedJob,
    *,
    dry_run: bool,
) -> dict[str, Any]:
    requester = caller.requester(request)
    checked = await engine.enqueue_requests.check(requested, requester)
    if dry_run:
        response.status_code = 200
        return {"receipt": _VALID, "job": None}
    receipt, job = await engine.enqueue_requests.enqueue(checked, requester)
    response.status_code = {"created": 201, "existing": 200, "rejected": 409}[receipt.status]
    return {
        "receipt": wire.receipt(receipt),
        "job": None if job is None else await render.job(engine, job),
    }


def _within_batch(request: Request, refused: BatchRefused) -> BatchRefused:
    """The error of a batch, with pointers into the request body."""
    from windlass.api.middleware.field_names import with_body_names
    from windlass.api.schema.requests import NewJob

    sent = request.state.sent["jobs"]
    errors = []
    for place, error in refused.refused.items():
        known = with_body_names(NewJob, error, sent[place])
        field = next((f"/{name}" for kind, name in _FIELDS.items() if isinstance(error, kind)), "")
        whole = f"{error.message} {error.reason}".strip()
        errors += [
            FieldError(f"/jobs/{place}{each.pointer}", each.message)
            for each in known.errors or [FieldError(field, whole)]
        ]
    refused.errors = tuple(errors)
    return refused


#: Error class without a field name -> the field it concerns.
_FIELDS: Mapping[type[WindlassError], str] = {
    DefinitionNotFound: "definition",
    DefinitionDisabled: "definition",
    TenantNotFound: "tenant",
    TenantSuspended: "tenant",
    ParentInvalid: "after",
}
#: The receipt of a dry run.
_VALID = {"status": "valid", "job_id": None, "because": None}


async def _readable_job(caller: Caller, engine: Engine, id: str) -> Job:
    """Return a job that the caller may read, before a change that needs another right."""
    if not caller.reads_all and parse_job_id(id) is None:
        raise JobNotFound(id)
    job = await engine.jobs.get(id, caller.scope)
    if not caller.reads_all and job.created_by != caller.name:
        raise JobNotFound(id)
    return job


async def visible_job(caller: Caller, engine: Engine, id: str) -> Job:
    """Return a job that is visible to the caller."""
    # The end of an id could match another owner's job and reveal that it exists.
    if caller.owner is not None and parse_job_id(id) is None:
        raise JobNotFound(id)
    return caller.visible_job(await engine.jobs.get(id, caller.scope), id)


def target_tenant(caller: Caller, requested: str | None) -> str:
    """Tenant for a new object; TenantNotFound if the caller may not touch it."""
    if requested is None or requested == caller.scope.tenant:
        return caller.tenant
    if caller.scope.tenant is not None:
        raise TenantNotFound(requested)  # the same error as for an unknown tenant
    return requested


def _parsed(q: str) -> JobQuery:
    if not q:
        return JobQuery()
    from windlass.core.jobs.filter import parse

    return parse(q)


def job_id(after: str | None) -> JobId | None:
    return None if after is None else parse_job_id(after)
