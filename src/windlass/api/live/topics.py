"""Topics of the stream: `jobs`, `queues` …, and `job:<id>` and `log:<id>` for one job."""

from collections.abc import Mapping

from windlass.errors import OptionInvalid
from windlass.ids import JobId, parse_job_id

#: Topic -> the right it requires.
RIGHTS: Mapping[str, str] = {
    "jobs": "jobs.read",
    "job": "jobs.read",
    "log": "logs.read",
    "dead": "jobs.read",
    "queues": "queues.read",
    "workers": "workers.read",
    "schedules": "triggers.read",
    "triggers": "triggers.read",
    "events": "events.read",
}
#: Topics about one job, whose whole id follows a colon.
_OF_ONE_JOB = frozenset({"job", "log"})
_MOST = 100
_ALLOWED = (
    f"up to {_MOST} of {', '.join(sorted(RIGHTS.keys() - _OF_ONE_JOB))}, job:<whole id> and "
    "log:<whole id>, by commas"
)


def parse(text: str) -> frozenset[str]:
    """Parse a list of topics into their canonical spelling."""
    words = [word.strip() for word in text.split(",") if word.strip()]
    if not 0 < len(words) <= _MOST:
        raise OptionInvalid("topics", text[:191], allowed=_ALLOWED)
    return frozenset(_topic(word) for word in words)


def required_right(topic: str) -> str:
    return RIGHTS[topic.partition(":")[0]]


def job_topic(id: JobId) -> str:
    return f"job:{id}"


def log_topic(id: JobId) -> str:
    return f"log:{id}"


def topic_job(topic: str) -> JobId | None:
    """The job of a `job:<id>` or `log:<id>` topic; None for any other topic."""
    kind, _, id = topic.partition(":")
    return parse_job_id(id) if kind in _OF_ONE_JOB else None


def _topic(word: str) -> str:
    id = topic_job(word)
    if id is not None:
        return job_topic(id) if word.startswith("job:") else log_topic(id)
    if word in _OF_ONE_JOB or word not in RIGHTS:
        raise OptionInvalid("topics", word[:191], allowed=_ALLOWED)
    return word
