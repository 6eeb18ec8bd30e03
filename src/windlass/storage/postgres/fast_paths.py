"""The fast paths of PostgreSQL: verbs that bypass the statements of their files.

See decision 0025. A fast path runs on a session's connection, with or without a transaction. It
returns the verb's rows, or None, with nothing changed, if it does not apply: then the file runs.
"""

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Protocol

import asyncpg

from windlass.storage.connection.deadlines import LONG
from windlass.storage.postgres.connect import transaction
from windlass.storage.sql.statements import Batch, Rows


class FastPathSession(Protocol):
    """Runs SQL files on one connection."""

    connection: Any
    schema: str | None
    #: True if COPY may be used: the server's own clock sets instants, and no row security applies.
    copies: bool

    async def run_file(self, name: str, /, **params: Any) -> Rows: ...


FastPath = Callable[[FastPathSession, Mapping[str, Any]], Awaitable[Rows | None]]

#: For fewer jobs the extra round trips of COPY are not worth it.
_MANY = 100
#: The columns of a job that is due at once, with no key, no parent and no hold.
_PLAIN = {
    "due_at": None,
    "delay": None,
    "expires": None,
    "dedupe_key": None,
    "idempotency_key": None,
    "parents": 0,
    "held": False,
}
#: Columns of the batch that are columns of the table.
_COPIED = (
    "id", "tenant_id", "definition", "queue", "priority", "payload", "max_attempts", "timeout_seconds",
    "on_parent_failure", "correlation_id", "source", "source_ref", "trigger_id", "trigger_due_at",
    "created_by", "metadata",
)  # fmt: skip
_GROUP = ("tenant_id", "queue", "definition")


async def fast_enqueue(session: FastPathSession, params: Mapping[str, Any]) -> Rows | None:
    """Store plain jobs: a few by a statement for plain jobs only, many by COPY."""
    jobs: Batch = params["jobs"]
    if not all(jobs.all_equal(column, value) for column, value in _PLAIN.items()):
        return None
    if session.copies and len(jobs) >= _MANY and await copy_rows(session, jobs):
        return []
    if len(jobs) == 1:
        columns = (*_COPIED, "own_gate")
        [values] = jobs.rows(*columns)
        return await session.run_file("fast_enqueue_one", **dict(zip(columns, values, strict=True)))
    return await session.run_file("fast_enqueue", jobs=jobs)


async def copy_rows(session: FastPathSession, jobs: Batch) -> bool:
    """Copy plain jobs into their table; False, with none stored, if some cannot be copied."""
    try:
        async with transaction(session.connection):
            return await _copy(session, jobs)
    except asyncpg.UniqueViolationError:  # some exist already
        return False


async def _copy(session: FastPathSession, jobs: Batch) -> bool:
    counts = Counter(jobs.rows(*_GROUP))
    groups = Batch.of_rows((*_GROUP, "jobs"), [(*group, n) for group, n in counts.items()])
    first, last = min(jobs["id"]), max(jobs["id"])
    found = await session.run_file("current_gates", groups=groups, first=first, last=last)
    gates: Mapping[tuple[str, str], str] = {
        (row["tenant_id"], row["definition"]): row["gate"] for row in found
    }
    if not gates.keys() >= set(groups.rows("tenant_id", "definition")):
        return False
    own = jobs.rows("own_gate", "tenant_id", "definition")
    await session.connection.copy_records_to_table(
        "windlass_live",
        schema_name=session.schema,
        columns=[*_COPIED, "gate"],
        records=[
            (*row, own_gate or gates[tenant, definition])
            for row, (own_gate, tenant, definition) in zip(jobs.rows(*_COPIED), own, strict=True)
        ],
        timeout=LONG,
    )
    await session.run_file("count_enqueued", groups=groups)
    return True


FAST_PATHS: Mapping[str, FastPath] = {"enqueue": fast_enqueue}
