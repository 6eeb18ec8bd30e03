"""Storing many plain jobs by COPY: several times faster than by a statement that knows it all."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import asyncpg

from windlass.storage.batches import BATCHES
from windlass.storage.sql import Rows

#: For fewer jobs the extra round trips are not worth it.
_WORTHWHILE = 100

_ASKED = list(BATCHES["jobs"])
#: Columns of the batch that are columns of the table.
_COPIED = (
    "id", "tenant_id", "definition", "queue", "priority", "payload", "max_attempts", "timeout_seconds",
    "correlation_id", "source", "source_ref", "trigger_id", "trigger_due_at", "created_by", "metadata",
)  # fmt: skip
#: What makes a job more than plain, if it says anything but this.
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
_LOOKED_AT = [(_ASKED.index(column), usual) for column, usual in _PLAIN.items()]
_TENANT, _DEFINITION, _QUEUE = (
    _ASKED.index(column) for column in ("tenant_id", "definition", "queue")
)


class Runner(Protocol):
    """A session, and its connection."""

    connection: Any
    schema: str | None

    async def run(self, verb: str, /, **params: Any) -> Rows: ...


def worthwhile(params: Mapping[str, Any]) -> bool:
    """Whether these jobs are many, and due at once with nothing to check but who they are for."""
    jobs: Sequence[Sequence[Any]] = params["jobs"]
    return len(jobs) >= _WORTHWHILE and all(
        job[place] == usual for job in jobs for place, usual in _LOOKED_AT
    )


async def copied(session: Runner, params: Mapping[str, Any]) -> bool:
    """Store the jobs in the open transaction; False if some cannot be, and none was stored."""
    jobs: Sequence[Sequence[Any]] = params["jobs"]
    groups = Counter((job[_TENANT], job[_QUEUE], job[_DEFINITION]) for job in jobs)
    asked = [(*group, count) for group, count in groups.items()]
    gates = {
        (row["tenant_id"], row["definition"]): row["gate"]
        for row in await session.run("gates_of", groups=asked)
    }
    if any((tenant, definition) not in gates for tenant, _, definition in groups):
        return False
    records = [
        (*[job[place] for place in _TAKEN], gates[job[_TENANT], job[_DEFINITION]]) for job in jobs
    ]
    try:
        async with session.connection.transaction():
            await session.connection.copy_records_to_table(
                "windlass_live",
                schema_name=session.schema,
                columns=[*_COPIED, "gate"],
                records=records,
            )
    except asyncpg.UniqueViolationError:  # some are stored already
        return False
    await session.run("count_stored", groups=asked)
    return True
