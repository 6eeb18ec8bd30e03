"""Data of `windlass top`, read over the API."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from windlass.cli.connect.api_client import Client, JsonObject, path
from windlass.cli.text.styles import moment

#: Rates change by the minute: they are read every few readings, and for this many queues.
_LOOKS_PER_RATE = 5
_MOST_RATES = 12
_RUNNING = 200
_LINES = 1000
_OPEN = ("pending", "queued")


class QueueRate(NamedTuple):
    """Jobs per second that arrived and that ended."""

    came: float
    done: float


@dataclass(frozen=True, slots=True, kw_only=True)
class TopData:
    """One reading: responses of the API, and the rates of queues by name."""

    summary: JsonObject
    queues: Sequence[JsonObject]
    workers: Sequence[JsonObject]
    stats: JsonObject
    running: Sequence[JsonObject]
    jobs: Sequence[JsonObject]
    rates: Mapping[str, QueueRate]
    #: True if `running` has every running job, not only the first page or one tenant's.
    knows_running: bool

    @property
    def rate(self) -> QueueRate:
        return rate_of(self.stats)

    def body(self) -> dict[str, Any]:
        """The reading as JSON, for programs."""
        return {
            "summary": self.summary,
            "queues": list(self.queues),
            "workers": list(self.workers),
            "stats": self.stats,
            "jobs": list(self.jobs),
        }


@dataclass(frozen=True, slots=True)
class JobDetail:
    """One job, why it does not run if it waits, and its log."""

    job: JsonObject
    why: str
    lines: Sequence[JsonObject]


class TopReader:
    def __init__(self, api: Client) -> None:
        self._api = api
        self._rates: Mapping[str, QueueRate] = {}
        self._looks = 0

    async def read(self, where: str, *, limit: int) -> TopData:
        """Read everything on the overview; an invalid filter is an error."""
        api = self._api
        jobs = await api.get("/jobs", q=where or None, limit=max(1, limit))
        queues = (await api.get("/queues", limit=100))["items"]
        if self._looks % _LOOKS_PER_RATE == 0:
            self._rates = await self._read_rates(queues)
        self._looks += 1
        running = (await api.get("/jobs", state="running", limit=_RUNNING))["items"]
        return TopData(
            summary=await api.get("/jobs/summary"),
            queues=queues,
            workers=(await api.get("/workers"))["items"],
            stats=await api.get("/stats", window="5m"),
            running=running,
            jobs=jobs["items"],
            rates=self._rates,
            knows_running=len(running) < _RUNNING and api.tenant is None,
        )

    async def open(self, id: str) -> JobDetail:
        """Read one job with its details."""
        job = await self._api.get(path("jobs", id))
        why = ""
        if job["state"] in _OPEN:
            why = (await self._api.get(path("jobs", id, "explain")))["sentence"]
        lines = await self._api.get(path("jobs", id, "logs"), limit=_LINES)
        return JobDetail(job, why, lines["items"])

    async def _read_rates(self, queues: Sequence[JsonObject]) -> Mapping[str, QueueRate]:
        busiest = sorted(queues, key=lambda queue: -(queue["queued"] + queue["running"]))
        return {
            name: rate_of(await self._api.get("/stats", window="5m", queue=name))
            for name in [queue["name"] for queue in busiest[:_MOST_RATES]]
        }


def rate_of(stats: JsonObject) -> QueueRate:
    """The rates over the current minute and the one before it."""
    last = stats["points"][-2:]
    since, until = moment(last[0]["at"]), moment(stats["until"])
    assert since is not None
    assert until is not None
    seconds = max((until - since).total_seconds(), 1.0)
    came, done = (sum(point[name] for point in last) for name in ("enqueued", "completed"))
    return QueueRate(came / seconds, done / seconds)
