"""The claim in steps: the statement that picks jobs is as long as there are lines to pick from."""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from windlass.core.leases.gates import counted_by, definition_of
from windlass.storage.mysql import dialect
from windlass.storage.mysql.connection import MysqlConnection
from windlass.storage.mysql.sql_literals import filled
from windlass.storage.sql.statements import Rows, Statement

Job = dict[str, Any]
#: Queue, tenant, gate, the gate's definition, the most to take from it, the most to take of its tenant
#: and queue, and where it could be gone on with: no need to, the index leads past what was taken.
Line = tuple[Any, ...]
#: Its name, the definition, tenant or queue that it is about, and whether keys are counted too.
Limit = tuple[str, str | None, str | None, str | None, bool]
#: The definitions whose jobs may be taken, by queue, tenant and gate.
May = Mapping[tuple[Any, ...], tuple[str, ...]]


def claim(link: MysqlConnection, script: Sequence[Statement], params: Mapping[str, Any]) -> Rows:
    """Run `sql/leases/claim.sql` in the open transaction; the claimed jobs as they stand afterwards."""
    who_may, pick, take, count, hold = script
    lines: Sequence[Line] = params["lines"]
    limits: Sequence[Limit] = params["limits"]
    asked = filled(
        who_may,
        {
            **dialect.carried("lines", [line[:6] for line in lines]),
            "known_keys": tuple(params["known_keys"]),
            "limited_definitions": _named_by(1, limits),
            "limited_tenants": _named_by(2, limits),
            "limited_queues": _named_by(3, limits),
        },
    )
    jobs = _shared_out(_picked(link, asked, pick, lines, params["known_keys"]), lines)
    if not jobs:
        return []
    at = {"now_at": dialect.value(jobs[0]["last_started_at"])}
    lease = {
        "worker_id": params["worker_id"],
        "lease_seconds": params["lease_seconds"],
        "token_floor": jobs[0]["token_floor"],
    }
    texts = [
        filled(take, {"ids": tuple([job["id"] for job in jobs]), **at, **lease}),
        filled(count, {"taken": json.dumps(_counted(jobs)), **at}),
    ]
    if holds := list(_holds(jobs, limits)):
        texts.append(filled(hold, {"holds": json.dumps(holds)}))
    link.queries(texts, last=True)
    return jobs


def _named_by(place: int, limits: Sequence[Limit]) -> tuple[str, ...]:
    return tuple(str(limit[place]) for limit in limits if limit[place] is not None)


def _picked(
    link: MysqlConnection,
    who_may: str,
    pick: Statement,
    lines: Sequence[Line],
    known: Sequence[str],
) -> list[Job]:
    """Lock the first jobs of all lines. Most often the survey was right about who may run, so that
    they are picked along with asking; if not, what may run is picked once it is known."""
    hoped: May = {line[:3]: (line[3],) if line[3] else tuple(known) for line in lines}
    picks = [_pick(link, pick, lines, hoped)] if lines else []
    allowed, *rows = link.queries([who_may, *picks])
    may: May = {(row["queue"], row["tenant_id"], row["gate"]): _claimable(row) for row in allowed}
    jobs = _unpacked(link, pick, lines, hoped, rows[0] if rows else [])
    if all(job["definition"] in may.get(job["line"], ()) for job in jobs):
        return jobs
    may = {line: definitions for line, definitions in may.items() if definitions}
    found = link.query(_pick(link, pick, lines, may)) if may else []
    return _unpacked(link, pick, lines, may, found)


def _unpacked(
    link: MysqlConnection, pick: Statement, lines: Sequence[Line], may: May, found: Rows
) -> list[Job]:
    if any(row["packed"] is None and row["jobs"] for row in found):
        found = link.query(_pick(link, pick, lines, may, whole=False))
    return [job for row in found if row["packed"] for job in _jobs(row, lines)]


