"""Claims alone: with a long backlog, and with many running jobs."""

from collections.abc import Callable, Sequence

from benchmarks.findings import Finding, compared
from benchmarks.measure import Figures
from benchmarks.piles import pile
from benchmarks.stage import Stage

QUESTION = "Does a claim take longer as the backlog grows, or as more jobs run?"
SHORT, LONG, RUNNING, CLAIMS = 10_000, 3_000_000, 20_000, 40


def ask(stage: Stage) -> Sequence[Finding]:
    short, long, running = (
        _backlog(stage, jobs) for jobs in (SHORT, LONG, SHORT + 2 * RUNNING + 1000)
    )
    figures = stage.alternate(
        {
            "10k": _claims(stage, short),
            "3M": _claims(stage, long),
            "none runs": _claims(stage, running),
            "20k run": _claims(stage, running, RUNNING),
        }
    )
    return [
        compared("claim of 100, p50, 3M jobs waiting", figures["3M"], figures["10k"], "p50_ms",
                 "ms", other="10k waiting", goal="P7"),
        compared("claim of 100, p50, 20k jobs running", figures["20k run"], figures["none runs"],
                 "p50_ms", "ms", other="none running", goal="P7"),
    ]  # fmt: skip


def _backlog(stage: Stage, jobs: int) -> str:
    url = stage.migrated()
    stage.windlass("fill", url, 1)
    pile(url, "live", stage.jobs(jobs))
    return url


def _claims(stage: Stage, url: str, held: int = 0) -> Callable[[], Figures]:
    rounds = 2 if stage.toy else CLAIMS

    def once() -> Figures:
        if not held:
            return stage.claimer("claim", url, rounds)
        with stage.copy(url) as copied:
            return stage.claimer("claim", copied, rounds, min(held, stage.jobs(2 * held) // 2))

    return once
