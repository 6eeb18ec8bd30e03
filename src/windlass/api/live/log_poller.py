"""Polls new log lines of single jobs. Each line is read once, and only after the log has grown."""

from collections.abc import Mapping, Sequence

from windlass.api.live.changes import OVERSEERS, Audience, PollResult, Snapshot, StreamEntryKey
from windlass.api.live.topics import log_topic, topic_job
from windlass.core import wire
from windlass.core.jobs.models import LogLine
from windlass.engine.engine import Engine
from windlass.engine.monitoring.stream_reads import JobSnapshot, LogRange
from windlass.ids import JobId

#: Most new lines of a job in one poll; above this its listeners have to read the log again.
MOST_LINES = 200


async def read_logs(engine: Engine, topics: Mapping[str, Snapshot]) -> Mapping[str, PollResult]:
    """The lines added to each job's log since the last poll, after the last line before them."""
    ids = [id for topic in topics if (id := topic_job(topic)) is not None]
    jobs = await engine.stream.jobs(ids)
    grown = {
        id: new
        for id, job in jobs.items()
        if (new := _new_lines(topics[log_topic(id)], job.log_sequence)) is not None
    }
    lines = await engine.stream.log_lines(grown)
    return {
        log_topic(id): _result(id, jobs.get(id), topics[log_topic(id)], lines.get(id, ()))
        for id in ids
    }


def _new_lines(before: Snapshot, reached: int) -> LogRange | None:
    """The lines to read; None if there are none, too many, or nobody has read the others yet."""
    if not before:
        return None
    last = _last_sequence(before)
    return LogRange(last + 1, reached) if 0 < reached - last <= MOST_LINES else None


def _result(
    id: JobId, job: JobSnapshot | None, before: Snapshot, lines: Sequence[LogLine]
) -> PollResult:
    if job is None:  # unknown or gone; should it appear, its log begins at 1
        return PollResult(before or {_place(id, OVERSEERS, 0): _UNSENT}, whole=False)
    audience = Audience(job.tenant)
    seen: dict[StreamEntryKey, tuple[Mapping[str, object], object]] = {}
    # Without the last entry of the last poll there is a gap between the two.
    if before and job.log_sequence - _last_sequence(before) <= MOST_LINES:
        last = _last_place(before)
        seen[last] = before[last]
    seen |= {_place(id, audience, line.sequence): (wire.line(line), None) for line in lines}
    seen.setdefault(_place(id, audience, job.log_sequence), _UNSENT)
    return PollResult(seen, whole=False, audience=audience)


#: The entry of the last sequence number where its line was not read.
_UNSENT: tuple[Mapping[str, object], object] = ({}, None)


def _place(id: JobId, audience: Audience, sequence: int) -> StreamEntryKey:
    return StreamEntryKey(log_topic(id), audience, str(sequence))


def _last_place(snapshot: Snapshot) -> StreamEntryKey:
    *_, last = snapshot
    return last


def _last_sequence(snapshot: Snapshot) -> int:
    return int(_last_place(snapshot).key)
