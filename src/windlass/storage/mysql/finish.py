"""The usual end in few steps: attempts that succeeded, with nothing more to say than a result."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from windlass.core.jobs.states import JobState, Outcome
from windlass.storage.mysql.connection import MysqlConnection
from windlass.storage.mysql.sql_literals import filled, literal
from windlass.storage.sql.batches import BATCHES
from windlass.storage.sql.statements import Rows, Statement

Finish = Sequence[Any]

_COLUMNS = list(BATCHES["finishes"])
_RESULT = _COLUMNS.index("result")
#: What a plain end says, besides whose it is and its result; warnings and progress are any.
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


def fast_finish(
    link: MysqlConnection, script: Sequence[Statement], params: Mapping[str, Any]
) -> Rows | None:
    """Run `sql/leases/fast_finish.sql` in the open transaction; the jobs that ended. None, and nothing is
    changed, if not all that is asked for is so plain."""
    finishes: Sequence[Finish] = params["finishes"]
    if not finishes or not _plain(finishes):
        return None
    by_id = {str(finish[0]): finish for finish in finishes}
    ends = _dump([[id, finish[1], finish[_RESULT]] for id, finish in sorted(by_id.items())])
    if len(by_id) < len(finishes) or len(ends) > link.packet // 4:
        return None
    look, lock, others, end, count, leave, let_go, *free = script
    size = {"count": len(by_id)}
    worker = {"worker_id": params["worker_id"]}
    _, _, groups, [found] = link.queries(
        [
            f"set @windlass_ends = {literal(ends)}",
            filled(look, worker),
            filled(lock, {**size, **worker}),
            filled(others, size),
        ]
    )
    if sum(group["ended"] for group in groups) < len(by_id) or found["waited_for"]:
        return None
    said = dict(zip(_COLUMNS, finishes[0], strict=True))
    texts = [filled(end, said), filled(count, {"ended": _counted(groups)}), filled(leave, {})]
    if found["held"]:
        texts.append(filled(let_go, {}))
    if any(group["keyed"] for group in groups):
        texts += [filled(statement, {}) for statement in free]
    link.queries(texts, last=True)
    state = JobState.COMPLETED
    return [{"id": end[0], "state": state, "lease_token": end[1]} for end in finishes]


def _plain(finishes: Sequence[Finish]) -> bool:
    first = finishes[0]
    said = dict(zip(_COLUMNS, first, strict=True))
    if any(said[column] != value for column, value in _PLAIN.items()):
        return False
    # Most columns are the same objects in all of them, so that this costs little.
    before, after = first[2:_RESULT], first[_RESULT + 1 :]
    return all(end[2:_RESULT] == before and end[_RESULT + 1 :] == after for end in finishes)


def _counted(groups: Rows) -> str:
    columns = ("tenant_id", "queue", "definition", "ended")
    return _dump([[*map(group.get, columns), int(group["run_ms"])] for group in groups])


def _dump(rows: Sequence[Sequence[Any]]) -> str:
    return json.dumps(rows, separators=(",", ":"))
