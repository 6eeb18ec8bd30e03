"""Each database alone: the same operations on all three."""

from collections.abc import Callable, Sequence

from benchmarks.findings import Finding, alone
from benchmarks.measure import Figures
from benchmarks.stage import Stage
from tests.databases.kinds import KINDS, Kind

QUESTION = "What does each database reach?"
SECONDS, JOBS = 1, 20_000
WORDS: dict[Kind, str] = {"sqlite": "SQLite", "postgresql": "PostgreSQL", "mariadb": "MariaDB"}
MEASURES = {
    "single": "awaited enqueue, one after the other",
    "callers": "200 callers, each awaiting its enqueue",
    "bulk": "bulk enqueue",
    "drain": "drain, 500 slots",
}


def ask(stage: Stage) -> Sequence[Finding]:
    figures = stage.alternate({WORDS[kind]: _deeds(stage, kind) for kind in KINDS})
    return [
        alone(f"{measure}, {name}", figures[name], deed, "jobs/s")
        for deed, measure in MEASURES.items()
        for name in figures
    ]


def _deeds(stage: Stage, kind: Kind) -> Callable[[], Figures]:
    seconds, jobs = stage.seconds(SECONDS), stage.jobs(JOBS)

    def once() -> Figures:
        url = stage.migrated(kind)
        figures = {
            "single": stage.producer("single", url, seconds)["per_second"],
            "callers": stage.producer("concurrent", url, seconds)["per_second"],
        }
        stage.drop(url)
        url = stage.migrated(kind)
        figures["bulk"] = stage.producer("bulk", url, jobs)["per_second"]
        figures["drain"] = stage.windlass("drain", url, jobs)["per_second"]
        stage.drop(url)
        return figures

    return once
