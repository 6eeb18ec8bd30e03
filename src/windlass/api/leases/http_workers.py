"""`/worker`: claim, heartbeat, complete, fail and release for workers without a database.

A worker touches only what it leases. An unknown or stale lease, or another worker's, is reported
as lost.
"""

import hashlib
from collections.abc import Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

from windlass.api.access.callers import Caller, CurrentCaller, ReadyEngine
from windlass.api.routing import Routes
from windlass.api.schema.worker_requests import (
    AttemptEnds,
    Claim,
    FailureRequest,
    LeaseHeartbeat,
    LeaseHeartbeats,
    Release,
    SuccessRequest,
    WorkerDeparture,
    WorkerHeartbeat,
    ended,
)
from windlass.core.jobs.dedupe import check_name, is_name
from windlass.core.jobs.states import Outcome
from windlass.core.leases import worker_wire as wire
from windlass.core.leases.lease import LeaseRef
from windlass.core.leases.worker_wire import AttemptReport
from windlass.engine.engine import Engine
from windlass.engine.leases.leases import storable_fields
from windlass.errors import Forbidden
from windlass.errors.wording import printable
from windlass.ids import JobId, WorkerId

#: Accepts any text, so that bad text never prevents recording an outcome.
routes = Routes("worker", any_text=True)

RIGHT = "worker.work"
#: Longest credential name in a worker id, so that the id fits every database.
_LONGEST_NAME = 80


@routes.post("/jobs/claim", RIGHT, "Claimed", keys="own", summary="Claim jobs")
async def claim(caller: CurrentCaller, engine: ReadyEngine, body: Claim) -> dict[str, Any]:
    """Returns leases with their jobs, and the seconds until another job becomes due."""
    claimed = await engine.remote.claim(
        _id(caller, body.worker),
        body.slots,
        queues=body.queues,
        definitions=body.definitions,
        lease_time=timedelta(seconds=body.lease_seconds),
        nudged=body.nudged,
        key=body.key,
    )
    due = claimed.next_due_in
    return {
        "leases": [wire.lease(lease) for lease in claimed.leases],
        "next_due_seconds": None if due is None else due.total_seconds(),
    }


@routes.post(
    "/heartbeat", RIGHT, "RenewedLeases", keys="own", summary="Renew all leases of a worker"
)
async def heartbeat_all(
    caller: CurrentCaller, engine: ReadyEngine, body: LeaseHeartbeats
) -> dict[str, Any]:
    """Accepts progress and log lines of all runs. `stop` is null, canceled or lost."""
    leases = [lease.held for lease in body.leases]
    if body.complete:
        await engine.remote.release_unknown(_id(caller, body.worker), leases)
    alive = await engine.remote.heartbeat(
        _id(caller, body.worker),
        leases,
        lease_time=body.lease_time,
        progress=[step.progress(step.held) for step in body.progress],
        lines=[entry.line(entry.held) for entry in body.lines],
    )
    return {"leases": [{**wire.lease_ref(held), "stop": _stop(alive.get(held))} for held in leases]}


@routes.post("/jobs/{job_id}/heartbeat", RIGHT, "StopRequest", keys="own", summary="Renew a lease")
async def heartbeat(
    caller: CurrentCaller, engine: ReadyEngine, job_id: UUID, body: LeaseHeartbeat
) -> dict[str, Any]:
    """Accepts progress and log lines. `stop` is null, canceled or lost."""
    held = LeaseRef(JobId(job_id), body.token)
    alive = await engine.remote.heartbeat(
        _id(caller, body.worker),
        [held],
        lease_time=body.lease_time,
        progress=[body.progress.progress(held)] if body.progress else [],
        lines=[entry.line(held) for entry in body.lines],
    )
    return {"stop": _stop(alive.get(held))}


