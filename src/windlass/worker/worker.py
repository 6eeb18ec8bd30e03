"""The worker: free slots, claim, start, drain."""

import asyncio
import contextlib
import os
import socket
from collections.abc import Awaitable, Callable, Collection, Coroutine, Mapping, Sequence
from datetime import timedelta
from random import Random
from typing import Any

from windlass import clock
from windlass.core.jobs import outcome
from windlass.core.leases.gates import runs_alone
from windlass.core.leases.lease import AttemptEnd, Lease, LeaseRef
from windlass.core.leases.worker_orders import WorkerOrder, order_nudge
from windlass.engine.loop import Loop, backoff_seconds
from windlass.engine.redaction import create_redactor
from windlass.errors import EpochChanged, WindlassError
from windlass.errors.wording import printable
from windlass.ids import WorkerId, new_job_id, short
from windlass.tasks import start_task
from windlass.worker.attempt import GRACE_SECONDS, Around, AttemptResources, LiveAttempt
from windlass.worker.backend import Backend
from windlass.worker.handlers import Handler, Handlers
from windlass.worker.isolation.fork_server_pool import ForkServerPool
from windlass.worker.isolation.memory import resident_mb
from windlass.worker.isolation.process import ProcessRunner
from windlass.worker.isolation.threads import ThreadPool
from windlass.worker.leases.cancel_watch import CancelWatch
from windlass.worker.leases.hand_back import final_outcomes
from windlass.worker.leases.heartbeat import Heartbeat
from windlass.worker.leases.lease_renewer import LeaseRenewer
from windlass.worker.leases.lost_claims import LostClaimRecovery
from windlass.worker.leases.pending_claim import PendingClaim
from windlass.worker.leases.renewal_thread import RenewalThread
from windlass.worker.leases.watchdog import Blockage
from windlass.worker.nudge_listener import listen
from windlass.worker.options import WorkerOptions
from windlass.worker.reporting.latency_recorder import LatencyRecorder
from windlass.worker.reporting.log_writer import LogWriter
from windlass.worker.reporting.outcome_writer import OutcomeWriter
from windlass.worker.runnable_definitions import Resolve, RunnableDefinitions

#: Half of many slots are filled at a time, so that one half runs while the other is claimed.
_SMALLEST_SHARE = 50
#: While jobs wait, slots that come free within this time are filled by one claim.
_GATHER_SECONDS = 0.005
#: However soon the next job is due, a claim that brought nothing is not repeated sooner.
_SHORTEST_IDLE_SECONDS = 0.01

#: A worker that missed so many looks for work, and some time more, is not ready for any.
_MISSED_LOOKS = 3
_SLACK_SECONDS = 10.0