def _pick(
    link: MysqlConnection,
    pick: Statement,
    lines: Sequence[Line],
    may: May,
    *,
    whole: bool = True,
) -> str:
    """One statement for all lines. What each gives is one `whole` value, as long as the server can
    make one of it; else each job is a row."""
    arms = [
        filled(pick, {"place": place, **_named(line), "definitions": may[line[:3]]})
        for place, line in enumerate(lines)
        if line[:3] in may
    ]
    if whole:
        longest = link.packet // 2
        arms = [
            "(select min(now_at) as now_at, min(token_floor) as token_floor, count(*) as jobs, if(sum(length(packed)) < "
            f"{longest}, group_concat(packed separator ','), null) as packed from {arm} d)"
            for arm in arms
        ]
    return " union all ".join(arms)


def _named(line: Line) -> Mapping[str, Any]:
    return dict(zip(("queue", "tenant_id", "gate", "definition", "line_limit"), line, strict=False))


def _claimable(row: Mapping[str, Any]) -> tuple[str, ...]:
    """The definitions whose jobs may be taken from a line."""
    if row["gate"]:
        return (definition_of(row["gate"]),)
    return tuple(json.loads(row["plain"] or "[]"))


def _jobs(row: Mapping[str, Any], lines: Sequence[Line]) -> Iterator[Job]:
    """Jobs as the update will leave them: they are locked, so there is no need to read them again."""
    now, floor = row["now_at"].replace(tzinfo=UTC), row["token_floor"]
    for (
        place,
        id,
        payload,
        lease_token,
        definition,
        priority,
        attempts,
        max_attempts,
        worker_deaths,
        created_at,
        queued_at,
        due_at,
        source,
        rare,
        timeout_seconds,
    ) in json.loads(f"[{row['packed']}]"):
        source_ref, correlation_id, created_by, trigger_due_at, metadata = rare or _NOTHING_RARE
        yield {
            "line": lines[place][:3],
            "id": id,
            "payload": payload,
            "lease_token": max(lease_token, floor) + 1,
            "token_floor": floor,
            "tenant_id": lines[place][1],
            "definition": definition,
            "queue": lines[place][0],
            "priority": priority,
            "attempts": attempts + 1,
            "max_attempts": max_attempts,
            "worker_deaths": worker_deaths,
            "created_at": _instant(created_at),
            "queued_at": _instant(queued_at),
            "due_at": _instant(due_at),
            "last_started_at": now,
            "source": source,
            "source_ref": source_ref,
            "correlation_id": correlation_id,
            "created_by": created_by,
            "trigger_due_at": trigger_due_at and _instant(trigger_due_at),
            "timeout_seconds": timeout_seconds,
            "metadata": metadata,
            "gate": lines[place][2],
        }


_NOTHING_RARE = (None,) * 5


# Jobs stored together share their instants.
@lru_cache(maxsize=512)
def _instant(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def _shared_out(picked: Sequence[Job], lines: Sequence[Line]) -> list[Job]:
    """Of what was picked, no more for each tenant of a queue than its limit, most urgent first."""
    left = {(queue, tenant): most for queue, tenant, _, _, _, most, *_ in lines}
    taken = []
    for job in sorted(picked, key=lambda job: (job["priority"], job["due_at"], job["id"])):
        who = (job["queue"], job["tenant_id"])
        if left[who] > 0:
            left[who] -= 1
            taken.append(job)
    return taken


def _counted(jobs: Sequence[Job]) -> list[list[Any]]:
    """How many jobs were taken of each tenant, queue and definition, and how long they had waited."""
    groups: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    for job in jobs:
        groups[job["tenant_id"], job["queue"], job["definition"]].append(job["due_at"].timestamp())
    now: float = jobs[0]["last_started_at"].timestamp()
    return [
        [*group, len(dues), round((now * len(dues) - sum(dues)) * 1000)]
        for group, dues in groups.items()
    ]


def _holds(jobs: Sequence[Job], limits: Sequence[Limit]) -> Iterable[tuple[str, str]]:
    if not limits:
        return
    for job in jobs:
        for name, definition, tenant, queue, per_key in limits:
            if definition == job["definition"] and per_key and (key := counted_by(job["gate"])):
                yield job["id"], key
            if (
                definition == job["definition"]
                or tenant == job["tenant_id"]
                or queue == job["queue"]
            ):
                yield job["id"], name
