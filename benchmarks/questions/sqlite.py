"""SQLite with full sync on both sides."""

from collections.abc import Callable, Sequence

from benchmarks.findings import Finding, alone, compared
from benchmarks.measure import Figures
from benchmarks.stage import Side, Stage

QUESTION = "How fast is a worker on SQLite?"
JOBS = 30_000
#: Huey enqueues one by one, which takes longer than its drain.
THEIR_JOBS = 6_000


def ask(stage: Stage) -> Sequence[Finding]:
    sides = {"Windlass": _drain(stage, stage.windlass, stage.jobs(JOBS))}
    if stage.huey:
        sides[stage.huey.name] = _drain(stage, stage.huey, stage.jobs(THEIR_JOBS))
    figures = stage.alternate(sides)
    measure, ours = "drain on SQLite, full sync", figures["Windlass"]
    if not stage.huey:
        return [alone(measure, ours, "per_second", "jobs/s")]
    name = stage.huey.name
    return [compared(measure, ours, figures[name], "per_second", "jobs/s", other=name, goal="P16")]


def _drain(stage: Stage, side: Side, jobs: int) -> Callable[[], Figures]:
    def once() -> Figures:
        url = stage.empty("sqlite")
        side("fill", url, jobs)
        return side("drain", url, jobs)

    return once
