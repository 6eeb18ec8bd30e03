"""Renewal thread: renews a worker's leases, sends its heartbeat and watches its event loop.

Nothing here runs in the worker's event loop, so a handler that blocks that loop costs no lease.
"""

import asyncio
import contextlib
import threading
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from datetime import timedelta
from functools import cached_property
from typing import Any, Protocol, TypeVar

from windlass.core.jobs import outcome
from windlass.core.jobs.outcome import AttemptEnd
from windlass.core.leases.lease import Lease, LeaseRef
from windlass.core.leases.worker_orders import WorkerOrder
from windlass.engine.loop import Loop, backoff_seconds
from windlass.errors import DatabaseTimeout, EpochChanged
from windlass.ids import WorkerId
from windlass.worker.attempt import LiveAttempt
from windlass.worker.backend import Backend, LeaseBackend, RenewalBackend
from windlass.worker.context import StopReason
from windlass.worker.leases.heartbeat import Heartbeat
from windlass.worker.leases.lease_renewer import LeaseRenewer
from windlass.worker.leases.loop_thread import LoopThread
from windlass.worker.leases.watchdog import PERIOD_SECONDS, Blockage, Watchdog
from windlass.worker.options import WorkerOptions
from windlass.worker.slots import PendingClaim

T = TypeVar("T")

#: A call takes a third of the lease at most, so that another one fits in before that runs out.
_LONGEST_CALL_SECONDS = 10.0
#: How long the connections may take to close, and a dying process to hand back its jobs.
_CLOSE_SECONDS = 5.0
_HAND_BACK_SECONDS = 10.0


class LeaseHolder(Protocol):
    """The worker whose leases are renewed. Its properties are read from another thread."""

    @property
    def id(self) -> WorkerId: ...

    @property
    def held(self) -> Mapping[LeaseRef, LiveAttempt]: ...

    @property
    def running(self) -> int: ...

    @property
    def effective_order(self) -> WorkerOrder: ...

    @property
    def pending_claim(self) -> PendingClaim: ...

    def lease_of(self, held: LeaseRef) -> Lease | None: ...

    def apply_order(self, wanted: WorkerOrder) -> None:
        """Follow an operator's order; called in the worker's own loop."""

    def abandon(self) -> None:
        """Stop every run as lost and end; called in the worker's own loop."""

    @property
    def unrecorded(self) -> Sequence[AttemptEnd]:
        """Outcomes that are not known to be recorded."""
        ...


