"""Drain with many finished jobs in the history, and with many jobs due later."""

from collections.abc import Sequence

from benchmarks.findings import Finding, compared
from benchmarks.piles import pile
from benchmarks.questions.waves import wave
from benchmarks.stage import Stage

QUESTION = "Does a worker slow down as finished and future jobs pile up?"
JOBS, FINISHED, FUTURE = 30_000, 1_000_000, 200_000


def ask(stage: Stage) -> Sequence[Finding]:
    alone, finished, future = stage.migrated(), stage.migrated(), stage.migrated()
    stage.windlass("fill", finished, 1)
    stage.windlass("drain", finished, 1)
    pile(finished, "ended", stage.jobs(FINISHED))
    stage.windlass("fill", future, 1, 1, "1d")
    pile(future, "later", stage.jobs(FUTURE))
    jobs = stage.jobs(JOBS)
    figures = stage.alternate(
        {
            "alone": wave(stage, alone, jobs),
            "1M finished": wave(stage, finished, jobs),
            "200k future": wave(stage, future, jobs),
        }
    )
    return [
        compared(f"drain beside {words} jobs", figures[name], figures["alone"], "per_second",
                 "jobs/s", other="without", goal="P6")
        for name, words in [("1M finished", "1M finished"), ("200k future", "200k future")]
    ]  # fmt: skip
