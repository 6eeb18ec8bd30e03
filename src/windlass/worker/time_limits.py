"""Time limits of many runs with one timer: almost every run ends long before its own."""

import asyncio
from collections.abc import Callable
from itertools import takewhile
from operator import itemgetter
from typing import Generic, TypeVar

Run = TypeVar("Run")


class TimeLimits(Generic[Run]):
    """Tells of each run whose time is up, unless it was dropped before."""

    def __init__(self, expired: Callable[[Run], None]) -> None:
        self._expired = expired
        #: By length of time, each in the order in which its runs' time is up.
        self._lines: dict[float, dict[Run, float]] = {}
        self._timer: asyncio.TimerHandle | None = None

    def add(self, run: Run, seconds: float) -> None:
        """Let a run have so many seconds from now."""
        loop = asyncio.get_running_loop()
        line = self._lines.get(seconds)
        if line is None:
            line = self._lines[seconds] = {}
        line[run] = end = loop.time() + seconds
        if self._timer is None or end < self._timer.when():
            self._look_at(loop, end)

    def drop(self, run: Run, seconds: float) -> None:
        """Forget a run that was given these seconds; one that is not there is no error."""
        line = self._lines.get(seconds)
        if line is not None:
            line.pop(run, None)

    def _look_at(self, loop: asyncio.AbstractEventLoop, end: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = loop.call_at(end, self._look)

    def _look(self) -> None:
        loop = asyncio.get_running_loop()
        self._timer = None
        now = loop.time()
        over = [
            (end, line, run)
            for line in self._lines.values()
            for run, end in takewhile(lambda one: one[1] <= now, line.items())
        ]
        # A late look may find several: in the order in which their time was up.
        for _, line, run in sorted(over, key=itemgetter(0)):
            if line.pop(run, None) is not None:  # else it was dropped when another was told of
                self._expired(run)
        self._lines = {seconds: line for seconds, line in self._lines.items() if line}
        if self._lines:
            self._look_at(loop, min(next(iter(line.values())) for line in self._lines.values()))
