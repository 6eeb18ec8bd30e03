"""The steps of `claim`: the statement that picks jobs has one part for each line."""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from itertools import product
from typing import Any, NamedTuple

from windlass.core.leases.gates import counted_by, definition_of
from windlass.storage.mysql import dialect
from windlass.storage.mysql.connection import MysqlConnection
from windlass.storage.mysql.sql_literals import interpolate
from windlass.storage.sql.statements import Batch, Rows, Scripts, Statement

#: A claimed job, as a row of the verb.
JobRow = dict[str, Any]


class LineKey(NamedTuple):
    queue: str
    tenant_id: str
    gate: str


class LineRow(NamedTuple):
    """A row of the `lines` batch, without its start position: here the index skips taken jobs."""

    queue: str
    tenant_id: str
    gate: str
    definition: str | None
    line_limit: int
    tenant_limit: int

    @property
    def key(self) -> LineKey:
        return LineKey(self.queue, self.tenant_id, self.gate)


class LimitRow(NamedTuple):
    """A row of the `limits` batch."""

    name: str
    definition: str | None
    tenant_id: str | None
    queue: str | None
    per_key: bool


class PackedJob(NamedTuple):
    """A job in the order of the JSON array that `claim.sql` packs it into."""

    place: int
    id: str
    payload: str
    lease_token: int
    definition: str
    priority: int
    attempts: int
    max_attempts: int
    worker_deaths: int
    created_at: str
    queued_at: str
    due_at: str
    source: str
    rare: Sequence[Any] | None
    timeout_seconds: float | None


class RareFields(NamedTuple):
    """The fields of a job that are usually all empty, packed in this order."""

    source_ref: str | None = None
    correlation_id: str | None = None
    created_by: str | None = None
    trigger_due_at: str | None = None
    metadata: str | None = None


#: The definitions whose jobs may be claimed, by line.
Claimable = Mapping[LineKey, tuple[str, ...]]


def claim(connection: MysqlConnection, scripts: Scripts, params: Mapping[str, Any]) -> Rows:
    """Run the steps of `claim` in the open transaction; returns the jobs as claimed."""
    claimable, pick, take, count, hold = scripts["claim"]
    lines = [LineRow(*row) for row in params["lines"].rows(*LineRow._fields)]
    limits = [LimitRow(*row) for row in params["limits"].rows(*LimitRow._fields)]
    claimable_query = interpolate(
        claimable,
        {
            **dialect.carry("lines", Batch.of_rows(LineRow._fields, lines)),
            "known_keys": tuple(params["known_keys"]),
            "limited_definitions": _without_none(limit.definition for limit in limits),
            "limited_tenants": _without_none(limit.tenant_id for limit in limits),
            "limited_queues": _without_none(limit.queue for limit in limits),
        },
    )
    jobs = _limit_per_tenant(
        _lock_first_jobs(connection, claimable_query, pick, lines, params["known_keys"]), lines
    )
    if not jobs:
        return []
    at = {"now_at": dialect.value(jobs[0]["last_started_at"])}
    lease = {
        "worker_id": params["worker_id"],
        "lease_seconds": params["lease_seconds"],
        "token_floor": jobs[0]["token_floor"],
    }
    texts = [
        interpolate(take, {"ids": tuple([job["id"] for job in jobs]), **at, **lease}),
        interpolate(count, {"taken": json.dumps(_group_counts(jobs)), **at}),
    ]
    if holds := list(_holds(jobs, limits)):
        texts.append(interpolate(hold, {"holds": json.dumps(holds)}))
    connection.queries(texts, last=True)
    return jobs


def _without_none(values: Iterable[str | None]) -> tuple[str, ...]:
    return tuple(str(value) for value in values if value is not None)


def _lock_first_jobs(
    connection: MysqlConnection,
    claimable_query: str,
    pick: Statement,
    lines: Sequence[LineRow],
    known: Sequence[str],
) -> list[JobRow]:
    """Lock the first jobs of all lines. Usually the survey was right about the claimable
    definitions, so one message checks them and picks jobs; if not, a second one picks again."""
    expected: Claimable = {
        line.key: (line.definition,) if line.definition else tuple(known) for line in lines
    }
    picks = [_pick(connection, pick, lines, expected)] if lines else []
    allowed, *rows = connection.queries([claimable_query, *picks])
    actual: Claimable = {
        LineKey(row["queue"], row["tenant_id"], row["gate"]): _claimable(row) for row in allowed
    }
    jobs = _unpack(connection, pick, lines, expected, rows[0] if rows else [])
    if all(job["definition"] in actual.get(job["line"], ()) for job in jobs):
        return jobs
    actual = {line: definitions for line, definitions in actual.items() if definitions}
    found = connection.query(_pick(connection, pick, lines, actual)) if actual else []
    return _unpack(connection, pick, lines, actual, found)


