"""Why isn't it running? The first true reason, by the same conditions a claim uses."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass

from windlass.core.access.principal import display_actor
from windlass.core.durations import words
from windlass.core.jobs.models import Job, Scope, WorkerRow
from windlass.core.jobs.states import JobState, Outcome
from windlass.core.leases.gates import is_suspect, runs_alone, version_of
from windlass.core.leases.lease import JobLine
from windlass.core.leases.worker_orders import WorkerOrder
from windlass.engine.leases.queues import with_names
from windlass.errors.wording import counted
from windlass.ids import short
from windlass.storage.storage import Storage

#: A worker not seen for this many leases is not counted on.
_LOST_LEASES = 1.0


@dataclass(frozen=True, slots=True)
class Explanation:
    """One sentence, what to do about it, and a stable word for programs."""

    code: str
    sentence: str
    hint: str = ""


async def explain(storage: Storage, job: Job, *, created_by: str | None = None) -> Explanation:
    """Say why a job is not running; the first reason that holds wins. With `created_by` it names no
    jobs of others."""
    async for reason in _reasons(storage, job, created_by):
        return reason
    return Explanation("claiming", "It is due and a worker is free: it is being claimed.")


def key_missing(key_id: str) -> Explanation:
    """A worker without the key puts the job back; none is expected to have what is missing here."""
    return Explanation(
        "key_missing",
        f"Its payload is encrypted with the key {key_id}, which is not configured here.",
        "Add that key to encryption.keys of the workers.",
    )


async def _reasons(
    storage: Storage, job: Job, created_by: str | None
) -> AsyncIterator[Explanation]:
    if job.ended:
        yield _explain_ended(job)
    if job.state is JobState.RUNNING:
        asked = " and is asked to stop" if job.cancel_requested_at else ""
        alone = ", with no other job beside it" if runs_alone(job.gate) else ""
        yield Explanation("running", f"It is running on {job.worker_id}{alone}{asked}.")
    definitions = {row.key: row for row in await storage.definitions.definitions()}
    definition = definitions.get(job.definition)
    if definition is None or not definition.enabled:
        what = "is disabled" if definition else "is gone"
        yield Explanation(
            "definition_disabled",
            f"Its definition {job.definition} {what}.",
            f"windlass definitions enable {job.definition}",
        )
    tenant = next((t for t in await storage.access.tenants() if t.id == job.tenant), None)
    if tenant is None or tenant.state != "active":
        yield Explanation(
            "tenant_suspended", f"Its tenant {job.tenant} is {tenant.state if tenant else 'gone'}."
        )
    paused = [
        q for q in await storage.leases.queues() if q.name == job.queue and q.paused_at is not None
    ]
    for queue in await with_names(storage, paused):
        by = (
            f" by {display_actor(queue.paused_by, queue.paused_by_name)}" if queue.paused_by else ""
        )
        why = f": {queue.pause_reason}" if queue.pause_reason else ""
        yield Explanation(
            "queue_paused",
            f"Its queue {job.queue} was paused{by}{why}.",
            f"windlass queues resume {job.queue}",
        )
    if job.held:
        yield Explanation("held", "It is on hold.", f"windlass jobs run-now {short(job.id)}")
    if job.state is JobState.PENDING:
        yield await _parents(storage, job, created_by)
    now = await storage.now()
    if job.due_at > now:
        yield Explanation(
            "due_later",
            f"It is due in {words(job.due_at - now)}, at {job.due_at:%Y-%m-%d %H:%M:%S} UTC.",
            f"windlass jobs run-now {short(job.id)}",
        )
    async for reason in _limits(storage, job):
        yield reason
    async for reason in _workers(storage, job):
        yield reason
    if is_suspect(job.gate):
        yield await _suspect(storage, job)


async def _suspect(storage: Storage, job: Job) -> Explanation:
    lost = [
        a for a in await storage.jobs.attempts(job) if a.outcome is Outcome.LOST and a.finished_at
    ]
    since = ""
    if lost:
        last = max(lost, key=lambda attempt: attempt.number)
        since = (
            f": its worker {last.worker_id} was lost at {last.finished_at:%Y-%m-%d %H:%M:%S} UTC"
        )
    if runs_alone(job.gate):
        return Explanation("suspect", f"It waits for a worker where no other job runs{since}.")
    return Explanation("suspect", f"It waits to run apart from other lost jobs{since}.")


def _explain_ended(job: Job) -> Explanation:
    why = job.reason or job.last_error
    because = f": {why.splitlines()[0]}" if why else ""
    match job.state:
        case JobState.DEAD_LETTER:
            return Explanation(
                "ended", f"It failed for good{because}.", f"windlass jobs retry {short(job.id)}"
            )
        case JobState.CANCELED:
            return Explanation(
                "ended", f"It was canceled{because}.", f"windlass jobs retry {short(job.id)}"
            )
        case _:
            return Explanation("ended", "It has completed.", f"windlass jobs show {short(job.id)}")


async def _parents(storage: Storage, job: Job, created_by: str | None) -> Explanation:
    unsettled = [
        edge
        for edge in await storage.jobs.job_edges(job)
        if edge.child_id == job.id and not edge.settled
    ]
    named = [edge for edge in unsettled if created_by is None or edge.made_by(created_by)]
    waiting = [f"{short(edge.parent_id)} ({edge.parent_state or 'gone'})" for edge in named]
    if others := len(unsettled) - len(named):
        waiting.append(f"{counted(others, 'job')} of others")
    return Explanation(
        "waiting_for_jobs",
        f"It waits for {', '.join(waiting) or 'its parents'}.",
        "windlass jobs show <id> shows each",
    )


async def _limits(storage: Storage, job: Job) -> AsyncIterator[Explanation]:
    whose = {
        f"definition:{job.definition}": f"definition {job.definition}",
        f"tenant:{job.tenant}": f"tenant {job.tenant}",
        f"queue:{job.queue}": f"queue {job.queue}",
    }
    line = JobLine(queue=job.queue, tenant=job.tenant, gate=job.gate, limits=tuple(whose))
    for (name, kind), room in (await storage.leases.limit_capacity(line)).items():
        who = whose.get(name, f"its key in {job.definition}")
        if room < 1 and kind == "running":
            yield Explanation("limit_full", f"As many jobs as allowed run already: {who}.")
        elif room < 1:
            yield Explanation("rate_full", f"As many as its rate allows have just begun: {who}.")


async def _workers(storage: Storage, job: Job) -> AsyncIterator[Explanation]:
    live = [worker for worker in await storage.leases.workers() if _is_alive(worker)]
    serving = [w for w in live if not w.queues or job.queue in w.queues]
    if not serving:
        yield Explanation(
            "no_worker", f"No live worker serves the queue {job.queue}.", "windlass worker"
        )
    elif not (knowing := [w for w in serving if _can_run(w, job)]):
        why = next(
            (e for w in serving if (e := w.metadata.get("import_errors", {}).get(job.definition))),
            None,
        )
        version = version_of(job.gate)
        of = f" in version {version} of its payload" if version > 1 else ""
        yield Explanation(
            "unknown_to_workers",
            f"No live worker knows the definition {job.definition}{of}{f': {why}' if why else ''}.",
            "Start a worker that imports it.",
        )
    elif not (claiming := [w for w in knowing if w.claims]):
        yield _draining(knowing)
    elif all(worker.slots_used >= worker.slots for worker in claiming):
        ahead = sum(
            int(row["queued"])
            for row in await storage.jobs.state_counts(Scope(job.tenant))
            if row["queue"] == job.queue
        )
        yield Explanation(
            "workers_busy", f"All workers are busy; about {max(0, ahead - 1)} jobs wait too."
        )


def _draining(workers: Sequence[WorkerRow]) -> Explanation:
    stays = [
        w.id for w in workers if w.wanted is WorkerOrder.DRAIN and w.doing is not WorkerOrder.STOP
    ]
    drain = "the only live worker that could run it drains"
    if len(workers) > 1:
        drain = f"all {len(workers)} live workers that could run it drain"
    return Explanation(
        "workers_draining",
        f"No worker takes it: {drain}.",
        f"windlass workers resume {stays[0]}" if stays else "windlass worker",
    )


def _can_run(worker: WorkerRow, job: Job) -> bool:
    understood = worker.metadata.get("payload_versions", {}).get(job.definition, 1)
    return job.definition in worker.definitions and version_of(job.gate) <= understood


def _is_alive(worker: WorkerRow) -> bool:
    return (
        worker.age is not None and worker.age.total_seconds() < _LOST_LEASES * worker.lease_seconds
    )
