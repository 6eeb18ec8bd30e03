"""The worker: claims jobs into free slots, runs their attempts, and drains when it is stopped."""

import asyncio
import contextlib
import os
import socket
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from random import Random

from windlass import clock
from windlass.core.jobs import outcome
from windlass.core.jobs.outcome import AttemptEnd
from windlass.core.leases.lease import Lease, LeaseRef
from windlass.core.leases.worker_orders import WorkerOrder, order_nudge
from windlass.core.monitoring.latency import LatencyBuffer, sample
from windlass.engine.loop import Loop, backoff_seconds
from windlass.engine.redaction import create_redactor
from windlass.errors import EpochChanged, WindlassError
from windlass.errors.wording import printable
from windlass.ids import WorkerId, new_job_id, short
from windlass.tasks import start_task
from windlass.worker.attempt import GRACE_SECONDS, Around, AttemptResources, LiveAttempt
from windlass.worker.backend import Backend
from windlass.worker.handlers import Handlers, Resolve, RunnableDefinitions
from windlass.worker.isolation.fork_server_pool import ForkServerPool
from windlass.worker.isolation.memory import resident_mb
from windlass.worker.isolation.process import ProcessRunner
from windlass.worker.isolation.threads import ThreadPool
from windlass.worker.leases.cancel_watch import CancelWatch
from windlass.worker.leases.heartbeat import Heartbeat
from windlass.worker.leases.lease_renewer import LeaseRenewer
from windlass.worker.leases.lost_claims import LostClaimRecovery
from windlass.worker.leases.nudge_listener import listen
from windlass.worker.leases.renewal_thread import RenewalThread
from windlass.worker.options import WorkerOptions
from windlass.worker.reporting.log_writer import LogWriter
from windlass.worker.reporting.outcome_writer import OutcomeWriter
from windlass.worker.slots import ClaimPace, Drain, PendingClaim, Slots

#: A claim fills at most half of many slots, so that one half runs while the other is claimed.
_SMALLEST_SHARE = 50
#: While jobs wait, slots that come free within this time are filled by one claim.
_GATHER_SECONDS = 0.005


