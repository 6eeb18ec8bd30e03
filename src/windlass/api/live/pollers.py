"""How each topic is looked at: one bounded read, told place by place."""

from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from windlass.api.live.changes import EVERYBODY, OVERSEERS, Audience, Place, Seen
from windlass.api.live.topics import job_of, of_job
from windlass.core import wire
from windlass.core.jobs.states import JobState
from windlass.core.leases.limits import Queue
from windlass.core.payloads.redact import Redactor
from windlass.engine.engine import Engine
from windlass.engine.leases.workers import liveness
from windlass.engine.redaction import redactor_of
from windlass.ids import JobId
from windlass.storage.monitoring.stream_reads import Activity

_MOST_JOBS = 1_000
_MOST_EVENTS = 200
_MOST_TRIGGERS = 2_000
_OPEN = (JobState.PENDING, JobState.QUEUED, JobState.RUNNING)


class Told(NamedTuple):
    """What a topic looks like now; not `whole` where there may be more than was looked at."""

    seen: Seen
    whole: bool = True


@dataclass(frozen=True, slots=True)
class Look:
    """One read, and the topics that it serves."""

    kinds: frozenset[str]
    read: Callable[[Engine, Collection[str]], Awaitable[Mapping[str, Told]]]

    def serves(self, topic: str) -> bool:
        return topic.partition(":")[0] in self.kinds


async def _counts(engine: Engine, topics: Collection[str]) -> Mapping[str, Told]:
    activity = await engine.storage.activity()
    told = {}
    if "jobs" in topics:
        told["jobs"] = Told(_jobs_by_place(activity))
    if "dead" in topics:
        told["dead"] = Told(_dead_by_place(activity))
    if "queues" in topics:
        queues = await engine.storage.queues()
        told["queues"] = Told({**_depths(activity), **_said(queues)})
    return told


def _jobs_by_place(activity: Sequence[Activity]) -> Seen:
    return {
        Place("jobs", Audience(each.tenant), _key(each)): (
            {**_where(each), "counts": {str(state): n for state, n in each.counts.items()}},
            each.moves,
        )
        for each in activity
    }


def _dead_by_place(activity: Sequence[Activity]) -> Seen:
    return {
        Place("dead", Audience(each.tenant), _key(each)): (
            {**_where(each), "dead_letter": each.counts[JobState.DEAD_LETTER]},
            None,
        )
        for each in activity
    }


def _key(each: Activity) -> str:
    return f"{each.queue} {each.definition}"


def _where(each: Activity) -> dict[str, str]:
    return {"tenant_id": each.tenant, "queue": each.queue, "definition": each.definition}


def _depths(activity: Sequence[Activity]) -> Seen:
    """How full queues are: to each tenant by its own jobs, to overseers by all."""
    depths: defaultdict[tuple[Audience, str], Counter[str]] = defaultdict(Counter)
    for each in activity:
        open_jobs = {str(state): each.counts[state] for state in _OPEN}
        for audience in (Audience(each.tenant, overseers=False), OVERSEERS):
            depths[audience, each.queue].update(open_jobs)
    return {
        Place("queues", audience, f"depth {name}"): ({"name": name, **depth}, None)
        for (audience, name), depth in depths.items()
    }


def _said(queues: Sequence[Queue]) -> Seen:
    """What was said of queues, which is no secret."""
    return {
        Place("queues", EVERYBODY, queue.name): (
            wire.queue(queue),
            None,
        )
        for queue in queues
    }


async def _workers(engine: Engine, topics: Collection[str]) -> Mapping[str, Told]:
    found = await engine.workers.list()
    return {
        "workers": Told(
            {
                Place("workers", EVERYBODY, worker.id): (
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
                for worker in found
            }
        )
    }


async def _triggers(engine: Engine, topics: Collection[str]) -> Mapping[str, Told]:
    redactor = redactor_of(engine.settings)
    found = await engine.storage.recent_triggers(most=_MOST_TRIGGERS)
    whole = len(found) < _MOST_TRIGGERS
    told: dict[str, dict[Place, tuple[Mapping[str, Any], object]]] = {
        "schedules": {},
        "triggers": {},
    }
    for each in found:
        topic = "triggers" if each.type == "event" else "schedules"
        shown = _shown(each, redactor, "last_error")
        told[topic][Place(topic, Audience(each.tenant), str(each.id))] = (shown, None)
    return {topic: Told(told[topic], whole) for topic in topics}


async def _events(engine: Engine, topics: Collection[str]) -> Mapping[str, Told]:
    found = await engine.storage.recent_events(most=_MOST_EVENTS)
    seen = {
        Place("events", Audience(each.tenant), str(each.id)): (_shown(each), None) for each in found
    }
    return {"events": Told(seen, whole=False)}


async def _jobs(engine: Engine, topics: Collection[str]) -> Mapping[str, Told]:
    redactor = redactor_of(engine.settings)
    told = {topic: Told({}) for topic in topics}
    for ids in _pieces([id for topic in topics if (id := job_of(topic)) is not None]):
        for id, each in (await engine.storage.glance(ids)).items():
            place = Place(of_job(id), Audience(each.tenant), str(id))
            told[of_job(id)] = Told({place: (_shown(each, redactor, "progress_note"), None)})
    return told


def _pieces(ids: Sequence[JobId]) -> Iterator[Sequence[JobId]]:
    return (ids[start : start + _MOST_JOBS] for start in range(0, len(ids), _MOST_JOBS))


def _shown(mark: Any, redactor: Redactor | None = None, text: str = "") -> dict[str, Any]:
    shown = {
        "tenant_id" if name == "tenant" else name: wire.plain(value)
        for name, value in mark._asdict().items()
    }
    if redactor is not None and shown[text] is not None:
        shown[text] = redactor.redact_text(shown[text])
    return shown


#: All looks. Each is taken only while somebody listens to a topic of it.
LOOKS = (
    Look(frozenset({"jobs", "dead", "queues"}), _counts),
    Look(frozenset({"workers"}), _workers),
    Look(frozenset({"schedules", "triggers"}), _triggers),
    Look(frozenset({"events"}), _events),
    Look(frozenset({"job"}), _jobs),
)
