"""Watchdog: notices that the worker's event loop is blocked, and which run blocks it."""

import asyncio
import contextlib
import sys
import threading
import traceback
from collections.abc import Callable, Mapping
from contextvars import Context
from dataclasses import dataclass
from itertools import dropwhile
from pathlib import Path
from types import FrameType

from windlass import clock
from windlass.core.leases.lease import Lease, LeaseRef
from windlass.worker.attempt import GRACE_SECONDS, LiveAttempt
from windlass.worker.context import CURRENT_LEASE

#: How often the loop is asked for a sign of life.
PERIOD_SECONDS = 0.5
#: A loop that gives none for so long is blocked.
STANDSTILL_SECONDS = 1.0
#: How long the loop may be blocked by something that is no known run.
_UNKNOWN_SECONDS = 60.0
_MOST_FRAMES = 40
_ASYNCIO = str(Path(asyncio.__file__).parent)
_WINDLASS = str(Path(__file__).parents[2])


@dataclass(frozen=True, slots=True)
class Blockage:
    """A blocked event loop: for how long, by which run (None if unknown), and where in its code."""

    seconds: float
    run: LiveAttempt | None
    stack: str
    #: The runs that are past their time limit and cannot be stopped; empty while there is time.
    expired: tuple[LiveAttempt, ...] = ()

    @property
    def is_over(self) -> bool:
        """True if only the end of the process helps."""
        return bool(self.expired) or (self.run is None and self.seconds > _UNKNOWN_SECONDS)

    @property
    def lease(self) -> Lease | None:
        return None if self.run is None else self.run.lease

    def describe(self) -> dict[str, object]:
        """The fields shown in the worker's row."""
        about: dict[str, object] = {"seconds": round(self.seconds)}
        if self.run is not None:
            lease = self.run.lease
            about |= {"job_id": str(lease.job_id), "definition": lease.definition}
        return about


class Watchdog:
    """Asks an event loop for signs of life, from another thread. Created in the loop's thread."""

    def __init__(self, held: Callable[[], Mapping[LeaseRef, LiveAttempt]]) -> None:
        self._held = held
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()
        self._alive = True
        self._blocked_seconds = 0.0
        self._ticked_at = clock.monotonic()

    def tick(self) -> Blockage | None:
        """Ask for a sign of life. Returns a Blockage if the last ones did not come."""
        now = clock.monotonic()
        # Counted in ticks of this thread: a process that is stopped as a whole, or gets no
        # processor time, is not blocked.
        passed = min(now - self._ticked_at, 2 * PERIOD_SECONDS)
        self._ticked_at = now
        if self._alive:
            self._alive, self._blocked_seconds = False, 0.0
            with contextlib.suppress(RuntimeError):  # the loop is closed: nothing is left to watch
                self._loop.call_soon_threadsafe(self._sign)
            return None
        self._blocked_seconds += passed
        return self._blockage() if self._blocked_seconds >= STANDSTILL_SECONDS else None

    def _sign(self) -> None:
        self._alive = True

    def _blockage(self) -> Blockage | None:
        frame = sys._current_frames().get(self._thread)
        run = self._run()
        if self._alive or frame is None:
            return None
        return Blockage(self._blocked_seconds, run, _stack(frame), tuple(self._expired(run)))

    def _run(self) -> LiveAttempt | None:
        """The run whose task, or a task started by it, the loop executes now."""
        task = asyncio.current_task(self._loop)
        if task is None:
            return None
        held = dict(self._held())
        for run in held.values():
            if run.task is task:
                return run
        # Python 3.11 does not show the context of another task.
        get_context: Callable[[], Context] | None = getattr(task, "get_context", None)
        lease = get_context().get(CURRENT_LEASE) if get_context else None
        return None if lease is None else held.get(lease.held)

    def _expired(self, blocker: LiveAttempt | None) -> list[LiveAttempt]:
        """The runs that are past their time limit, which the blocked loop cannot enforce: the one
        that blocks or, if that is unknown, all that run in the loop, once all are past theirs."""
        if self._blocked_seconds < GRACE_SECONDS:
            return []
        runs = (
            [blocker]
            if blocker
            else [run for run in dict(self._held()).values() if run.runs_in_event_loop]
        )
        runs = [run for run in runs if run.began_at]
        now = clock.monotonic()
        if all(now - run.began_at >= run.time_limit + GRACE_SECONDS for run in runs):
            return runs
        return []


def _stack(frame: FrameType) -> str:
    """The innermost calls, without those of the event loop and the worker around the handler."""
    calls = list(traceback.extract_stack(frame))
    begin = max((n for n, call in enumerate(calls, 1) if _is_of(call, _ASYNCIO)), default=0)
    inner = list(dropwhile(lambda call: _is_of(call, _WINDLASS), calls[begin:])) or calls
    return "".join(traceback.format_list(inner[-_MOST_FRAMES:]))


def _is_of(call: traceback.FrameSummary, folder: str) -> bool:
    return call.filename.startswith(folder)