class Worker:
    """Runs attempts in its slots until it is stopped, then drains."""

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
        #: Called when an operator orders a stop; a process with several workers stops them all.
        self.on_stop_order: Callable[[], None] = self.stop
        #: Called when the worker's row exists, before the first claim.
        self.on_registered: Callable[[], None] = lambda: None
        self._engine = engine
        self._options = options
        self._telemetry = engine.telemetry
        self._leases = engine.leases(self.lease_of, worker=self.id)
        self._runnable = RunnableDefinitions(
            handlers, engine.definitions, engine.telemetry, resolve
        )

        self._slots = Slots(options.concurrency)
        self._drain = Drain()
        self.pace = ClaimPace(options.poll)
        self.pending_claim = PendingClaim()
        self._lost_claims = LostClaimRecovery(
            self._leases, self._telemetry, lease_time=options.lease_time
        )
        self.renewal = RenewalThread(
            self, engine, Heartbeat(self.id, self._runnable, options), options
        )
        self._cancels = CancelWatch(
            LeaseRenewer(self._leases, lambda: self.held, lease_time=options.lease_time),
            self._telemetry,
            poll=options.poll,
        )
        self._housekeeping = self._new_loop("storing latencies", self._flush_and_check_memory)
        self._definition_refresh = self._new_loop("reading definitions", self._runnable.refresh)

        self._latencies = LatencyBuffer()
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
            threads=threads or ThreadPool(),
            children=ProcessRunner(ForkServerPool()),
            around=around,
            random=random or Random(),
            redactor=redactor,
            error_bytes=engine.settings.limits.error_bytes,
            on_end=self._on_attempt_end,
        )

    async def run(self) -> int:
        """Work until stopped and drained. Returns how many jobs could neither be finished nor
        handed back; lease recovery takes care of those. EpochChanged if the database was restored
        or promoted meanwhile."""
        await self._engine.ready()
        await self._runnable.refresh()
        queues = self._options.queues
        names = None if queues is None else [*queues, order_nudge(self.id)]
        nudges = listen(self._engine, names, poll=self._options.poll)
        tasks = [start_task(loop) for loop in (self._log_writer.run(), nudges, self._cancels.run())]
        self.renewal.start()
        self._housekeeping.start()
        self._definition_refresh.start()
        self._engine.nudges.local_listeners.add(self._on_nudge)
        try:
            await self.renewal.registered()
            self.on_registered()
            await self._claim_until_stopped()
            if self.running:
                self.renewal.wake()  # the heartbeat shows why it claims no more
            await self._lost_claims.release(self.held)
            left = await self._finish_runs()
            await self._lost_claims.release(self.held)
        finally:
            self._engine.nudges.local_listeners.discard(self._on_nudge)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await self._definition_refresh.stop()
            await self._housekeeping.stop()
            await self.renewal.stop()
            self._outcome_writer.close()
            self._resources.threads.close()
            await self._resources.children.close()
        await self._unregister(left)
        return left

    async def tick(self) -> int:
        """Claim once into the free slots and start what came. Returns how many jobs came."""
        if not self.pending_claim.begin():
            return 0
        asked_at = clock.boottime()
        wanted = min(self._slots.free, max(_SMALLEST_SHARE, self._options.concurrency // 2))
        try:
            claimed = await self._leases.claim(
                self.id,
                wanted,
                queues=self._options.queues,
                known=self._runnable.known,
                lease_time=self._options.lease_time,
                nudged=self.pace.take_nudge(),
            )
        finally:
            may_start = self.pending_claim.end()
        if not may_start:
            await self._leases.finish([outcome.released(lease.held) for lease in claimed.leases])
            return 0
        held = self._slots.held
        if held and any(lease.held in held for lease in claimed.leases):
            # Tokens only rise: this database was restored, and has forgotten the earlier lease.
            self.abandon()
            return 0
        self._start(claimed.leases, asked_at)
        self._latencies.waited(claimed.leases)
        self.pace.claimed_at = clock.monotonic()
        self.pace.fell_short = len(claimed.leases) < wanted
        self.pace.next_due_in = claimed.next_due_in
        return len(claimed.leases)

    async def settled(self) -> None:
        """Return when everything started has ended and is recorded."""
        while self.running:
            self.pace.wake.clear()
            await self.pace.wake.wait()
        await self._outcome_writer.drain()

    async def refresh_definitions(self) -> None:
        """Read the definitions' rows again: for edits, and for handlers named by a path."""
        await self._runnable.refresh()

    async def check_database(self) -> None:
        """Raise unless the database answers."""
        await self._engine.now()

    def stop(self) -> None:
        """Drain and end. Called again, hand back at once what still runs."""
        self._drain.request_stop()
        self.pace.wake.set()

    def drain(self) -> None:
        """Claim no more, let runs finish, and end. Calling it again changes nothing."""
        self._drain.ending = True
        self.pace.wake.set()

    def close(self) -> None:
        """Give up the outcomes that are not recorded, and those still to come."""
        self._outcome_writer.close()

    def abandon(self) -> None:
        """Stop every run as lost and end: the leases belong to an earlier epoch of the database."""
        if self._drain.abandon():
            self._telemetry.warn("database was restored or promoted", worker_id=self.id)
            for attempt in list(self.held.values()):
                attempt.stop("lost")
            self._outcome_writer.close()
            self.pace.wake.set()

    def apply_order(self, wanted: WorkerOrder) -> None:
        """Follow an operator's order."""
        if wanted is self._drain.order:
            return
        self._drain.order = wanted
        self._telemetry.note("order received", order=str(wanted), worker_id=self.id)
        if wanted is WorkerOrder.STOP and not self._drain.ending:
            self.on_stop_order()
        self.pace.nudged = True  # for jobs that came while it was paused
        self.pace.wake.set()

    @property
    def held(self) -> Mapping[LeaseRef, LiveAttempt]:
        """The leases of this worker, those included whose outcome is not recorded yet."""
        return self._slots.held

    def lease_of(self, held: LeaseRef) -> Lease | None:
        """The lease behind a token; None if it is not held any more."""
        run = self._slots.held.get(held)
        return None if run is None else run.lease

    @property
    def unrecorded(self) -> Sequence[AttemptEnd]:
        """Outcomes that are not known to be recorded. Safe to read from any thread."""
        return self._outcome_writer.unrecorded

    @property
    def running(self) -> int:
        """How many slots are in use."""
        return self._slots.busy

    @property
    def slots(self) -> int:
        """How many attempts it runs at once."""
        return self._slots.count

    @property
    def all_slots_stuck(self) -> bool:
        """True if runs that ignored being stopped hold every slot."""
        return self._slots.all_stuck

    @property
    def queues(self) -> Sequence[str] | None:
        """The queues it serves; None for all."""
        queues = self._options.queues
        return None if queues is None else tuple(queues)

    @property
    def effective_order(self) -> WorkerOrder:
        """The order that it follows now. It drains only when no claim is under way."""
        return self._drain.effective_order

    async def _claim_until_stopped(self) -> None:
        failures = 0
        while not self._drain.ending:
            self.pace.wake.clear()
            if self._drain.update_paused():
                self.renewal.wake()  # the heartbeat shows it at once
            await self._lost_claims.release(self.held)
            if self._drain.paused or not self._slots.free:
                await self.pace.skip()
                continue
            try:
                came = await self.tick()
                failures = 0
            except Exception as error:  # noqa: BLE001  the next round may succeed
                failures += 1
                self._lost_claims.expect()
                self._telemetry.trouble("claiming", error)
                await self.pace.sleep(backoff_seconds(failures))
                continue
            if came and not self.pace.fell_short:
                await self._gather()
            elif not came and self._options.drain and not self.held:
                self.drain()
            elif not came:
                await self.pace.idle()

    def _start(self, leases: Sequence[Lease], asked_at: float) -> None:
        lease_ends_at = asked_at + self._options.lease_time.total_seconds()
        handlers = self._runnable.handlers(lease.definition for lease in leases)
        for lease in leases:
            handler = handlers[lease.definition]
            self._slots.fill(LiveAttempt(lease, handler, self._resources, lease_ends_at))
        self._slots.start_exclusive()

    async def _gather(self) -> None:
        """Wait for a quarter of the slots: while jobs wait, one claim for several costs less."""
        enough = max(1, self._options.concurrency // 4)
        until, poll = clock.monotonic() + _GATHER_SECONDS, self._options.poll.total_seconds()
        while not self._drain.holds_claims and (
            self._slots.free < 1 or (self._slots.free < enough and clock.monotonic() < until)
        ):
            self.pace.wake.clear()
            await self.pace.sleep(_GATHER_SECONDS if self._slots.free > 0 else poll)
            await self._lost_claims.release(self.held)

    def _on_attempt_end(self, attempt: LiveAttempt, finish: AttemptEnd | None) -> None:
        self._slots.vacate(attempt)
        self.pace.wake.set()
        if attempt.late:
            return
        if attempt.stuck and self._slots.all_stuck:
            self._telemetry.warn("every slot is stuck, draining", worker_id=self.id)
            self.drain()
        if finish is None:
            self._slots.held.pop(attempt.held, None)
            self._slots.start_exclusive()
        else:
            attempt.ended_at = clock.monotonic()
            self._outcome_writer.add(finish)

    def _on_outcomes_recorded(self, ends: list[AttemptEnd]) -> None:
        held = self._slots.held
        ended, weight = sample([run for end in ends if (run := held.pop(end.held, None))])
        self._latencies.ran([(run.lease, run.seconds) for run in ended], weight)
        self._slots.start_exclusive()
        if self.pace.fell_short:
            self.pace.wake.set()  # a limit may have room again
        if self._drain.paused and not held:
            self.renewal.wake()  # the heartbeat shows that it has drained

    async def _finish_runs(self) -> int:
        """Let runs end, then stop them. Returns how many leases are left."""
        # Claiming has stopped: a job leased from here on would find no slot, and nobody else
        # could run it until its lease ran out. Renewing goes on until the end.
        deadline = clock.monotonic() + self._options.shutdown_time.total_seconds()
        while self.running and not self._drain.forced and clock.monotonic() < deadline:
            self.pace.wake.clear()
            await self.pace.sleep(min(0.1, max(0.0, deadline - clock.monotonic())))
        stop_seconds = GRACE_SECONDS
        for attempt in list(self.held.values()):
            attempt.stop("shutdown")
            stop_seconds = max(stop_seconds, attempt.stop_timeout)
        deadline = clock.monotonic() + stop_seconds + 1
        while self.running and clock.monotonic() < deadline:
            self.pace.wake.clear()
            await self.pace.sleep(0.1)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(GRACE_SECONDS + 5):
                await self._outcome_writer.drain()
        return len(self.held)

    async def _unregister(self, left: int) -> None:
        if left and not self._drain.abandoned:
            self._telemetry.warn(
                "jobs could neither be finished nor handed back",
                worker_id=self.id,
                job_ids=[str(held.job_id) for held in self.held],
            )
        try:
            await self._engine.latency.flush(self._latencies)
            await self._engine.workers.leave(self.id)
        except WindlassError as error:  # the row is seen as lost, and deleted
            self._telemetry.trouble("removing the worker's row", error)
        if self._drain.abandoned:
            raise EpochChanged

    def _new_loop(self, name: str, tick: Callable[[], Awaitable[None]]) -> Loop:
        beat = self._options.lease_time.total_seconds() / 3
        return Loop(name, tick, seconds=beat, telemetry=self._telemetry)

    def _on_nudge(self, queues: Collection[str]) -> None:
        if order_nudge(self.id) in queues:
            self.renewal.wake()
        served = self._options.queues
        if served is None or "*" in queues or not set(served).isdisjoint(queues):
            self.pace.nudged = True
            self.pace.wake.set()
            self._cancels.nudge()

    async def _flush_and_check_memory(self) -> None:
        await self._engine.latency.flush(self._latencies)
        limit = self._options.memory_limit_mb
        if limit is not None and (used := resident_mb()) > limit:
            self._telemetry.warn("above its memory limit, draining", used_mb=used, limit_mb=limit)
            self.drain()
