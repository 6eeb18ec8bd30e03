"""The usual enqueue in few steps: jobs due at once, with no key, no parent and no hold.

One or a few are stored by a statement that knows no more than that, many by COPY. Both leave to the whole
`enqueue` whatever they find to be unusual.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import asyncpg

from windlass.storage.connection.deadlines import LONG
from windlass.storage.sql.batches import BATCHES
from windlass.storage.sql.statements import Rows

Job = Sequence[Any]

#: For fewer jobs the extra round trips of COPY are not worth it.
_MANY = 100

_ASKED = list(BATCHES["jobs"])
#: Columns of the batch that are columns of the table.
_COPIED = (
    "id", "tenant_id", "definition", "queue", "priority", "payload", "max_attempts", "timeout_seconds",
    "on_parent_failure", "correlation_id", "source", "source_ref", "trigger_id", "trigger_due_at",
    "created_by", "metadata",
)  # fmt: skip
#: What a plain job says.
_PLAIN = {
    "due_at": None,
    "delay": None,
    "expires": None,
    "dedupe_key": None,
    "idempotency_key": None,
    "parents": 0,
    "held": False,
}
_TAKEN = [_ASKED.index(column) for column in _COPIED]
_TOLD = [*_TAKEN, _ASKED.index("own_gate")]
_LOOKED_AT = [(_ASKED.index(column), usual) for column, usual in _PLAIN.items()]
_ID, _TENANT, _DEFINITION, _QUEUE, _GATE = (
    _ASKED.index(column) for column in ("id", "tenant_id", "definition", "queue", "own_gate")
)


class Session(Protocol):
    """Verbs inside one open transaction, and its connection."""

    connection: Any
    schema: str | None

    async def run(self, verb: str, /, **params: Any) -> Rows: ...


def can_fast_enqueue(jobs: Sequence[Job]) -> bool:
    return all(job[place] == usual for job in jobs for place, usual in _LOOKED_AT)


def fast_statement(jobs: Sequence[Job]) -> tuple[str, dict[str, Any]]:
    """The verb that stores plain jobs, and what it is to be told."""
    if len(jobs) == 1:
        [job] = jobs
        return "fast_enqueue_one", {_ASKED[place]: job[place] for place in _TOLD}
    return "fast_enqueue", {"jobs": jobs}


def should_copy(jobs: Sequence[Job]) -> bool:
    return len(jobs) >= _MANY


async def copied(session: Session, jobs: Sequence[Job]) -> bool:
    """Store plain jobs in the open transaction; False if some cannot be, and none was stored."""
    groups = Counter((job[_TENANT], job[_QUEUE], job[_DEFINITION]) for job in jobs)
    ids = [job[_ID] for job in jobs]
    counted = [(*group, count) for group, count in groups.items()]
    found = await session.run("current_gates", groups=counted, first=min(ids), last=max(ids))
    gates: Mapping[tuple[str, str], str] = {
        (row["tenant_id"], row["definition"]): row["gate"] for row in found
    }
    if any((tenant, definition) not in gates for tenant, _, definition in groups):
        return False
    records = [
        (*[job[place] for place in _TAKEN], job[_GATE] or gates[job[_TENANT], job[_DEFINITION]])
        for job in jobs
    ]
    try:
        async with session.connection.transaction():
            await session.connection.copy_records_to_table(
                "windlass_live",
                schema_name=session.schema,
                columns=[*_COPIED, "gate"],
                records=records,
                timeout=LONG,
            )
    except asyncpg.UniqueViolationError:  # some are stored already
        return False
    await session.run("count_enqueued", groups=counted)
    return True
