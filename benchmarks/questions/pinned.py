"""Drain while a dump, a report or a forgotten session holds an old snapshot open."""

from collections.abc import Sequence

import psycopg

from benchmarks.findings import Finding, compared
from benchmarks.questions.waves import wave
from benchmarks.stage import Stage

QUESTION = "Does a worker keep its speed while an old snapshot keeps dead rows from being removed?"
JOBS, BEFORE, SLOTS = 20_000, 200_000, (500, 50)


def ask(stage: Stage) -> Sequence[Finding]:
    free, pinned = stage.migrated(), stage.migrated()
    with psycopg.connect(pinned, autocommit=True) as connection:
        connection.execute("begin isolation level repeatable read")
        connection.execute("select count(*) from windlass_live")
        stage.windlass("fill", pinned, stage.jobs(BEFORE))
        stage.windlass("drain", pinned, stage.jobs(BEFORE))
        sides = {}
        for slots in SLOTS:
            # A pin holds back only its own database: the other one shows the machine's pace.
            sides[f"free {slots}"] = wave(stage, free, stage.jobs(JOBS), slots)
            sides[f"pinned {slots}"] = wave(stage, pinned, stage.jobs(JOBS), slots)
        figures = stage.alternate(sides)
    return [
        compared(f"drain after 200k jobs under a pinned snapshot, {slots} slots",
                 figures[f"pinned {slots}"], figures[f"free {slots}"], "per_second", "jobs/s",
                 other="no pin", goal="P5")
        for slots in SLOTS
    ]  # fmt: skip