def _unpack(
    connection: MysqlConnection,
    pick: Statement,
    lines: Sequence[LineRow],
    claimable: Claimable,
    found: Rows,
) -> list[JobRow]:
    if any(row["packed"] is None and row["jobs"] for row in found):
        found = connection.query(_pick(connection, pick, lines, claimable, whole=False))
    return [job for row in found if row["packed"] for job in _parse_jobs(row, lines)]


def _pick(
    connection: MysqlConnection,
    pick: Statement,
    lines: Sequence[LineRow],
    claimable: Claimable,
    *,
    whole: bool = True,
) -> str:
    """One statement for all lines. If `whole`, each line returns one value with all its jobs,
    unless that is too long for the server; else each job is a row."""
    arms = [
        interpolate(pick, {"place": place, **line._asdict(), "definitions": claimable[line.key]})
        for place, line in enumerate(lines)
        if line.key in claimable
    ]
    if whole:
        longest = connection.packet // 2
        arms = [
            "(select min(now_at) as now_at, min(token_floor) as token_floor, count(*) as jobs, if(sum(length(packed)) < "
            f"{longest}, group_concat(packed separator ','), null) as packed from {arm} d)"
            for arm in arms
        ]
    return " union all ".join(arms)


def _claimable(row: Mapping[str, Any]) -> tuple[str, ...]:
    """The definitions whose jobs may be claimed from a line."""
    if row["gate"]:
        return (definition_of(row["gate"]),)
    return tuple(json.loads(row["plain"] or "[]"))


def _parse_jobs(row: Mapping[str, Any], lines: Sequence[LineRow]) -> Iterator[JobRow]:
    """Jobs as the update will leave them: they are locked, so they need not be read again."""
    now, floor = row["now_at"].replace(tzinfo=UTC), row["token_floor"]
    for values in json.loads(f"[{row['packed']}]"):
        job = PackedJob(*values)
        rare = RareFields(*job.rare or ())
        line = lines[job.place]
        yield {
            "line": line.key,
            "id": job.id,
            "payload": job.payload,
            "lease_token": max(job.lease_token, floor) + 1,
            "token_floor": floor,
            "tenant_id": line.tenant_id,
            "definition": job.definition,
            "queue": line.queue,
            "priority": job.priority,
            "attempts": job.attempts + 1,
            "max_attempts": job.max_attempts,
            "worker_deaths": job.worker_deaths,
            "created_at": _instant(job.created_at),
            "queued_at": _instant(job.queued_at),
            "due_at": _instant(job.due_at),
            "last_started_at": now,
            "source": job.source,
            "source_ref": rare.source_ref,
            "correlation_id": rare.correlation_id,
            "created_by": rare.created_by,
            "trigger_due_at": rare.trigger_due_at and _instant(rare.trigger_due_at),
            "timeout_seconds": job.timeout_seconds,
            "metadata": rare.metadata,
            "gate": line.gate,
        }


# Jobs stored together share their instants.
@lru_cache(maxsize=512)
def _instant(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def _limit_per_tenant(picked: Sequence[JobRow], lines: Sequence[LineRow]) -> list[JobRow]:
    """Keep the most urgent of the picked jobs, up to the limit of each tenant in a queue."""
    left = {(line.queue, line.tenant_id): line.tenant_limit for line in lines}
    taken = []
    for job in sorted(picked, key=lambda job: (job["priority"], job["due_at"], job["id"])):
        who = (job["queue"], job["tenant_id"])
        if left[who] > 0:
            left[who] -= 1
            taken.append(job)
    return taken


def _group_counts(jobs: Sequence[JobRow]) -> list[list[Any]]:
    """Claimed jobs by tenant, queue and definition: their number, and wait in milliseconds."""
    groups: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    for job in jobs:
        groups[job["tenant_id"], job["queue"], job["definition"]].append(job["due_at"].timestamp())
    now: float = jobs[0]["last_started_at"].timestamp()
    return [
        [*group, len(dues), round((now * len(dues) - sum(dues)) * 1000)]
        for group, dues in groups.items()
    ]


def _holds(jobs: Sequence[JobRow], limits: Sequence[LimitRow]) -> Iterable[tuple[str, str]]:
    for job, limit in product(jobs, limits):
        of_definition = limit.definition == job["definition"]
        if of_definition and limit.per_key and (key := counted_by(job["gate"])):
            yield job["id"], key
        if of_definition or limit.tenant_id == job["tenant_id"] or limit.queue == job["queue"]:
            yield job["id"], limit.name
