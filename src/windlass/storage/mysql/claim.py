"""The claim in steps: the statement that picks jobs is as long as there are lines to pick from."""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from windlass.storage.mysql import dialect
from windlass.storage.mysql.link import Link
from windlass.storage.mysql.literal import filled
from windlass.storage.sql import Rows, Statement

Job = dict[str, Any]

#: What the statement packs into one column, in its order.
_PACKED = (
    "lease_token",
    "tenant_id",
    "definition",
    "queue",
    "priority",
    "attempts",
    "max_attempts",
    "worker_deaths",
    "created_at",
    "queued_at",
    "due_at",
    "source",
    "source_ref",
    "correlation_id",
    "created_by",
    "trigger_due_at",
    "timeout_seconds",
    "metadata",
)
_INSTANTS = ("created_at", "queued_at", "due_at", "trigger_due_at")


def claim(link: Link, script: Sequence[Statement], params: Mapping[str, Any]) -> Rows:
    """Run `sql/claim.sql` in the open transaction; the claimed jobs as they stand afterwards."""
    who_may, pick, take, count, hold = script
    limits: list[tuple[str, str | None, str | None]] = params["limits"]
    lines = link.ask(
        who_may,
        **dialect.carried("lines", params["lines"]),
        known_keys=tuple(params["known_keys"]),
        limited_definitions=tuple(
            definition for _, definition, _ in limits if definition is not None
        ),
        limited_tenants=tuple(tenant for _, _, tenant in limits if tenant is not None),
    )
    arms = [
        filled(pick, {**line, "definitions": definitions})
        for line in lines
        if (definitions := _claimable(line))
    ]
    picked = [_unpacked(row) for row in link.query(" union all ".join(arms))] if arms else []
    jobs = _shared_out(picked, lines)
    if not jobs:
        return []
    now_at = dialect.value(jobs[0]["now_at"])
    link.ask(
        take,
        ids=tuple(job["id"] for job in jobs),
        now_at=now_at,
        worker_id=params["worker_id"],
        lease_seconds=params["lease_seconds"],
    )
    link.ask(count, now_at=now_at, taken=json.dumps(_counted(jobs)))
    if holds := list(_holds(jobs, limits)):
        link.ask(hold, holds=json.dumps(holds))
    return [_claimed(job) for job in jobs]


def _claimable(line: Mapping[str, Any]) -> tuple[str, ...]:
    """The definitions whose jobs may be taken from a line."""
    return (line["gate"],) if line["gate"] else tuple(json.loads(line["plain"] or "[]"))


def _unpacked(row: Mapping[str, Any]) -> Job:
    job = dict(zip(_PACKED, json.loads(row["packed"]), strict=True))
    for instant in _INSTANTS:
        if job[instant] is not None:
            job[instant] = datetime.fromisoformat(job[instant])
    job["now_at"], job["id"], job["payload"] = row["now_at"], row["id"], row["payload"]
    return job


def _shared_out(picked: Sequence[Job], lines: Rows) -> list[Job]:
    """Of what was picked, no more for each tenant of a queue than its limit, most urgent first."""
    left = {(line["queue"], line["tenant_id"]): line["tenant_limit"] for line in lines}
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
        waited: timedelta = job["now_at"] - job["due_at"]
        groups[job["tenant_id"], job["queue"], job["definition"]].append(waited.total_seconds())
    return [[*group, len(waits), round(sum(waits) * 1000)] for group, waits in groups.items()]


def _holds(
    jobs: Sequence[Job], limits: Sequence[tuple[str, str | None, str | None]]
) -> Iterable[tuple[str, str]]:
    for job in jobs:
        for name, definition, tenant in limits:
            if definition == job["definition"] or tenant == job["tenant_id"]:
                yield job["id"], name


def _claimed(job: Job) -> Job:
    """A job as the update has left it: its row was locked, so there is nothing to read again."""
    job["lease_token"] += 1
    job["attempts"] += 1
    job["last_started_at"] = job["now_at"]
    return job
