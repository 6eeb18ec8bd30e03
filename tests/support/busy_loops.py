"""Detector of loops that spin: coroutines that never wait, or whose waits return at once."""

import asyncio
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

#: Rounds of the event loop in which something was ready, one after another. A loop that works has
#: to wait for a database, a thread or a timer long before.
MOST_ROUNDS = 2_000
#: Calls of functions within one round. A coroutine that awaits only what is there already never
#: gives the round back.
MOST_CALLS = 500_000


class BusyLoop(BaseException):
    """A loop spins. No `except Exception` of that loop can swallow it."""


class _Counter:
    """Counts the rounds of an event loop that did not wait, and the calls within a round."""

    def __init__(self, most_rounds: int, most_calls: int) -> None:
        self._most_rounds = most_rounds
        self._most_calls = most_calls
        self._watched = asyncio.current_task()
        self._rounds = 0
        self._calls = 0
        self.found = ""

    def count_round(self, loop: Any) -> None:
        """Before a round. One that has nothing ready will wait."""
        self._calls = 0
        self._rounds = self._rounds + 1 if _is_ready(loop) else 0
        if self._rounds == self._most_rounds:
            self._tell(f"{self._rounds} rounds without a wait; ready: {_ready(loop)}")

    def count_call(self, frame: FrameType, event: str, argument: Any) -> None:
        """A hook of `sys.setprofile`: ends the coroutine that does not give the round back."""
        self._calls += 1
        if self._calls > self._most_calls:
            self._calls = 0
            self._tell("".join(traceback.format_stack(frame)[-8:]))
            raise BusyLoop(self.found)

    def end_wait(self) -> bool:
        """Whether the watched code was canceled because something spins."""
        return bool(self.found and self._watched and self._watched.uncancel() is not None)

    def _tell(self, found: str) -> None:
        self.found = self.found or found
        if self._watched is not None:
            self._watched.cancel()


@contextmanager
def no_busy_loop(*, most_rounds: int = MOST_ROUNDS, most_calls: int = MOST_CALLS) -> Iterator[None]:
    """Fail if anything in the running event loop spins while the block lasts.

    It counts and measures no time, so that a slow machine changes nothing.
    """
    loop: Any = asyncio.get_running_loop()
    counter = _Counter(most_rounds, most_calls)
    run_once = loop._run_once

    def counted() -> None:
        counter.count_round(loop)
        run_once()

    loop._run_once = counted
    sys.setprofile(counter.count_call)
    try:
        yield
    except (asyncio.CancelledError, BusyLoop):
        if not counter.end_wait():
            raise
    finally:
        sys.setprofile(None)
        del loop._run_once
    assert not counter.found, f"a loop spins: {counter.found}"


def _is_ready(loop: Any) -> bool:
    timers = loop._scheduled
    return bool(loop._ready) or bool(timers and timers[0]._when <= loop.time())


def _ready(loop: Any) -> str:
    return ", ".join(repr(handle)[:200] for handle in list(loop._ready)[:5])
