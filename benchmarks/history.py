"""Seeds a long and varied history: the database copies one job that has ended.

Ids and times are spread over a month. One of two jobs is the first tenant's; a few definitions, queues
and states are rare. The counts tell of it, and some jobs have log lines.
"""

import time
from collections.abc import Mapping

from benchmarks.piles import columns_of
from tests.databases.connect import execute

_DAYS = 30
_LOG_LINES = 200_000
_COUNTED = ("completed", "canceled", "dead_letter")

#: Column -> what the n-th job has in it, for every database.
_VARIED: Mapping[str, str] = {
    "tenant_id": "case when n % 2 = 0 then 'default' else concat('t', n % 50) end",
    "definition": "case when n % 1000 = 7 then 'rare' else concat('kind', n % 20) end",
    "queue": "case when n % 10000 = 11 then 'rare' else concat('q', n % 8) end",
    "state": "case when n % 500 = 3 then 'dead_letter' when n % 200 = 5 then 'canceled' else 'completed' end",
    "source": "case when n % 4 = 0 then 'event' else 'manual' end",
    "correlation_id": "case when n % 10 = 0 then concat('order ', floor(n / 40)) end",
    "worker_id": "concat('w-', n % 30)",
    "attempts": "1 + n % 3",
    "last_error": "case when n % 500 = 3 then concat('timed out after ', n % 90, ' s') end",
    "error_type": "case when n % 500 = 3 then 'TimeoutError' end",
}
_TIMES = ("due_at", "created_at", "queued_at", "started_at", "last_started_at", "finished_at", "updated_at")  # fmt: skip
_MS = "({first} + n * {step})"
_TEXT_ID = (
    "concat(left(t, 8), '-', substr(t, 9, 4), '-7', left(m, 3), '-8', substr(m, 4, 3), '-', "
    "substr(m, 7, 12))"
)


def history(url: str, jobs: int) -> None:
    """Have that many ended jobs, oldest first, in a database in which one has ended."""
    postgres = url.startswith("postgresql:")
    first = int((time.time() - _DAYS * 86_400) * 1000)
    ms = _MS.format(first=first, step=max(1, _DAYS * 86_400_000 // (jobs + 1)))
    at = (
        f"to_timestamp({ms} / 1000.0)"
        if postgres
        else f"timestampadd(microsecond, {ms} * 1000, '1970-01-01')"
    )
    varied = {
        **_VARIED,
        **dict.fromkeys(_TIMES, at),
        "id": f"cast({_TEXT_ID} as uuid)" if postgres else _TEXT_ID,
        "payload": "cast(p as json)" if postgres else "p",
    }
    columns = columns_of(url, "windlass_ended")
    picked = ", ".join(varied.get(name, f"j.{name}") for name in columns)
    execute(
        url,
        f"insert into windlass_ended ({', '.join(columns)}) select {picked} "
        f"from ({_numbered(jobs, ms, postgres)}) made, (select * from windlass_ended limit 1) j",
    )
    _count(url)
    _log(url, postgres, max(1, jobs // _LOG_LINES))
    execute(url, "analyze" if postgres else "analyze table windlass_ended, windlass_logs")


def _numbered(jobs: int, ms: str, postgres: bool) -> str:
    """The jobs by number, with the time (t) and the random part (m) of their ids, and payloads (p)."""
    hexed = f"lpad(lower({'to_hex' if postgres else 'hex'}({ms})), 12, '0')"
    numbers = (
        f"generate_series(1, cast({jobs} as bigint)) n"
        if postgres
        else f"(select seq as n from seq_1_to_{jobs}) s"
    )
    payload = "concat('{\"user_id\": ', n, '}')"
    return f"select n, {hexed} as t, md5(concat('x', n)) as m, {payload} as p from {numbers}"


def _count(url: str) -> None:
    sums = ", ".join(f"sum(case when state = '{s}' then 1 else 0 end)" for s in _COUNTED)
    for table in ("windlass_counts", "windlass_deltas"):
        execute(url, f"delete from {table}")
    execute(
        url,
        f"insert into windlass_counts (tenant_id, queue, definition, {', '.join(_COUNTED)}) "
        f"select tenant_id, queue, definition, {sums} from windlass_ended group by 1, 2, 3",
    )


def _log(url: str, postgres: bool, every: int) -> None:
    """A line for one of so many jobs; a few have a rare word."""
    rare = "case when attempts = 2 and queue = 'q3' then 'needle ' else '' end"
    message = f"concat({rare}, 'sent mail of ', definition)"
    lot = "abs(hashtext(cast(id as text)))" if postgres else "crc32(id)"
    words = "" if postgres else f", concat('ww', replace({message}, ' ', ' ww'))"
    execute(
        url,
        "insert into windlass_logs (job_id, sequence, attempt, tenant_id, definition, level, message, "
        f"created_at{', words' if words else ''}) "
        f"select id, 1, 1, tenant_id, definition, 'info', {message}, created_at{words} "
        f"from windlass_ended where {lot} % {every} = 0",
    )
