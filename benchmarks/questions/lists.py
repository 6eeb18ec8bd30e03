"""Lists, summaries and searches with a million finished jobs, on both servers."""

from collections.abc import Callable, Sequence

from benchmarks.findings import Finding, compared
from benchmarks.history import history
from benchmarks.measure import Figures
from benchmarks.stage import Stage
from tests.databases.kinds import Kind

QUESTION = "Do lists, summaries and searches slow down as finished jobs pile up?"
FINISHED, LOOKS = 1_000_000, 40
SERVERS: Sequence[tuple[Kind, str]] = (("postgresql", "PostgreSQL"), ("mariadb", "MariaDB"))


def ask(stage: Stage) -> Sequence[Finding]:
    figures = stage.alternate(
        {
            f"{kind} {name}": _looks(stage, kind, jobs)
            for kind, _ in SERVERS
            for name, jobs in (("empty", 0), ("full", stage.jobs(FINISHED)))
        }
    )
    return [
        compared(f"{look}, p95, beside 1M finished jobs, {server}", figures[f"{kind} full"],
                 figures[f"{kind} empty"], look, "ms", other="without")
        for kind, server in SERVERS
        for look in figures[f"{kind} full"][0]
    ]  # fmt: skip


def _looks(stage: Stage, kind: Kind, jobs: int) -> Callable[[], Figures]:
    url = stage.migrated(kind)
    stage.windlass("fill", url, 1)
    stage.windlass("drain", url, 1)
    if jobs:
        history(url, jobs)
    return lambda: stage.viewer("looks", url, stage.looks(LOOKS))