class RenewalThread:
    """The renewal of one worker. Between `start` and `stop` its loops run in a thread of their own."""

    def __init__(
        self,
        worker: LeaseHolder,
        backend: Backend,
        heartbeat: Heartbeat,
        options: WorkerOptions,
    ) -> None:
        self._worker = worker
        self._owner = backend
        self._heartbeat = heartbeat
        self._lease_time = options.lease_time
        self._telemetry = backend.telemetry
        seconds = options.lease_time.total_seconds() / 3
        self._call_seconds = min(_LONGEST_CALL_SECONDS, seconds)
        self._renewing = self._new_loop("renewing leases", self.tick, seconds)
        self._watching = self._new_loop("watching the event loop", self.watch, PERIOD_SECONDS)
        self._thread = LoopThread("windlass renewal")
        self._loop: asyncio.AbstractEventLoop | None = None
        self._registered = asyncio.Event()
        self._reporter: threading.Thread | None = None
        self._next_report = 0.0
        self._overdue: set[LeaseRef] = set()
        self._abandoned: set[LeaseRef] = set()
        #: The run or code that blocks the worker's event loop now.
        self.blockage: Blockage | None = None
        #: Ends the process: the last resort against a blocked run. None if the process belongs to
        #: an application.
        self.kill_worker_process: Callable[[], Awaitable[None]] | None = None

    def start(self) -> None:
        """Start the thread. Called in the worker's event loop."""
        self.watch_this_loop()
        self._thread.start(self._run)

    def watch_this_loop(self) -> None:
        """Watch the running event loop: the worker's own."""
        self._loop = asyncio.get_running_loop()
        self._watchdog = Watchdog(lambda: self._worker.held)

    async def registered(self) -> None:
        """Return once the worker has its row, or after some time without: no claim depends on it."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._call_seconds):
                await self._registered.wait()

    def wake(self) -> None:
        """Renew and send a heartbeat now."""
        self._thread.call(self._renewing.wake)

    async def stop(self) -> None:
        """End the thread. If its connections do not close in time, it ends later."""
        if self._thread.started:
            await self._thread.stop(within=_CLOSE_SECONDS)
        else:
            await self._close()

    async def tick(self) -> None:
        """Renew all leases, stop the runs that have lost theirs, and send the heartbeat."""
        try:
            lost = await self._in_time(self._renewer.tick(), "renew leases")
        except Exception:
            self._report_overdue()
            raise
        self._overdue.clear()
        for run in lost:
            self._in_loop(self._telemetry.lost, run.lease)
        if self.blockage is not None:
            await self._give_up_claim()
        beat = self._heartbeat.send(
            self._backend.workers,
            used=self._worker.running,
            doing=self._worker.effective_order,
            blocked=None if self.blockage is None else self.blockage.describe(),
        )
        try:
            order = await self._in_time(beat, "take a heartbeat")
        except EpochChanged:
            self._in_loop(self._worker.abandon)
        else:
            self._in_loop(self._registered.set)
            self._in_loop(self._worker.apply_order, order)

    async def watch(self) -> None:
        """Check whether the worker's event loop is blocked; report that, and end runs that are past
        their time limit."""
        before, self.blockage = self.blockage, self._watchdog.tick()
        if (before is None) is not (self.blockage is None):
            self._renewing.wake()  # the row shows it
        if self.blockage is None:
            self._next_report = 0.0
            return
        if self.blockage.seconds >= self._next_report:
            self._next_report = 2 * self.blockage.seconds
            self._report(self.blockage, first=before is None)
        if self.blockage.is_over:
            await self._end(self.blockage)

    async def hand_back(self) -> bool:
        """Record an outcome for every run and remove the worker's row: the process is about to
        end. Returns False if that failed. Called from any loop."""
        return await asyncio.wrap_future(self._thread.submit(self._hand_back()))

    async def _end(self, blockage: Blockage) -> None:
        if self.kill_worker_process is not None:
            self._worker.pending_claim.close()
            await self.kill_worker_process()
            return
        for run in blockage.expired:
            if run.held not in self._abandoned and (end := run.timeout_outcome(blockage.stack)):
                await self._in_time(self._leases.finish([end]), "record an outcome")
                self._stop_run(run, "lost")
            self._abandoned.add(run.held)

    async def _hand_back(self) -> bool:
        self._worker.pending_claim.close()
        ends = _final_outcomes(dict(self._worker.held), self._worker.unrecorded, self.blockage)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_HAND_BACK_SECONDS):
                await self._renewing.stop()  # a heartbeat would bring the row back
                # The row first: jobs that are handed back may run elsewhere from that moment on.
                await self._until_done(lambda: self._backend.workers.leave(self._worker.id))
                await self._until_done(lambda: self._leases.finish(ends))
                # The jobs of a claim that is still under way.
                await self._until_done(lambda: self._leases.release_unknown(()))
                return True
        return False

    async def _give_up_claim(self) -> None:
        """Hand back the jobs of a claim whose result waits in the blocked loop."""
        if not self._worker.pending_claim.give_up():
            return
        try:
            held = list(self._worker.held)
            look = self._leases.release_unknown(held)
            await self._in_time(look, "hand back jobs")
        finally:
            self._worker.pending_claim.finish_hand_back()

    async def _until_done(self, call: Callable[[], Awaitable[object]]) -> None:
        failures = 0
        while True:
            try:
                await call()
                return
            except Exception as error:  # noqa: BLE001  retried while there is time
                failures += 1
                self._telemetry.trouble("handing back jobs", error)
                await asyncio.sleep(backoff_seconds(failures))

    async def _run(self) -> None:
        self._renewing.start()
        self._watching.start()
        try:
            await asyncio.Event().wait()
        finally:
            await self._watching.stop()
            await self._renewing.stop()
            await self._close()

    async def _close(self) -> None:
        if "_backend" in self.__dict__:  # else it was never used
            await self._backend.close()

    async def _in_time(self, call: Coroutine[Any, Any, T], doing: str) -> T:
        try:
            async with asyncio.timeout(self._call_seconds):
                return await call
        except TimeoutError as error:
            raise DatabaseTimeout(doing, seconds=self._call_seconds) from error

    def _report(self, blockage: Blockage, *, first: bool) -> None:
        # In a thread that is not waited for: the code that blocks may hold the logger's lock.
        if self._reporter is None or not self._reporter.is_alive():
            self._reporter = threading.Thread(
                target=self._log, args=[blockage, first], name="windlass watchdog", daemon=True
            )
            self._reporter.start()

    def _log(self, blockage: Blockage, first: bool) -> None:
        self._telemetry.blocked(blockage.lease, blockage.seconds, blockage.stack)
        if first and blockage.run is not None:
            blockage.run.create_sink().log(
                blockage.run.lease,
                "warn",
                "this handler blocks its worker's event loop",
                {"stack": blockage.stack},
            )

    def _report_overdue(self) -> None:
        overdue = {run.held for run in self._renewer.overdue()}
        if new := overdue - self._overdue:
            self._telemetry.warn(
                "leases have run out before they were renewed, outcomes may be refused",
                worker_id=self._worker.id,
                job_ids=sorted(str(held.job_id) for held in new),
            )
        self._overdue = overdue

    def _stop_run(self, run: LiveAttempt, reason: StopReason) -> None:
        self._in_loop(run.stop, reason)

    def _in_loop(self, function: Callable[..., object], *args: object) -> None:
        """Call a function in the worker's own loop."""
        assert self._loop is not None
        with contextlib.suppress(RuntimeError):  # the loop is closed
            self._loop.call_soon_threadsafe(function, *args)

    @cached_property
    def _backend(self) -> RenewalBackend:
        return self._owner.reopen(lease_time=self._lease_time)

    @cached_property
    def _leases(self) -> LeaseBackend:
        return self._backend.leases(self._worker.lease_of, worker=self._worker.id)

    @cached_property
    def _renewer(self) -> LeaseRenewer:
        return LeaseRenewer(
            self._leases,
            lambda: self._worker.held,
            lease_time=self._lease_time,
            stop=self._stop_run,
        )

    def _new_loop(self, name: str, tick: Callable[[], Awaitable[None]], seconds: float) -> Loop:
        return Loop(name, tick, seconds=seconds, telemetry=self._telemetry)


def _final_outcomes(
    held: Mapping[LeaseRef, LiveAttempt],
    unrecorded: Iterable[AttemptEnd],
    blockage: Blockage | None,
) -> list[AttemptEnd]:
    """The outcome of each run of a process that ends now: those that block have timed out, those
    that have ended keep their outcome, the others are handed back, their attempts not counted."""
    outcomes = {finish.held: finish for finish in unrecorded}
    expired = {run.held for run in blockage.expired} if blockage else set()
    ends = []
    for one, run in held.items():
        if one in outcomes:
            ends.append(outcomes[one])
        elif one in expired and blockage is not None:
            if end := run.timeout_outcome(blockage.stack):
                ends.append(end)
        elif not run.lost:
            ends.append(_released_outcome(run))
    return ends


def _released_outcome(run: LiveAttempt) -> AttemptEnd:
    # Processes of a run end a little after the worker: another must not start it before.
    delay = timedelta(seconds=run.stop_timeout) if run.runs_in_own_process else timedelta()
    maybe_recorded = run.ended or run.completed
    return outcome.released(run.held, delay=delay)._replace(maybe_recorded=maybe_recorded)
