"""Bytes that the server writes to its log per job: claim, finish and history."""

from collections.abc import Callable, Sequence

from benchmarks.findings import Finding, alone, compared
from benchmarks.measure import Figures
from benchmarks.stage import Side, Stage, execute_alone
from tests.databases.connect import execute

QUESTION = "How many bytes of write-ahead log does running a job cost?"
JOBS = 20_000


def ask(stage: Stage) -> Sequence[Finding]:
    sides = [side for side in (stage.windlass, stage.pgqueuer) if side]
    figures = stage.alternate({side.name: _bytes(stage, side) for side in sides})
    ours, measure = figures[stage.windlass.name], "write-ahead log per job"
    found = [alone(measure, ours, "bytes", "bytes", goal="P20")]
    if stage.pgqueuer:
        name = stage.pgqueuer.name
        found.append(compared(measure, ours, figures[name], "bytes", "bytes", other=name))
    return found


def _bytes(stage: Stage, side: Side) -> Callable[[], Figures]:
    url, jobs = stage.migrated(side=side), stage.jobs(JOBS)

    def once() -> Figures:
        # A checkpoint before the jobs come, as in a queue at work: pages they touch again while
        # they run are not written whole a second time.
        execute_alone(url, "checkpoint")
        side("fill", url, jobs)
        before = _written(url)
        side("drain", url, jobs)
        return {"bytes": (_written(url) - before) / jobs}

    return once


def _written(url: str) -> int:
    return int(execute(url, "select pg_current_wal_lsn() - '0/0'::pg_lsn")[0][0])