class Worker:
    """Runs attempts in its slots until it is told to stop, then drains."""

    def __init__(
        self,
        engine: Backend,
        handlers: Handlers,
        options: WorkerOptions,
        *,
        around: Sequence[Around] = (),
        threads: ThreadPool | None = None,
        random: Random | None = None,
        resolve: Resolve | None = None,
    ) -> None:
        self.id = WorkerId(f"{printable(socket.gethostname())}:{os.getpid()}:{short(new_job_id())}")
        self._engine = engine
        self._runnable = RunnableDefinitions(
            handlers, engine.definitions, engine.telemetry, resolve
        )
        self._options = options
        self._telemetry = engine.telemetry
        self._leases = engine.leases(self.lease_of, worker=self.id)
        self._threads = threads or ThreadPool()
        self._held: dict[LeaseRef, LiveAttempt] = {}
        self._latency_recorder = LatencyRecorder(engine.latency)
        #: A run that may have no other beside it: nothing is claimed until it has ended.
        self._exclusive_attempt: LiveAttempt | None = None
        self._busy = 0
        self._stuck = 0
        self._looked_at = clock.monotonic()
        self._claim_fell_short = False
        self._nudge_pending = False
        self._next_due_in: timedelta | None = None
        self._wanted = WorkerOrder.RUN
        self._is_draining = False
        self._stop_requested = False
        self._abandoned = False
        #: What an operator's order to stop does; whoever runs several workers ends them all.
        self.on_stop_order: Callable[[], None] = self.stop
        #: Called when the worker has its row and is about to claim.
        self.on_registered: Callable[[], None] = lambda: None
        self._stopping = asyncio.Event()
        self._force_stop = asyncio.Event()
        self._wake = asyncio.Event()
        self.pending_claim = PendingClaim()
        heartbeat = Heartbeat(self.id, self._runnable, options)
        self.renewal = RenewalThread(self, engine, heartbeat, options)
        renewer = LeaseRenewer(self._leases, lambda: self._held, lease_time=options.lease_time)
        self._cancels = CancelWatch(renewer, self._telemetry, poll=options.poll)
        self._housekeeping = self._loop("noting how long jobs took", self._flush_and_check_memory)
        self._lost_claims = LostClaimRecovery(
            self._leases, self._telemetry, lease_time=options.lease_time
        )
        self._definition_refresh = self._loop("learning of definitions", self._runnable.refresh)
        redactor = create_redactor(engine.settings)
        self._log_writer = LogWriter(
            self._leases,
            engine.join,
            self._telemetry,
            buffer_lines=options.buffer_lines,
            buffer_seconds=options.buffer_seconds,
            redactor=redactor,
            line_bytes=engine.settings.limits.log_line_bytes,
        )
        self._outcome_writer = OutcomeWriter(
            self._leases, self._log_writer, self._telemetry, recorded=self._on_outcomes_recorded
        )
        self._resources = AttemptResources(
            sink=self._log_writer,
            threads=self._threads,
            children=ProcessRunner(ForkServerPool()),
            around=around,
            random=random or Random(),
            redactor=redactor,
            error_bytes=engine.settings.limits.error_bytes,
            on_end=self._on_attempt_end,
        )

    @property
    def running(self) -> int:
        """How many slots are in use."""
        return self._busy

    @property
    def slots(self) -> int:
        """How many attempts it runs at once."""
        return self._options.concurrency

    @property
    def queues(self) -> Sequence[str] | None:
        """Those it serves; None for all."""
        queues = self._options.queues
        return None if queues is None else tuple(queues)

    @property
    def doing(self) -> WorkerOrder:
        """Whether it claims; or does not, and stays; or does not, and ends. It drains from when on
        no claim is under way."""
        if self._stopping.is_set():
            return WorkerOrder.STOP
        return WorkerOrder.DRAIN if self._is_draining else WorkerOrder.RUN

    @property
    def claim_age(self) -> float:
        """Seconds since it last looked for work with success, or had no slot to look for any."""
        return clock.monotonic() - self._looked_at

    @property
    def is_claiming(self) -> bool:
        """Whether it looks for work as often as it should."""
        return self.claim_age <= _MISSED_LOOKS * self._options.poll.total_seconds() + _SLACK_SECONDS

    async def check_database(self) -> None:
        """Raises unless the database answers."""
        await self._engine.now()

    @property
    def held(self) -> Mapping[LeaseRef, LiveAttempt]:
        """The leases this worker has, those whose end is not recorded yet included."""
        return self._held

    @property
    def all_slots_stuck(self) -> bool:
        """Whether every slot is held by a run that ignored being stopped."""
        return self._stuck >= self._options.concurrency

    def stop(self) -> None:
        """Drain; said a second time, hurry: hand back at once what still runs."""
        if self._stop_requested:
            self._force_stop.set()
        self._stop_requested = True
        self.drain()

    def drain(self) -> None:
        """Claim no more, let runs finish, and end. Saying it again changes nothing."""
        self._stopping.set()
        self._wake.set()

    def close(self) -> None:
        """Give up the outcomes that are not recorded, and those still to come."""
        self._outcome_writer.close()

    def abandon(self) -> None:
        """Stop every run as lost and end: what was leased here belongs to an earlier epoch."""
        if not self._abandoned:
            self._abandoned = True
            self._telemetry.warn("the database was restored or promoted", worker_id=self.id)
            for attempt in list(self._held.values()):
                attempt.stop("lost")
            self._outcome_writer.close()
            self.drain()
            self._force_stop.set()

    async def run(self) -> int:
        """Work until stopped and drained. Answers how many jobs could neither be finished nor
        handed back; lease recovery takes care of those. EpochChanged if the database was restored
        or promoted meanwhile."""
        await self._engine.ready()
        await self._runnable.refresh()
        tasks = [
            start_task(loop)
            for loop in (self._log_writer.run(), self._listen(), self._cancels.run())
        ]
        self.renewal.start()
        self._housekeeping.start()
        self._definition_refresh.start()
        self._engine.nudges.local_listeners.add(self._on_nudge)
        try:
            await self.renewal.registered()
            self.on_registered()
            await self._claim_until_stopped()
            if self._busy:
                self.renewal.wake()  # so that its row tells why it claims no more
            await self._lost_claims.release(self._held)
            left = await self._drain()
            await self._lost_claims.release(self._held)
        finally:
            self._engine.nudges.local_listeners.discard(self._on_nudge)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await self._definition_refresh.stop()
            await self._housekeeping.stop()
            await self.renewal.stop()
            self._outcome_writer.close()
            self._threads.close()
            await self._resources.children.close()
        if left and not self._abandoned:
            self._telemetry.warn(
                "jobs could neither be finished nor handed back",
                worker_id=self.id,
                job_ids=[str(held.job_id) for held in self._held],
            )
        try:
            await self._latency_recorder.flush()
            await self._engine.workers.leave(self.id)
        except WindlassError as error:  # its row will be seen as lost, and forgotten
            self._telemetry.trouble("leaving", error)
        if self._abandoned:
            raise EpochChanged
        return left

    async def learn(self) -> None:
        """Look at the definitions' rows: for edits, and for handlers named by a path."""
        await self._runnable.refresh()

    async def tick(self) -> int:
        """Claim once into the free slots and start what came. Answers how many."""
        if not self.pending_claim.begin():
            return 0
        asked_at = clock.boottime()
        wanted = min(self._free_slots(), max(_SMALLEST_SHARE, self._options.concurrency // 2))
        nudged, self._nudge_pending = self._nudge_pending, False
        try:
            claimed = await self._leases.claim(
                self.id,
                wanted,
                queues=self._options.queues,
                known=self._runnable.known,
                lease_time=self._options.lease_time,
                nudged=nudged,
            )
        finally:
            may_start = self.pending_claim.end()
        if not may_start:
            await self._leases.finish([outcome.released(lease.held) for lease in claimed.leases])
            return 0
        now = clock.monotonic()
        handlers = self._runnable.handlers(lease.definition for lease in claimed.leases)
        if any(lease.held in self._held for lease in claimed.leases):
            # Tokens only rise: this database was restored, and has forgotten the earlier lease.
            self.abandon()
            return 0
        for lease in claimed.leases:
            self._start(lease, handlers[lease.definition], asked_at)
        self._start_exclusive()
        self._latency_recorder.started(claimed.leases)
        self._looked_at = now
        self._claim_fell_short = len(claimed.leases) < wanted
        self._next_due_in = claimed.next_due_in
        return len(claimed.leases)

    async def settled(self) -> None:
        """Return when everything started has ended and is recorded."""
        while self._busy:
            self._wake.clear()
            await self._wake.wait()
        await self._outcome_writer.drain()

    async def _claim_until_stopped(self) -> None:
        failures = 0
        while not self._stopping.is_set():
            self._wake.clear()
            self._update_draining()
            await self._lost_claims.release(self._held)
            if self._is_draining or not self._free_slots():
                self._looked_at = clock.monotonic()
                await self._sleep(self._options.poll.total_seconds())
                continue
            try:
                came = await self.tick()
                failures = 0
            except Exception as error:  # noqa: BLE001  the next round may succeed
                failures += 1
                self._lost_claims.expect()
                self._telemetry.trouble("claiming", error)
                await self._sleep(backoff_seconds(failures))
                continue
            if came and not self._claim_fell_short:
                await self._gather()
            elif not came and self._options.drain and not self._held:
                self.drain()
            elif not came:
                await self._idle()

    async def _gather(self) -> None:
        """More is waiting: let slots come free together rather than claim one by one."""
        enough = max(1, self._options.concurrency // 4)
        until = clock.monotonic() + _GATHER_SECONDS
        while not (self._stopping.is_set() or self._wanted is WorkerOrder.DRAIN) and (
            self._free_slots() < 1 or (self._free_slots() < enough and clock.monotonic() < until)
        ):
            self._wake.clear()
            pause = (
                self._options.poll.total_seconds() if self._free_slots() < 1 else _GATHER_SECONDS
            )
            await self._sleep(pause)
            await self._lost_claims.release(self._held)

    async def _idle(self) -> None:
        pause = self._options.poll.total_seconds()
        if self._next_due_in is not None:
            pause = min(pause, self._next_due_in.total_seconds())
        await self._sleep(max(_SHORTEST_IDLE_SECONDS, pause))

    async def _sleep(self, seconds: float) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._wake.wait()

    def _loop(self, name: str, tick: Callable[[], Awaitable[None]]) -> Loop:
        beat = self._options.lease_time.total_seconds() / 3
        return Loop(name, tick, seconds=beat, telemetry=self._telemetry)

    def _listen(self) -> Coroutine[Any, Any, None]:
        queues = self._options.queues
        names = None if queues is None else [*queues, order_nudge(self.id)]
        return listen(self._engine, names, poll=self._options.poll)

    def _on_nudge(self, queues: Collection[str]) -> None:
        if order_nudge(self.id) in queues:
            self.renewal.wake()
        served = self._options.queues
        if served is None or "*" in queues or not set(served).isdisjoint(queues):
            self._nudge_pending = True
            self._wake.set()
            self._cancels.nudge()

    async def _flush_and_check_memory(self) -> None:
        await self._latency_recorder.flush()
        limit = self._options.memory_limit_mb
        if limit is not None and (used := resident_mb()) > limit:
            self._telemetry.warn("above its memory limit, draining", used_mb=used, limit_mb=limit)
            self.drain()

    def apply_order(self, wanted: WorkerOrder) -> None:
        """Do what an operator wants."""
        if wanted is self._wanted:
            return
        self._wanted = wanted
        self._telemetry.note(f"told to {wanted}", worker_id=self.id)
        if wanted is WorkerOrder.STOP and self.doing is not WorkerOrder.STOP:
            self.on_stop_order()
        self._nudge_pending = True  # what came while it drained
        self._wake.set()

    def _update_draining(self) -> None:
        """Rest, or claim again, as was told; its row says so at once."""
        rests = self._wanted is WorkerOrder.DRAIN
        if rests is not self._is_draining:
            self._is_draining = rests
            self.renewal.wake()

    def _free_slots(self) -> int:
        if self._exclusive_attempt is not None:
            return 0
        return self._options.concurrency - self._busy - self._stuck

    def _start(self, lease: Lease, handler: Handler, asked_at: float) -> None:
        lease_ends_at = asked_at + self._options.lease_time.total_seconds()
        attempt = LiveAttempt(lease, handler, self._resources, lease_ends_at)
        self._held[attempt.held] = attempt
        self._busy += 1
        if runs_alone(lease.gate):
            self._exclusive_attempt = attempt
        else:
            attempt.start()

    def _start_exclusive(self) -> None:
        """Start the run that may have no other beside it, once the ends of all others are recorded:
        what is leased yet would be lost with it, and it would not be known for the guilty one."""
        alone = self._exclusive_attempt
        if alone is not None and not alone.started and self._held.keys() == {alone.held}:
            alone.start()

    def _on_attempt_end(self, attempt: LiveAttempt, finish: AttemptEnd | None) -> None:
        if attempt.late:
            self._stuck -= 1
            self._wake.set()
            return
        self._busy -= 1
        if attempt is self._exclusive_attempt:
            self._exclusive_attempt = None
        if attempt.stuck:
            self._stuck += 1
            if self.all_slots_stuck:
                self._telemetry.warn("every slot is written off, draining", worker_id=self.id)
                self.drain()
        if finish is None:
            self._held.pop(attempt.held, None)
            self._start_exclusive()
        else:
            attempt.ended_at = clock.monotonic()
            self._outcome_writer.add(finish)
        self._wake.set()

    def lease_of(self, held: LeaseRef) -> Lease | None:
        """The lease behind a token, while it is held."""
        run = self._held.get(held)
        return None if run is None else run.lease

    def _on_outcomes_recorded(self, ends: list[AttemptEnd]) -> None:
        held = self._held
        self._latency_recorder.ended([run for end in ends if (run := held.pop(end.held, None))])
        self._start_exclusive()
        if self._claim_fell_short:
            self._wake.set()  # a limit may have room again
        if self._is_draining and not held:
            self.renewal.wake()  # who drains it waits for this

    def final_outcomes(self, blockage: Blockage | None) -> list[AttemptEnd]:
        """How each run ends if the process does so now. Safe to call from any thread."""
        return final_outcomes(self._held.copy(), self._outcome_writer.unrecorded, blockage)

    async def _drain(self) -> int:
        # Claiming has stopped: a job leased from here on would find no slot, and nobody else
        # could run it until its lease ran out. Renewing goes on until the end.
        deadline = clock.monotonic() + self._options.shutdown_time.total_seconds()
        while self._busy and not self._force_stop.is_set() and clock.monotonic() < deadline:
            self._wake.clear()
            await self._sleep(min(0.1, max(0.0, deadline - clock.monotonic())))
        stop_timeout = GRACE_SECONDS
        for attempt in list(self._held.values()):
            attempt.stop("shutdown")
            stop_timeout = max(stop_timeout, attempt.stop_timeout)
        stop_timeout += clock.monotonic() + 1
        while self._busy and clock.monotonic() < stop_timeout:
            self._wake.clear()
            await self._sleep(0.1)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(GRACE_SECONDS + 5):
                await self._outcome_writer.drain()
        return len(self._held)
