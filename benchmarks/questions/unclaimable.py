"""Claims behind jobs that no worker may or can run now."""

from collections.abc import Sequence

from benchmarks.findings import Finding, compared
from benchmarks.piles import pile
from benchmarks.questions.waves import wave
from benchmarks.stage import Stage

QUESTION = "Do jobs that cannot be claimed, or are counted by key, slow down a drain?"
JOBS, AHEAD = 60_000, 1_000_000
REASONS = {
    "disabled": "of a disabled definition",
    "unknown": "of a definition this worker does not know",
    "limited": "under a full limit",
    "paused": "in a paused queue",
}
KEYS = 200


def ask(stage: Stage) -> Sequence[Finding]:
    jobs = stage.jobs(JOBS)
    sides = {"none": wave(stage, stage.migrated(), jobs)}
    for why in REASONS:
        url = stage.migrated()
        stage.claimer("unclaimable", url, why)
        pile(url, "live", stage.jobs(AHEAD), definition="other", where="state = 'queued'")
        sides[why] = wave(stage, url, jobs, other=why)
    sides["keys"] = wave(stage, stage.migrated(), jobs, other=f"keys {KEYS}")
    figures = stage.alternate(sides)
    return [
        compared(f"drain of {KEYS} limited keys", figures["keys"], figures["none"], "per_second",
                 "jobs/s", other="without limits", goal="P9 keys"),
    ] + [
        compared(f"drain behind 1M jobs {words}", figures[why], figures["none"], "per_second",
                 "jobs/s", other="none ahead", goal="P9")
        for why, words in REASONS.items()
    ]  # fmt: skip
