"""Pollers: one bounded read for each topic, compared entry by entry."""

from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from windlass.api.live.changes import (
    ALL_TENANTS_AUDIENCE,
    OVERSEERS,
    Audience,
    PollResult,
    Snapshot,
    StreamEntryKey,
)
from windlass.api.live.log_poller import read_logs
from windlass.api.live.topics import job_topic, topic_job
from windlass.core import wire
from windlass.core.jobs.states import JobState
from windlass.core.leases.limits import Queue
from windlass.core.payloads.redact import Redactor
from windlass.engine.engine import Engine
from windlass.engine.leases.workers import liveness
from windlass.engine.monitoring.stream_reads import Activity
from windlass.engine.redaction import create_redactor

_MOST_EVENTS = 200
_MOST_TRIGGERS = 2_000
_OPEN = (JobState.PENDING, JobState.QUEUED, JobState.RUNNING)


@dataclass(frozen=True, slots=True)
class TopicPoller:
    """One read and the topics it serves. It is given the last snapshot of each topic."""

    kinds: frozenset[str]
    read: Callable[[Engine, Mapping[str, Snapshot]], Awaitable[Mapping[str, PollResult]]]

    def serves(self, topic: str) -> bool:
        return topic.partition(":")[0] in self.kinds


async def _counts(engine: Engine, topics: Collection[str]) -> Mapping[str, PollResult]:
    activity = await engine.stream.activity()
    results = {}
    if "jobs" in topics:
        results["jobs"] = PollResult(_jobs_by_place(activity))
    if "dead" in topics:
        results["dead"] = PollResult(_dead_by_place(activity))
    if "queues" in topics:
        queues = await engine.stream.queues()
        results["queues"] = PollResult({**_depths(activity), **_queue_details(queues)})
    return results


def _jobs_by_place(activity: Sequence[Activity]) -> Snapshot:
    return {
        StreamEntryKey("jobs", Audience(each.tenant), _key(each)): (
            {**_where(each), "counts": {str(state): count for state, count in each.counts.items()}},
            each.moves,
        )
        for each in activity
    }


def _dead_by_place(activity: Sequence[Activity]) -> Snapshot:
    return {
        StreamEntryKey("dead", Audience(each.tenant), _key(each)): (
            {**_where(each), "dead_letter": each.counts[JobState.DEAD_LETTER]},
            None,
        )
        for each in activity
    }


def _key(each: Activity) -> str:
    return f"{each.queue} {each.definition}"


def _where(each: Activity) -> dict[str, str]:
    return {"tenant_id": each.tenant, "queue": each.queue, "definition": each.definition}


def _depths(activity: Sequence[Activity]) -> Snapshot:
    """Queue counts: for each tenant its own jobs, for overseers all jobs."""
    depths: defaultdict[tuple[Audience, str], Counter[str]] = defaultdict(Counter)
    for each in activity:
        open_jobs = {str(state): each.counts[state] for state in _OPEN}
        for audience in (Audience(each.tenant, overseers=False), OVERSEERS):
            depths[audience, each.queue].update(open_jobs)
    return {
        StreamEntryKey("queues", audience, f"depth {name}"): ({"name": name, **depth}, None)
        for (audience, name), depth in depths.items()
    }


def _queue_details(queues: Sequence[Queue]) -> Snapshot:
    """Settings of queues, which every caller may see."""
    return {
        StreamEntryKey("queues", ALL_TENANTS_AUDIENCE, queue.name): (
            wire.queue(queue),
            None,
        )
        for queue in queues
    }


async def _workers(engine: Engine, topics: Collection[str]) -> Mapping[str, PollResult]:
    workers = await engine.workers.list()
    return {
        "workers": PollResult(
            {
                StreamEntryKey("workers", ALL_TENANTS_AUDIENCE, worker.id): (
                    {
                        "id": worker.id,
                        "slots": worker.slots,
                        "slots_used": worker.slots_used,
                        "liveness": liveness(worker),
                        "wanted": worker.wanted,
                        "doing": worker.doing,
                    },
                    None,
                )
                for worker in workers
            }
        )
    }


async def _triggers(engine: Engine, topics: Collection[str]) -> Mapping[str, PollResult]:
    redactor = create_redactor(engine.settings)
    triggers = await engine.stream.triggers(most=_MOST_TRIGGERS)
    whole = len(triggers) < _MOST_TRIGGERS
    entries: dict[str, dict[StreamEntryKey, tuple[Mapping[str, Any], object]]] = {
        "schedules": {},
        "triggers": {},
    }
    for each in triggers:
        topic = "triggers" if each.type == "event" else "schedules"
        data = _render_job(each, redactor, "last_error")
        entries[topic][StreamEntryKey(topic, Audience(each.tenant), str(each.id))] = (data, None)
    return {topic: PollResult(entries[topic], whole) for topic in topics}


async def _events(engine: Engine, topics: Collection[str]) -> Mapping[str, PollResult]:
    events = await engine.stream.events(most=_MOST_EVENTS)
    entries = {
        StreamEntryKey("events", Audience(each.tenant), str(each.id)): (_render_job(each), None)
        for each in events
    }
    return {"events": PollResult(entries, whole=False)}


async def _jobs(engine: Engine, topics: Collection[str]) -> Mapping[str, PollResult]:
    redactor = create_redactor(engine.settings)
    results = {topic: PollResult({}) for topic in topics}
    ids = [id for topic in topics if (id := topic_job(topic)) is not None]
    for id, each in (await engine.stream.jobs(ids)).items():
        place = StreamEntryKey(job_topic(id), Audience(each.tenant), str(id))
        results[job_topic(id)] = PollResult(
            {place: (_render_job(each, redactor, "progress_note"), None)}
        )
    return results


def _render_job(mark: Any, redactor: Redactor | None = None, text: str = "") -> dict[str, Any]:
    data = {
        "tenant_id" if name == "tenant" else name: wire.plain(value)
        for name, value in mark._asdict().items()
    }
    if redactor is not None and data[text] is not None:
        data[text] = redactor.redact_text(data[text])
    return data


#: All pollers. Each runs only while one of its topics has a listener.
POLLERS = (
    TopicPoller(frozenset({"jobs", "dead", "queues"}), _counts),
    TopicPoller(frozenset({"workers"}), _workers),
    TopicPoller(frozenset({"schedules", "triggers"}), _triggers),
    TopicPoller(frozenset({"events"}), _events),
    TopicPoller(frozenset({"job"}), _jobs),
    TopicPoller(frozenset({"log"}), read_logs),
)
