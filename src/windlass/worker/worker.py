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
from windlass.core.leases.lease import Finish, Held, Lease
from windlass.core.leases.worker_orders import Order, call
from windlass.engine.loop import Loop, backoff_seconds
from windlass.engine.redaction import redactor_of
from windlass.errors import EpochChanged, WindlassError
from windlass.errors.wording import printable
from windlass.ids import WorkerId, new_job_id, short
from windlass.tasks import start_task
from windlass.worker.attempt import GRACE_SECONDS, Around, LiveAttempt, Tools
from windlass.worker.backend import Side
from windlass.worker.handlers import Handler, Handlers
from windlass.worker.isolation.fork_server_pool import Stems
from windlass.worker.isolation.memory import resident_mb
from windlass.worker.isolation.process import Children
from windlass.worker.isolation.threads import Threads
from windlass.worker.leases.cancel_watch import CancelWatch
from windlass.worker.leases.hand_back import last_ends
from windlass.worker.leases.heartbeat import Heartbeat
from windlass.worker.leases.lease_renewer import Renewer
from windlass.worker.leases.lost_claims import LostClaims
from windlass.worker.leases.pending_claim import PendingClaim
from windlass.worker.leases.renewal_thread import Renewal
from windlass.worker.leases.watchdog import Blockage
from windlass.worker.nudge_listener import listen
from windlass.worker.options import WorkerOptions
from windlass.worker.reporting.latency_recorder import Timekeeper
from windlass.worker.reporting.log_writer import Reports
from windlass.worker.reporting.outcome_writer import Finisher
from windlass.worker.runnable_definitions import Knowledge, Resolve

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
        engine: Side,
        handlers: Handlers,
        options: WorkerOptions,
        *,
        around: Sequence[Around] = (),
        threads: Threads | None = None,
        random: Random | None = None,
        resolve: Resolve | None = None,
    ) -> None:
        self.id = WorkerId(f"{printable(socket.gethostname())}:{os.getpid()}:{short(new_job_id())}")
        self._engine = engine
        self._knowledge = Knowledge(handlers, engine.definitions, engine.telemetry, resolve)
        self._options = options
        self._telemetry = engine.telemetry
        self._leases = engine.leases(self.lease_of, worker=self.id)
        self._threads = threads or Threads()
        self._held: dict[Held, LiveAttempt] = {}
        self._timekeeper = Timekeeper(engine.latency)
        #: A run that may have no other beside it: nothing is claimed until it has ended.
        self._alone: LiveAttempt | None = None
        self._busy = 0
        self._stuck = 0
        self._looked_at = clock.monotonic()
        self._starved = False
        self._news = False
        self._next_due_in: timedelta | None = None
        self._wanted = Order.RUN
        self._rests = False
        self._told_to_stop = False
        self._abandoned = False
        #: What an operator's order to stop does; whoever runs several workers ends them all.
        self.when_ordered_to_stop: Callable[[], None] = self.stop
        #: Called when the worker has its row and is about to claim.
        self.when_registered: Callable[[], None] = lambda: None
        self._stopping = asyncio.Event()
        self._hurry = asyncio.Event()
        self._wake = asyncio.Event()
        self.pending_claim = PendingClaim()
        heartbeat = Heartbeat(self.id, self._knowledge, options)
        self.renewal = Renewal(self, engine, heartbeat, options)
        renewer = Renewer(self._leases, lambda: self._held, lease_time=options.lease_time)
        self._cancels = CancelWatch(renewer, self._telemetry, poll=options.poll)
        self._housekeeping = self._loop("noting how long jobs took", self._keep_house)
        self._lost_claims = LostClaims(self._leases, self._telemetry, lease_time=options.lease_time)
        self._learning = self._loop("learning of definitions", self._knowledge.refresh)
        redactor = redactor_of(engine.settings)
        self._reports = Reports(
            self._leases,
            engine.join,
            self._telemetry,
            buffer_lines=options.buffer_lines,
            buffer_seconds=options.buffer_seconds,
            redactor=redactor,
            line_bytes=engine.settings.limits.log_line_bytes,
        )
        self._finisher = Finisher(
            self._leases, self._reports, self._telemetry, recorded=self._recorded
        )
        self._tools = Tools(
            sink=self._reports,
            threads=self._threads,
            children=Children(Stems()),
            around=around,
            random=random or Random(),
            redactor=redactor,
            error_bytes=engine.settings.limits.error_bytes,
            on_end=self._ended,
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
    def doing(self) -> Order:
        """Whether it claims; or does not, and stays; or does not, and ends. It drains from when on
        no claim is under way."""
        if self._stopping.is_set():
            return Order.STOP
        return Order.DRAIN if self._rests else Order.RUN

    @property
    def claim_age(self) -> float:
        """Seconds since it last looked for work with success, or had no slot to look for any."""
        return clock.monotonic() - self._looked_at

    @property
    def claims_go_on(self) -> bool:
        """Whether it looks for work as often as it should."""
        return self.claim_age <= _MISSED_LOOKS * self._options.poll.total_seconds() + _SLACK_SECONDS

    async def see_database(self) -> None:
        """Raises unless the database answers."""
        await self._engine.now()

    @property
    def held(self) -> Mapping[Held, LiveAttempt]:
        """The leases this worker has, those whose end is not recorded yet included."""
        return self._held

    @property
    def worn_out(self) -> bool:
        """Whether every slot is held by a run that ignored being stopped."""
        return self._stuck >= self._options.concurrency

    def stop(self) -> None:
        """Drain; said a second time, hurry: hand back at once what still runs."""
        if self._told_to_stop:
            self._hurry.set()
        self._told_to_stop = True
        self.drain()

    def drain(self) -> None:
        """Claim no more, let runs finish, and end. Saying it again changes nothing."""
        self._stopping.set()
        self._wake.set()

    def close(self) -> None:
        """Give up the outcomes that are not recorded, and those still to come."""
        self._finisher.close()

    def abandon(self) -> None:
        """Stop every run as lost and end: what was leased here belongs to an earlier epoch."""
        if not self._abandoned:
            self._abandoned = True
            self._telemetry.warn("the database was restored or promoted", worker_id=self.id)
            for attempt in list(self._held.values()):
                attempt.stop("lost")
            self._finisher.close()
            self.drain()
            self._hurry.set()

    async def run(self) -> int:
        """Work until stopped and drained. Answers how many jobs could neither be finished nor
        handed back; lease recovery takes care of those. EpochChanged if the database was restored
        or promoted meanwhile."""
        await self._engine.ready()
        await self._knowledge.refresh()
        tasks = [
            start_task(loop) for loop in (self._reports.run(), self._listen(), self._cancels.run())
        ]
        self.renewal.start()
        self._housekeeping.start()
        self._learning.start()
        self._engine.nudges.here.add(self._hear)
        try:
            await self.renewal.registered()
            self.when_registered()
            await self._claim_until_stopped()
            if self._busy:
                self.renewal.wake()  # so that its row tells why it claims no more
            await self._lost_claims.release(self._held)
            left = await self._drain()
            await self._lost_claims.release(self._held)
        finally:
            self._engine.nudges.here.discard(self._hear)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await self._learning.stop()
            await self._housekeeping.stop()
            await self.renewal.stop()
            self._finisher.close()
            self._threads.close()
            await self._tools.children.close()
        if left and not self._abandoned:
            self._telemetry.warn(
                "jobs could neither be finished nor handed back",
                worker_id=self.id,
                job_ids=[str(held.job_id) for held in self._held],
            )
        try:
            await self._timekeeper.flush()
            await self._engine.workers.leave(self.id)
        except WindlassError as error:  # its row will be seen as lost, and forgotten
            self._telemetry.trouble("leaving", error)
        if self._abandoned:
            raise EpochChanged
        return left

    async def learn(self) -> None:
        """Look at the definitions' rows: for edits, and for handlers named by a path."""
        await self._knowledge.refresh()

    async def tick(self) -> int:
        """Claim once into the free slots and start what came. Answers how many."""
        if not self.pending_claim.begin():
            return 0
        asked_at = clock.boottime()
        wanted = min(self._room(), max(_SMALLEST_SHARE, self._options.concurrency // 2))
        nudged, self._news = self._news, False
        try:
            claimed = await self._leases.claim(
                self.id,
                wanted,
                queues=self._options.queues,
                known=self._knowledge.known,
                lease_time=self._options.lease_time,
                nudged=nudged,
            )
        finally:
            may_start = self.pending_claim.end()
        if not may_start:
            await self._leases.finish([outcome.released(lease.held) for lease in claimed.leases])
            return 0
        now = clock.monotonic()
        handlers = self._knowledge.handlers(lease.definition for lease in claimed.leases)
        if any(lease.held in self._held for lease in claimed.leases):
            # Tokens only rise: this database was restored, and has forgotten the earlier lease.
            self.abandon()
            return 0
        for lease in claimed.leases:
            self._start(lease, handlers[lease.definition], asked_at)
        self._start_alone()
        self._timekeeper.started(claimed.leases)
        self._looked_at = now
        self._starved = len(claimed.leases) < wanted
        self._next_due_in = claimed.next_due_in
        return len(claimed.leases)

    async def settled(self) -> None:
        """Return when everything started has ended and is recorded."""
        while self._busy:
            self._wake.clear()
            await self._wake.wait()
        await self._finisher.drain()

    async def _claim_until_stopped(self) -> None:
        failures = 0
        while not self._stopping.is_set():
            self._wake.clear()
            self._follow()
            await self._lost_claims.release(self._held)
            if self._rests or not self._room():
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
            if came and not self._starved:
                await self._gather()
            elif not came and self._options.drain and not self._held:
                self.drain()
            elif not came:
                await self._idle()

    async def _gather(self) -> None:
        """More is waiting: let slots come free together rather than claim one by one."""
        enough = max(1, self._options.concurrency // 4)
        until = clock.monotonic() + _GATHER_SECONDS
        while not (self._stopping.is_set() or self._wanted is Order.DRAIN) and (
            self._room() < 1 or (self._room() < enough and clock.monotonic() < until)
        ):
            self._wake.clear()
            pause = self._options.poll.total_seconds() if self._room() < 1 else _GATHER_SECONDS
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
        names = None if queues is None else [*queues, call(self.id)]
        return listen(self._engine, names, poll=self._options.poll)

    def _hear(self, queues: Collection[str]) -> None:
        if call(self.id) in queues:
            self.renewal.wake()
        served = self._options.queues
        if served is None or "*" in queues or not set(served).isdisjoint(queues):
            self._news = True
            self._wake.set()
            self._cancels.nudge()

    async def _keep_house(self) -> None:
        await self._timekeeper.flush()
        limit = self._options.memory_limit_mb
        if limit is not None and (used := resident_mb()) > limit:
            self._telemetry.warn("above its memory limit, draining", used_mb=used, limit_mb=limit)
            self.drain()

    def obey(self, wanted: Order) -> None:
        """Do what an operator wants."""
        if wanted is self._wanted:
            return
        self._wanted = wanted
        self._telemetry.note(f"told to {wanted}", worker_id=self.id)
        if wanted is Order.STOP and self.doing is not Order.STOP:
            self.when_ordered_to_stop()
        self._news = True  # what came while it drained
        self._wake.set()

    def _follow(self) -> None:
        """Rest, or claim again, as was told; its row says so at once."""
        rests = self._wanted is Order.DRAIN
        if rests is not self._rests:
            self._rests = rests
            self.renewal.wake()

    def _room(self) -> int:
        if self._alone is not None:
            return 0
        return self._options.concurrency - self._busy - self._stuck

    def _start(self, lease: Lease, handler: Handler, asked_at: float) -> None:
        lease_ends_at = asked_at + self._options.lease_time.total_seconds()
        attempt = LiveAttempt(lease, handler, self._tools, lease_ends_at)
        self._held[attempt.held] = attempt
        self._busy += 1
        if runs_alone(lease.gate):
            self._alone = attempt
        else:
            attempt.start()

    def _start_alone(self) -> None:
        """Start the run that may have no other beside it, once the ends of all others are recorded:
        what is leased yet would be lost with it, and it would not be known for the guilty one."""
        alone = self._alone
        if alone is not None and not alone.started and self._held.keys() == {alone.held}:
            alone.start()

    def _ended(self, attempt: LiveAttempt, finish: Finish | None) -> None:
        if attempt.late:
            self._stuck -= 1
            self._wake.set()
            return
        self._busy -= 1
        if attempt is self._alone:
            self._alone = None
        if attempt.stuck:
            self._stuck += 1
            if self.worn_out:
                self._telemetry.warn("every slot is written off, draining", worker_id=self.id)
                self.drain()
        if finish is None:
            self._held.pop(attempt.held, None)
            self._start_alone()
        else:
            attempt.ended_at = clock.monotonic()
            self._finisher.add(finish)
        self._wake.set()

    def lease_of(self, held: Held) -> Lease | None:
        """The lease behind a token, while it is held."""
        run = self._held.get(held)
        return None if run is None else run.lease

    def _recorded(self, ends: list[Finish]) -> None:
        held = self._held
        self._timekeeper.ended([run for end in ends if (run := held.pop(end.held, None))])
        self._start_alone()
        if self._starved:
            self._wake.set()  # a limit may have room again
        if self._rests and not held:
            self.renewal.wake()  # who drains it waits for this

    def last_ends(self, blockage: Blockage | None) -> list[Finish]:
        """How each run ends if the process does so now. Safe to call from any thread."""
        return last_ends(self._held.copy(), self._finisher.unrecorded, blockage)

    async def _drain(self) -> int:
        # Claiming has stopped: a job leased from here on would find no slot, and nobody else
        # could run it until its lease ran out. Renewing goes on until the end.
        deadline = clock.monotonic() + self._options.shutdown_time.total_seconds()
        while self._busy and not self._hurry.is_set() and clock.monotonic() < deadline:
            self._wake.clear()
            await self._sleep(min(0.1, max(0.0, deadline - clock.monotonic())))
        patience = GRACE_SECONDS
        for attempt in list(self._held.values()):
            attempt.stop("shutdown")
            patience = max(patience, attempt.patience)
        patience += clock.monotonic() + 1
        while self._busy and clock.monotonic() < patience:
            self._wake.clear()
            await self._sleep(0.1)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(GRACE_SECONDS + 5):
                await self._finisher.drain()
        return len(self._held)
