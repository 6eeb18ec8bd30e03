"""Jobs ahead in the line that nobody may or can run now."""

from collections.abc import Sequence

from benchmarks.findings import Finding, compared
from benchmarks.piles import pile
from benchmarks.questions.waves import wave
from benchmarks.stage import Stage

QUESTION = "Do a million jobs that cannot be claimed slow down those behind them?"
JOBS, AHEAD = 60_000, 1_000_000
REASONS = {
    "disabled": "of a disabled definition",
    "unknown": "of a definition this worker does not know",
    "limited": "under a full limit",
}


def ask(stage: Stage) -> Sequence[Finding]:
    jobs = stage.jobs(JOBS)
    sides = {"none": wave(stage, stage.migrated(), jobs)}
    for why in REASONS:
        url = stage.migrated()
        stage.claimer("unclaimable", url, why)
        pile(url, "live", stage.jobs(AHEAD), definition="other", where="state = 'queued'")
        sides[why] = wave(stage, url, jobs, other=why)
    figures = stage.alternate(sides)
    return [
        compared(f"drain behind 1M jobs {words}", figures[why], figures["none"], "per_second",
                 "jobs/s", other="none ahead", goal="P9")
        for why, words in REASONS.items()
    ]  # fmt: skip
