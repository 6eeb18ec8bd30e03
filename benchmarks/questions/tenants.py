"""A thousand tenants, one of which owns nearly all jobs."""

from collections.abc import Callable, Sequence

from benchmarks.findings import Finding, alone, compared
from benchmarks.measure import Figures
from benchmarks.stage import Stage

QUESTION = "What does fairness between a thousand tenants cost, and does it hold?"
#: With 99 of 100 jobs of one tenant, each of the others has about one.
JOBS, TENANTS, MOST_ROUNDS = 100_000, 1_000, 100
#: Enough to tell the pace, and the part in which tenants take turns.
DRAINED = 30_000


def ask(stage: Stage) -> Sequence[Finding]:
    jobs, tenants = stage.jobs(JOBS), 3 if stage.toy else TENANTS
    one, many = stage.filled(stage.windlass, jobs), stage.migrated()
    stage.windlass("fill", many, jobs, tenants)
    figures = stage.alternate(
        {
            "one tenant": _begin(stage, one),
            "1,000 tenants": _begin(stage, many),
            "first claims": _first_claims(stage, many),
        }
    )
    return [
        compared("drain, 1,000 tenants, one with 99 %", figures["1,000 tenants"],
                 figures["one tenant"], "per_second", "jobs/s", other="one tenant", goal="P8"),
        alone("claims of 500 until every tenant had its first job", figures["first claims"],
              "rounds", "claims", goal="P8 rounds"),
    ]  # fmt: skip


def _begin(stage: Stage, template: str) -> Callable[[], Figures]:
    def once() -> Figures:
        with stage.copy(template) as url:
            return stage.windlass("begin", url, stage.jobs(DRAINED))

    return once


def _first_claims(stage: Stage, template: str) -> Callable[[], Figures]:
    def once() -> Figures:
        with stage.copy(template) as url:
            return stage.claimer("first_claims", url, MOST_ROUNDS)

    return once
