"""Routes behind the dashboard's screens with a million jobs, a thousand schedules, many tenants."""

from collections.abc import Callable, Sequence

from benchmarks.busy_week import busy_week
from benchmarks.findings import Finding, alone
from benchmarks.history import history
from benchmarks.measure import Figures
from benchmarks.stage import Stage
from tests.databases.kinds import Kind

QUESTION = "How fast do the routes behind the dashboard's screens answer at a million jobs?"
FINISHED, WAITING, SCHEDULES, TENANTS, LOOKS = 900_000, 100_000, 1000, 200, 20
SERVERS: Sequence[tuple[Kind, str]] = (("postgresql", "PostgreSQL"), ("mariadb", "MariaDB"))


def ask(stage: Stage) -> Sequence[Finding]:
    figures = stage.alternate({kind: _looks(stage, kind) for kind, _ in SERVERS})
    return [
        alone(f"{route}, p95, {server}", figures[kind], route, "ms")
        for kind, server in SERVERS
        for route in figures[kind][0]
    ]


def _looks(stage: Stage, kind: Kind) -> Callable[[], Figures]:
    url = stage.migrated(kind)
    stage.windlass("fill", url, 1)
    stage.windlass("drain", url, 1)
    stage.screens("seed", url)
    history(url, stage.jobs(FINISHED))
    busy_week(
        url,
        tenants=stage.jobs(TENANTS),
        schedules=stage.jobs(SCHEDULES),
        waiting=stage.jobs(WAITING),
    )
    return lambda: stage.screens("routes", url, stage.looks(LOOKS))
