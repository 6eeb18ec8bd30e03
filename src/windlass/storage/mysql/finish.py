"""Fast path of `finish`: succeeded attempts with nothing to record but a result."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from windlass.core.jobs.states import JobState, Outcome
from windlass.storage.mysql.connection import MysqlConnection
from windlass.storage.mysql.sql_literals import interpolate, literal
from windlass.storage.sql.batches import BATCHES
from windlass.storage.sql.statements import Batch, Rows, Scripts

#: The values of a plain end; warnings and progress may have any value, the same in each row.
_PLAIN: Mapping[str, Any] = {
    "outcome": Outcome.SUCCEEDED,
    "state": JobState.COMPLETED,
    "error": None,
    "error_type": None,
    "error_class": None,
    "error_trace": None,
    "pid": None,
    "exit_code": None,
    "stdout_tail": None,
    "stderr_tail": None,
    "fingerprint": None,
    "keep": True,
    "gate": None,
    "uncounted": None,
    "spared": None,
    "expired_only": False,
}
_SHARED = [column for column in BATCHES["finishes"] if column not in ("id", "token", "result")]


def fast_finish(
    connection: MysqlConnection, scripts: Scripts, params: Mapping[str, Any]
) -> Rows | None:
    """Run `fast_finish` in the open transaction, if every end is plain; returns the ended jobs."""
    finishes: Batch = params["finishes"]
    if not finishes or not _plain(finishes):
        return None
    by_id = {
        str(id): (token, result) for id, token, result in finishes.rows("id", "token", "result")
    }
    ends = _dump([[id, *by_id[id]] for id in sorted(by_id)])
    if len(by_id) < len(finishes) or len(ends) > connection.packet // 4:
        return None
    look, lock, others, end, count, leave, release_holds, *free = scripts["fast_finish"]
    size = {"count": len(by_id)}
    worker = {"worker_id": params["worker_id"]}
    _, _, groups, [found] = connection.queries(
        [
            f"set @windlass_ends = {literal(ends)}",
            interpolate(look, worker),
            interpolate(lock, {**size, **worker}),
            interpolate(others, size),
        ]
    )
    if sum(group["ended"] for group in groups) < len(by_id) or found["waited_for"]:
        return None
    shared = {column: finishes[column][0] for column in _SHARED}
    texts = [
        interpolate(end, shared),
        interpolate(count, {"ended": _counts_sql(groups)}),
        interpolate(leave, {}),
    ]
    if found["held"]:
        texts.append(interpolate(release_holds, {}))
    if any(group["keyed"] for group in groups):
        texts += [interpolate(statement, {}) for statement in free]
    connection.queries(texts, last=True)
    state = JobState.COMPLETED
    return [
        {"id": id, "state": state, "lease_token": token}
        for id, token in finishes.rows("id", "token")
    ]


def _plain(finishes: Batch) -> bool:
    # Most columns hold the same object in all rows, so this is cheap.
    return all(
        finishes.all_equal(column, _PLAIN.get(column, finishes[column][0])) for column in _SHARED
    )


def _counts_sql(groups: Rows) -> str:
    columns = ("tenant_id", "queue", "definition", "ended")
    return _dump([[*map(group.get, columns), int(group["run_ms"])] for group in groups])


def _dump(rows: Sequence[Sequence[Any]]) -> str:
    return json.dumps(rows, separators=(",", ":"))
