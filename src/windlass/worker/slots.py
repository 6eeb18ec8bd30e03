"""A worker's slots: the attempts in them and their time limits, and when a claim may fill them."""

import asyncio
import contextlib
import threading
from collections.abc import Callable
from datetime import timedelta
from itertools import takewhile
from operator import itemgetter
from typing import TYPE_CHECKING, Generic, TypeVar

from windlass import clock
from windlass.core.leases.gates import runs_alone
from windlass.core.leases.lease import LeaseRef
from windlass.core.leases.worker_orders import WorkerOrder

if TYPE_CHECKING:
    from windlass.worker.attempt import LiveAttempt

Run = TypeVar("Run")

#: A claim that brought nothing is not repeated sooner, however soon the next job is due.
_SHORTEST_IDLE_SECONDS = 0.01
#: A worker that has not claimed for so many poll intervals, and some slack, is not ready.
_MISSED_POLLS = 3
_SLACK_SECONDS = 10.0


class Slots:
    """Places for `count` attempts, and the leases they hold.

    A run that ignores being stopped gives up its lease but keeps its slot: it is `stuck`.
    """

    #: Attempts by lease, until their outcome is recorded. Read from other threads, too.
    held: dict[LeaseRef, "LiveAttempt"]

    def __init__(self, count: int) -> None:
        self.count = count
        #: Slots of attempts that have not ended.
        self.busy = 0
        #: Slots of attempts that were written off and still run.
        self.stuck = 0
        self.held = {}
        #: An attempt that must be the only one here: nothing is claimed until it has ended.
        self._exclusive: LiveAttempt | None = None

    @property
    def free(self) -> int:
        """How many jobs may be claimed now."""
        if self._exclusive is not None:
            return 0
        return self.count - self.busy - self.stuck

    @property
    def all_stuck(self) -> bool:
        """True if no slot will ever be free again."""
        return self.stuck >= self.count

    def fill(self, attempt: "LiveAttempt") -> None:
        """Take a slot for an attempt and start it; one that must run alone is started later."""
        self.held[attempt.held] = attempt
        self.busy += 1
        if attempt.lease.gate and runs_alone(attempt.lease.gate):
            self._exclusive = attempt
        else:
            attempt.start()

    def start_exclusive(self) -> None:
        """Start the attempt that must run alone, once the outcomes of all others are recorded: a
        crash would lose their leases too, and nobody could say which of them caused it."""
        attempt = self._exclusive
        if attempt is not None and not attempt.started and self.held.keys() == {attempt.held}:
            attempt.start()

    def vacate(self, attempt: "LiveAttempt") -> None:
        """Free the slot of an attempt that has ended, or count it as stuck. Its lease stays in
        `held`."""
        if attempt.late:
            self.stuck -= 1
            return
        self.busy -= 1
        self.stuck += attempt.stuck
        if attempt is self._exclusive:
            self._exclusive = None


class TimeLimits(Generic[Run]):
    """Time limits of many runs with one timer: almost every run ends long before its limit.

    Calls `expired` for each run whose time is up, unless it was dropped before.
    """

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


class Drain:
    """Decides whether a worker claims, from the operator's order and from requests to stop."""

    def __init__(self) -> None:
        #: The operator's latest order.
        self.order = WorkerOrder.RUN
        #: Paused by the operator: claims no more, and stays. Set when no claim is under way.
        self.paused = False
        #: Claims no more, and ends when its runs have ended.
        self.ending = False
        #: Ends without waiting for its runs.
        self.forced = False
        #: All leases belong to an earlier epoch of the database.
        self.abandoned = False
        self._stop_requested = False

    @property
    def effective_order(self) -> WorkerOrder:
        """The order that the worker follows now."""
        if self.ending:
            return WorkerOrder.STOP
        return WorkerOrder.DRAIN if self.paused else WorkerOrder.RUN

    @property
    def holds_claims(self) -> bool:
        """True if no further claim may begin."""
        return self.ending or self.order is WorkerOrder.DRAIN

    def request_stop(self) -> None:
        """End; the second request does not wait for runs."""
        self.forced = self.forced or self._stop_requested
        self._stop_requested = self.ending = True

    def abandon(self) -> bool:
        """End at once because the leases are void. Returns False if that is known already."""
        if self.abandoned:
            return False
        self.abandoned = self.ending = self.forced = True
        return True

    def update_paused(self) -> bool:
        """Follow the operator's order, between two claims. Returns True if that changed."""
        before, self.paused = self.paused, self.order is WorkerOrder.DRAIN
        return self.paused is not before


class ClaimPace:
    """Decides when the next claim begins. `wake` ends every wait."""

    def __init__(self, poll: timedelta) -> None:
        self.wake = asyncio.Event()
        #: When the last claim succeeded, or there was no free slot to claim for.
        self.claimed_at = clock.monotonic()
        #: The last claim brought fewer jobs than there were slots.
        self.fell_short = False
        #: New jobs were announced since the last claim began.
        self.nudged = False
        self.next_due_in: timedelta | None = None
        self._poll_seconds = poll.total_seconds()

    @property
    def claim_age(self) -> float:
        """Seconds since `claimed_at`."""
        return clock.monotonic() - self.claimed_at

    @property
    def is_on_time(self) -> bool:
        """True if claims come as often as they should."""
        return self.claim_age <= _MISSED_POLLS * self._poll_seconds + _SLACK_SECONDS

    def take_nudge(self) -> bool:
        """Forget the nudge. Returns True if there was one."""
        nudged, self.nudged = self.nudged, False
        return nudged

    async def skip(self) -> None:
        """Wait for the poll interval: there is no slot to claim for."""
        self.claimed_at = clock.monotonic()
        await self.sleep(self._poll_seconds)

    async def idle(self) -> None:
        """Wait for a nudge, the next due time or the poll interval, whichever comes first."""
        pause = self._poll_seconds
        if self.next_due_in is not None:
            pause = min(pause, self.next_due_in.total_seconds())
        await self.sleep(max(_SHORTEST_IDLE_SECONDS, pause))

    async def sleep(self, seconds: float) -> None:
        """Wait, so many seconds at most."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self.wake.wait()


class PendingClaim:
    """The claim under way, which the renewal thread can give up.

    While the event loop is blocked, nobody reads the claim's result and nobody knows which jobs it
    took. The renewal thread then gives the claim up and hands back those jobs: none of them is
    started, and no other claim begins before that is done.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._under_way = False
        self._given_up = False
        self._handing_back = False
        self._closed = False

    def begin(self) -> bool:
        """Begin a claim. Returns False if that must wait."""
        with self._lock:
            if self._handing_back or self._closed:
                return False
            self._under_way, self._given_up = True, False
            return True

    def end(self) -> bool:
        """End a claim that returned or failed. Returns True if its jobs may be started."""
        with self._lock:
            self._under_way = False
            return not (self._given_up or self._closed)

    def close(self) -> None:
        """Start nothing that a claim brings, and begin no claim, from now on."""
        with self._lock:
            self._closed = True

    def give_up(self) -> bool:
        """Start nothing that the claim under way brings. Returns False if none is under way; else
        `finish_hand_back` must follow."""
        with self._lock:
            self._given_up = self._handing_back = self._under_way
            return self._under_way

    def finish_hand_back(self) -> None:
        """Allow claims again: the jobs of the claim that was given up are handed back."""
        with self._lock:
            self._handing_back = False
