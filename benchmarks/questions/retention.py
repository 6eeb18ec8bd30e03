"""Drain while a million finished jobs past their retention are being deleted."""

from collections.abc import Sequence

from benchmarks.findings import Finding, compared
from benchmarks.piles import pile
from benchmarks.questions.waves import wave
from benchmarks.stage import Stage

QUESTION = "Does deleting a million old jobs disturb a worker?"
JOBS, OLD, DAYS = 60_000, 1_000_000, 365


def ask(stage: Stage) -> Sequence[Finding]:
    alone, pruned = stage.migrated(), stage.migrated()
    stage.windlass("fill", pruned, 1)
    stage.windlass("drain", pruned, 1)
    pile(pruned, "ended", stage.jobs(OLD), days_old=DAYS)
    jobs = stage.jobs(JOBS)
    figures = stage.alternate(
        {"alone": wave(stage, alone, jobs), "pruned": wave(stage, pruned, jobs)}
    )
    return [
        compared("drain while 1M old jobs are pruned", figures["pruned"], figures["alone"],
                 "per_second", "jobs/s", other="without")
    ]  # fmt: skip
