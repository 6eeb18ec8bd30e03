"""MariaDB compared with a peer on PostgreSQL: no peer of this kind runs on MariaDB."""

from collections.abc import Callable, Sequence

from benchmarks.findings import Finding, alone, compared
from benchmarks.measure import Figures
from benchmarks.stage import Side, Stage
from tests.databases.connect import execute

QUESTION = "How fast is a worker on MariaDB, and do its statements deadlock?"
JOBS = 30_000


def ask(stage: Stage) -> Sequence[Finding]:
    peer, jobs = stage.pgqueuer, stage.jobs(JOBS)
    sides = {"Windlass": _ours(stage, jobs)}
    if peer:
        sides[peer.name] = _theirs(stage, peer, jobs)
    figures = stage.alternate(sides)
    measure, ours = "drain on MariaDB", figures["Windlass"]
    found = [
        alone("deadlocks while draining on MariaDB", ours, "deadlocks", "", goal="P17 deadlocks")
    ]
    if peer:
        other = f"{peer.name} on PostgreSQL"
        found.insert(0, compared(measure, ours, figures[peer.name], "per_second", "jobs/s",
                                 other=other, goal="P17"))  # fmt: skip
    else:
        found.insert(0, alone(measure, ours, "per_second", "jobs/s"))
    return found


def _ours(stage: Stage, jobs: int) -> Callable[[], Figures]:
    url = stage.migrated("mariadb")

    def once() -> Figures:
        stage.windlass("fill", url, jobs)
        before = _deadlocks(url)
        figures = stage.windlass("drain", url, jobs)
        return {**figures, "deadlocks": _deadlocks(url) - before}

    return once


def _theirs(stage: Stage, peer: Side, jobs: int) -> Callable[[], Figures]:
    template = stage.filled(peer, jobs)

    def once() -> Figures:
        with stage.copy(template) as url:
            return peer("drain", url, jobs)

    return once


def _deadlocks(url: str) -> int:
    [(_, count)] = execute(url, "show global status like 'Innodb_deadlocks'")
    return int(count)
