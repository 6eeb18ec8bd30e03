"""Sixteen producers while workers listen: nudges must not serialise commits."""

from collections.abc import Sequence

from benchmarks.findings import Finding, compared
from benchmarks.measure import beside
from benchmarks.stage import Stage

QUESTION = "Do idle workers that listen slow down producers?"
SECONDS, PRODUCERS, WORKERS = 1.5, 16, 4


def ask(stage: Stage) -> Sequence[Finding]:
    url, seconds = stage.migrated(), stage.seconds(SECONDS)
    with beside(*stage.windlass.command("listen", url, WORKERS)):
        figures = stage.alternate(
            {
                nudges: lambda nudges=nudges: stage.producer(  # type: ignore[misc]  # bound at once
                    "producers", url, seconds, PRODUCERS, nudges
                )
                for nudges in ("on", "off")
            }
        )
    return [
        compared("16 producer connections, idle workers listening", figures["on"], figures["off"],
                 "per_second", "jobs/s", other="no nudges at all", goal="P14"),
    ]  # fmt: skip
