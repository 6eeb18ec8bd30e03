"""Pick-up: time from enqueue to the handler's first line, with an idle worker."""

from collections.abc import Callable, Sequence

from benchmarks.findings import Finding, alone, compared
from benchmarks.measure import Figures
from benchmarks.stage import Side, Stage

QUESTION = "How soon does an idle worker start a new job?"
JOBS = 100


def ask(stage: Stage) -> Sequence[Finding]:
    peers = [peer for peer in (stage.pgqueuer, stage.procrastinate) if peer]
    figures = stage.alternate({s.name: _pickup(stage, s) for s in [stage.windlass, *peers]})
    ours, found = figures[stage.windlass.name], []
    for part in ("p50", "p99"):
        measure, name = f"pick-up, {part}", f"{part}_ms"
        if not peers:
            found.append(alone(measure, ours, name, "ms"))
            continue
        best = [
            {name: min(figure[name] for figure in each)}
            for each in zip(*[figures[peer.name] for peer in peers], strict=True)
        ]
        found.append(
            compared(measure, ours, best, name, "ms", other="best Python peer", goal=f"P10 {part}")
        )
        found += [
            compared(measure, ours, figures[peer.name], name, "ms", other=peer.name)
            for peer in peers
        ]
    return found


def _pickup(stage: Stage, side: Side) -> Callable[[], Figures]:
    url = stage.migrated(side=side)
    return lambda: side("pickup", url, stage.jobs(JOBS))
