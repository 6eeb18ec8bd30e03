"""Shared by several questions: jobs are enqueued and drained in waves, in one database."""

from collections.abc import Callable

from benchmarks.measure import Figures
from benchmarks.stage import Stage


def wave(
    stage: Stage, url: str, jobs: int, slots: int = 500, *, other: str = ""
) -> Callable[[], Figures]:
    """Enqueue that many jobs, then measure how they are drained past `other` ones."""
    return lambda: stage.windlass("wave", url, jobs, slots, other)
