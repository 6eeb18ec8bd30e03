"""A worker with nothing to do."""

import time
from collections.abc import Callable, Sequence

from benchmarks.findings import Finding, alone, compared
from benchmarks.measure import Figures
from benchmarks.stage import Side, Stage
from tests.databases.connect import execute

QUESTION = "What does an idle worker cost?"
SETTLE, SHORT, LONGER_BY = 1, 0.5, 6
_PATIENCE = 5.0
MEASURES = [
    ("queries", "P15 queries", "idle worker, transactions", "per_second", "1/s"),
    ("cpu", "P15 cpu", "idle worker, CPU", "cpu_percent", "%"),
    ("memory", "P15 memory", "idle worker, memory (PSS)", "pss_mb", "MB"),
]


def ask(stage: Stage) -> Sequence[Finding]:
    sides = [side for side in (stage.windlass, stage.pgqueuer) if side]
    figures = stage.alternate({side.name: _idle(stage, side) for side in sides})
    ours = figures[stage.windlass.name]
    found = [alone(text, ours, figure, unit, goal=goal) for _, goal, text, figure, unit in MEASURES]
    if stage.pgqueuer:
        theirs = figures[stage.pgqueuer.name]
        found += [
            compared(text, ours, theirs, figure, unit, other=stage.pgqueuer.name)
            for _, _, text, figure, unit in MEASURES
        ]
    return found


def _idle(stage: Stage, side: Side) -> Callable[[], Figures]:
    url = stage.migrated(side=side)

    settle, short, by = map(stage.seconds, (SETTLE, SHORT, LONGER_BY))

    def transactions_of(seconds: float) -> tuple[int, Figures]:
        before = _transactions(url)
        figures = side("idle", url, seconds, settle)
        return _transactions(url) - before, figures

    # A server counts late what an open connection did, and starting costs queries too: runs of
    # different length, counted after their end, tell what the time between cost.
    transactions_of(short)
    starting, _ = transactions_of(short)

    def once() -> Figures:
        count, figures = transactions_of(short + by)
        return {**figures, "per_second": max(0.0, (count - starting) / by)}

    return once


def _transactions(url: str) -> int:
    server, _, name = url.rpartition("/")
    others = f"select count(*) from pg_stat_activity where datname = '{name}'"
    until = time.monotonic() + _PATIENCE
    # What a connection did is counted when it has ended, a moment after its client has.
    while execute(f"{server}/postgres", others)[0][0] and time.monotonic() < until:
        time.sleep(0.05)
    counted = execute(
        f"{server}/postgres",
        f"select xact_commit + xact_rollback from pg_stat_database where datname = '{name}'",
    )
    return int(counted[0][0])
