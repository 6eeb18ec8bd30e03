"""Seeds what the dashboard shows beside a long history: tenants, definitions, schedules, jobs in line,
and a week of counts and latencies by slot. A job that ended, one in line and one schedule must exist.
"""

import time
from collections.abc import Mapping, Sequence

from benchmarks.piles import columns_of
from tests.databases.connect import execute

#: Lines of each tenant: jobs of so many definitions, each in a queue of its own.
_LINES = 3
_COUNTS = (
    "enqueued, started, succeeded, failed, completed, canceled, dead_letter, run_ms, wait_ms, "
    "waiting_change, running_change"
)
_COUNTED = "9, 9, 8, 1, 8, 0, 1, 900 + t.n, 400, 0, 0"
#: Span of a slot in seconds -> how many slots there are.
_SLOTS: Mapping[int, int] = {900: 96, 7200: 84}
_MINUTES = 75
_BUCKETS = (0, 50, 250, 1000)


def busy_week(url: str, *, tenants: int, schedules: int, waiting: int) -> None:
    """Seed all of it, with the slots made up to this quarter of an hour."""
    _Seeds(url).seed(tenants, schedules, waiting)


class _Seeds:
    def __init__(self, url: str) -> None:
        self._url = url
        self._postgres = url.startswith("postgresql:")
        self._now = int(time.time())

    def seed(self, tenants: int, schedules: int, waiting: int) -> None:
        self._copy(
            "tenants", tenants, {"id": "concat('t', n)", "name": "concat('t', n)"}, "id = 'default'"
        )
        key = "key" if self._postgres else "`key`"
        self._copy(
            "definitions",
            20,
            {"key": "concat('kind', n)", "title": "concat('kind', n)"},
            f"{key} = 'noop'",
        )
        self._copy(
            "live",
            waiting,
            {**_LINE, "id": self._id("a"), "tenant_id": f"concat('t', n % {tenants})"},
        )
        self._copy("triggers", schedules, {"id": self._id("b"), "name": "concat('schedule ', n)"})
        for span, slots in _SLOTS.items():
            until = self._now // span * span
            self._run(
                f"insert into windlass_rollup_marks (span, until_at) values ({span}, {self._at(until)})"
            )
            self._slots(span, until - slots * span, slots, tenants)
        self._slots(60, self._now // 60 * 60 - (_MINUTES - 1) * 60, _MINUTES, tenants)
        self._workers()
        self._run("analyze" if self._postgres else "analyze table " + ", ".join(_ANALYZED))

    def _slots(self, span: int, first: int, slots: int, tenants: int) -> None:
        at = self._at(f"{first} + s.n * {span}")
        cells = f"{self._numbers(slots)} s cross join {self._numbers(tenants)} t cross join {self._numbers(_LINES)} l"
        line = "concat('q', l.n), concat('kind', l.n)"
        if span == 60:
            minute = "minute" if self._postgres else "`minute`"
            self._run(
                f"insert into windlass_minutes ({minute}, tenant_id, queue, definition, {_COUNTS}) "
                f"select {at}, concat('t', t.n), {line}, {_COUNTED} from {cells}"
            )
        else:
            self._run(
                f"insert into windlass_rollups (span, slot, tenant_id, queue, definition, {_COUNTS}) "
                f"select {span}, {at}, {_TENANT_OR_ALL}, {line}, {_COUNTED} from {cells}"
            )
        buckets = " union all ".join(f"select {upto} as upto" for upto in _BUCKETS)
        self._run(
            "insert into windlass_histograms "
            "(span, slot, tenant_id, kind, queue, definition, upto_ms, observed, seconds) "
            f"select {span}, {at}, {_TENANT_OR_ALL}, kind, {line}, upto, 3, 0.5 from {cells} "
            "cross join (select 'wait' as kind union all select 'run') k "
            f"cross join ({buckets}) b"
        )

    def _workers(self) -> None:
        minute = "minute" if self._postgres else "`minute`"
        at = self._at(f"{self._now // 60 * 60} - s.n * 60")
        self._run("delete from windlass_worker_minutes")
        self._run(
            f"insert into windlass_worker_minutes ({minute}, workers, slots, slots_used) "
            f"select {at}, 4, 400, 90 from {self._numbers(7 * 24 * 60)} s"
        )

    def _copy(self, table: str, number: int, made: Mapping[str, str], where: str = "1 = 1") -> None:
        columns = columns_of(self._url, f"windlass_{table}")
        names = [column if self._postgres else f"`{column}`" for column in columns]
        values = [
            made.get(column, f"j.{name}") for column, name in zip(columns, names, strict=True)
        ]
        self._run(
            f"insert into windlass_{table} ({', '.join(names)}) select {', '.join(values)} "
            f"from {self._numbers(number)} s, (select * from windlass_{table} where {where} limit 1) j"
        )

    def _numbers(self, number: int) -> str:
        if self._postgres:
            return f"(select n from generate_series(0, {number - 1}) n)"
        return f"(select seq as n from seq_0_to_{number - 1})"

    def _at(self, seconds: object) -> str:
        if self._postgres:
            return f"to_timestamp({seconds})"
        return f"timestampadd(second, {seconds}, '1970-01-01')"

    def _id(self, kind: str) -> str:
        hexed = f"lpad(lower({'to_hex' if self._postgres else 'hex'}(n)), 12, '0')"
        text = f"concat('0196{kind}000-0000-7000-8000-', {hexed})"
        return f"cast({text} as uuid)" if self._postgres else text

    def _run(self, statement: str) -> None:
        execute(self._url, statement)


_TENANT_OR_ALL = "case when t.n = 0 then '' else concat('t', t.n) end"
_LINE = {"queue": f"concat('q', n % {_LINES})", "definition": f"concat('kind', n % {_LINES})"}
_ANALYZED: Sequence[str] = (
    "windlass_live", "windlass_minutes", "windlass_rollups", "windlass_histograms",
)  # fmt: skip
