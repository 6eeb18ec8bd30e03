"""One worker process drains a backlog: Windlass, its peers, and the bare SQL statements."""

from collections.abc import Callable, Sequence

from benchmarks.findings import Finding, compared
from benchmarks.measure import Figures
from benchmarks.stage import Side, Stage

QUESTION = "How fast does one worker process drain a backlog of no-op jobs?"
JOBS = 40_000


def ask(stage: Stage) -> Sequence[Finding]:
    jobs = stage.jobs(JOBS)
    peers = [peer for peer in (stage.pgqueuer, stage.graphile) if peer]
    sides = {side.name: _drains(stage, side, side, jobs) for side in [stage.windlass, *peers]}
    for kind in ("bare", "real"):
        sides[kind] = _drains(stage, stage.raw, stage.windlass, jobs, kind)
    figures = stage.alternate(sides)
    ours = figures[stage.windlass.name]
    goals = {"PgQueuer": "P1", "Graphile": "P2"}
    found = [
        compared("drain, one process", ours, figures[peer.name], "per_second", "jobs/s",
                 other=peer.name, goal=goals[peer.name.split()[0]])
        for peer in peers
    ]  # fmt: skip
    found += [
        compared("drain, one process", ours, figures["real"], "per_second", "jobs/s",
                 other="our statements, real coroutine", goal="P3"),
        compared("drain, one process", ours, figures["bare"], "per_second", "jobs/s",
                 other="our statements, bare coroutine"),
    ]  # fmt: skip
    found += [
        compared("worker CPU per job", ours, figures[peer.name], "cpu_us", "µs",
                 other=peer.name, goal={"P1": "P18"}.get(goals[peer.name.split()[0]], ""))
        for peer in peers
    ]  # fmt: skip
    return found


def _drains(stage: Stage, side: Side, filler: Side, jobs: int, *args: str) -> Callable[[], Figures]:
    template = stage.filled(filler, jobs)

    def once() -> Figures:
        with stage.copy(template) as url:
            return side("drain", url, jobs, *args)

    return once
