"""Two worker processes on one backlog."""

from collections.abc import Callable, Sequence

from benchmarks.findings import Finding, alone, compared
from benchmarks.measure import Figures, run_together
from benchmarks.stage import Side, Stage

QUESTION = "How fast do two worker processes drain one backlog?"
JOBS = 60_000


def ask(stage: Stage) -> Sequence[Finding]:
    sides = [side for side in (stage.windlass, stage.pgqueuer) if side]
    figures = stage.alternate({side.name: _pair(stage, side) for side in sides})
    ours, measure = figures[stage.windlass.name], "drain, two processes"
    if stage.pgqueuer is None:
        return [alone(measure, ours, "per_second", "jobs/s")]
    name = stage.pgqueuer.name
    return [
        compared(measure, ours, figures[name], "per_second", "jobs/s", other=name, goal="P4"),
    ]


def _pair(stage: Stage, side: Side) -> Callable[[], Figures]:
    jobs = stage.jobs(JOBS)
    template = stage.filled(side, jobs)

    def once() -> Figures:
        with stage.copy(template) as url:
            each = run_together([side.command("share", url)] * 2)
        ran = sum(figures["jobs"] for figures in each)
        assert ran == jobs, f"{ran} jobs ran of {jobs}"
        began, ended = min(f["began"] for f in each), max(f["ended"] for f in each)
        return {"per_second": jobs / (ended - began)}

    return once