@routes.post("/finish", RIGHT, "LeaseResults", keys="own", summary="Report how runs ended")
async def finish(caller: CurrentCaller, engine: ReadyEngine, body: AttemptEnds) -> dict[str, Any]:
    """Several at once. `state` is the job's new state; null if its lease was lost."""
    ends = [ended(end.held, end, Outcome(end.outcome)) for end in body.ends]
    return {"ends": await _finish(engine, _id(caller, body.worker), ends)}


@routes.post("/jobs/{job_id}/complete", RIGHT, "LeaseResult", keys="own", summary="Report success")
async def complete(
    caller: CurrentCaller, engine: ReadyEngine, job_id: UUID, body: SuccessRequest
) -> dict[str, Any]:
    """`state` is the job's new state; null if its lease was lost."""
    end = ended(LeaseRef(JobId(job_id), body.token), body, Outcome.SUCCEEDED)
    [result] = await _finish(engine, _id(caller, body.worker), [end])
    return result


@routes.post("/jobs/{job_id}/fail", RIGHT, "LeaseResult", keys="own", summary="Report failure")
async def fail(
    caller: CurrentCaller, engine: ReadyEngine, job_id: UUID, body: FailureRequest
) -> dict[str, Any]:
    """The server decides about a retry. `state` is the job's new state; null if its lease was
    lost."""
    end = ended(LeaseRef(JobId(job_id), body.token), body, Outcome(body.outcome))
    [result] = await _finish(engine, _id(caller, body.worker), [end])
    return result


@routes.post("/jobs/{job_id}/release", RIGHT, "LeaseResult", keys="own", summary="Release a job")
async def release(
    caller: CurrentCaller, engine: ReadyEngine, job_id: UUID, body: Release
) -> dict[str, Any]:
    """The attempt does not count. `state` is the job's new state; null if its lease was lost."""
    end = ended(LeaseRef(JobId(job_id), body.token), body, Outcome.RELEASED)
    [result] = await _finish(engine, _id(caller, body.worker), [end])
    return result


@routes.post("/beat", RIGHT, "WorkerOrderResponse", keys="own", summary="Update a worker's row")
async def beat(caller: CurrentCaller, engine: ReadyEngine, body: WorkerHeartbeat) -> dict[str, Any]:
    """Returns the operator's order (run, drain: claim no more but stay, or stop), and those of the
    worker's definitions that are unknown here and so have no jobs."""
    id = _id(caller, body.worker)
    row = body.row(id, storable_fields(body.metadata))
    wanted, unknown = await engine.remote.heartbeat_of(row)
    return {"wanted": wanted, "unknown_definitions": unknown}


@routes.post("/leave", RIGHT, keys="own", status_code=204, summary="Remove a worker's row")
async def leave(caller: CurrentCaller, engine: ReadyEngine, body: WorkerDeparture) -> None:
    """Called by a worker when it has stopped."""
    await engine.workers.leave(_id(caller, body.worker))


async def _finish(
    engine: Engine, worker: WorkerId, ends: Sequence[AttemptReport]
) -> list[dict[str, Any]]:
    states = await engine.remote.finish(worker, ends)
    return [{**wire.lease_ref(end.held), "state": states.get(end.held)} for end in ends]


def _stop(cancel_requested: bool | None) -> str | None:
    if cancel_requested is None:
        return "lost"
    return "canceled" if cancel_requested else None


def _id(caller: Caller, worker: str) -> WorkerId:
    """The worker's id, prefixed by its credential's name so that no other can use it."""
    if caller.scope.tenant is not None:
        # A claim serves all tenants; a credential of one must not see the others' jobs.
        raise Forbidden(RIGHT)
    check_name("worker", worker)
    if caller.name is None:
        return WorkerId(worker)
    name = caller.name
    if len(name) > _LONGEST_NAME or not is_name(name):
        name = f"{printable(name)[:40]}#{hashlib.sha256(name.encode()).hexdigest()[:32]}"
    return WorkerId(f"{name}/{worker}")
