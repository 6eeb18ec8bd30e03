"""A job in the caller's own transaction, against a plain INSERT of its row."""

from collections.abc import Sequence

from benchmarks.findings import Finding, compared
from benchmarks.stage import Stage

QUESTION = "What does a job in your own transaction cost?"
SECONDS = 1.5


def ask(stage: Stage) -> Sequence[Finding]:
    url, seconds = stage.migrated(), stage.seconds(SECONDS)
    figures = stage.alternate(
        {
            "Windlass": lambda: stage.producer("in_transaction", url, seconds),
            "INSERT": lambda: stage.producer("plain_insert", url, seconds),
        }
    )
    return [
        compared("enqueue in a caller's transaction (asyncpg)", figures["Windlass"],
                 figures["INSERT"], "per_second", "jobs/s", other="plain INSERT of the row"),
    ]  # fmt: skip
