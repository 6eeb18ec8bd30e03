"""Time limits of many runs with one timer: almost every run ends long before its limit."""

import asyncio
from collections.abc import Callable
from itertools import takewhile
from operator import itemgetter
from typing import Generic, TypeVar

Run = TypeVar("Run")


class TimeLimits(Generic[Run]):
    """Calls `expired` for each run whose time is up, unless it was dropped before."""

    def __init__(self, expired: Callable[[Run], None]) -> None:
        self._expired = expired
        #: Runs by time limit, each group ordered by when their time is up.
        self._groups: dict[float, dict[Run, float]] = {}
        self._timer: asyncio.TimerHandle | None = None

    def add(self, run: Run, seconds: float) -> None:
        """Give a run so many seconds from now."""
        loop = asyncio.get_running_loop()
        group = self._groups.get(seconds)
        if group is None:
            group = self._groups[seconds] = {}
        group[run] = end = loop.time() + seconds
        if self._timer is None or end < self._timer.when():
            self._set_timer(loop, end)

    def drop(self, run: Run, seconds: float) -> None:
        """Forget a run that was added with these seconds; an unknown one is no error."""
        group = self._groups.get(seconds)
        if group is not None:
            group.pop(run, None)

    def _set_timer(self, loop: asyncio.AbstractEventLoop, end: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = loop.call_at(end, self._expire)

    def _expire(self) -> None:
        loop = asyncio.get_running_loop()
        self._timer = None
        now = loop.time()
        over = [
            (end, group, run)
            for group in self._groups.values()
            for run, end in takewhile(lambda one: one[1] <= now, group.items())
        ]
        # A late timer may find several: in the order in which their time was up.
        for _, group, run in sorted(over, key=itemgetter(0)):
            if group.pop(run, None) is not None:  # else `expired` of another has dropped it
                self._expired(run)
        self._groups = {seconds: group for seconds, group in self._groups.items() if group}
        if self._groups:
            self._set_timer(
                loop, min(next(iter(group.values())) for group in self._groups.values())
            )
