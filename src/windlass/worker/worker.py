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
from windlass.core.lease import Finish, Held, Lease
from windlass.core.orders import Order, call
from windlass.engine.loop import Loop, backoff_seconds
from windlass.engine.redaction import redactor_of
from windlass.errors import WindlassError
from windlass.errors.wording import printable
from windlass.ids import WorkerId, new_job_id, short
from windlass.worker.attempt import GRACE_SECONDS, Around, LiveAttempt, Tools
from windlass.worker.finisher import Finisher
from windlass.worker.handlers import Handler, Handlers
from windlass.worker.knowledge import Knowledge, Resolve
from windlass.worker.listening import listen
from windlass.worker.memory import resident_mb
from windlass.worker.options import WorkerOptions
from windlass.worker.presence import Presence
from windlass.worker.process import Children
from windlass.worker.renewer import Renewer
from windlass.worker.reports import Reports
from windlass.worker.side import Side
from windlass.worker.stems import Stems
from windlass.worker.threads import Threads
from windlass.worker.timekeeper import Timekeeper

#: Half of many slots are filled at a time, so that one half runs while the other is claimed.
_SMALLEST_SHARE = 50
#: While jobs wait, slots that come free within this time are filled by one claim.
_GATHER_SECONDS = 0.005
#: However soon the next job is due, a claim that brought nothing is not repeated sooner.
_SHORTEST_IDLE_SECONDS = 0.01
#: Nudges come with every enqueue; whether a run should stop is asked no more often than this.
_STOPS_SECONDS = 0.2

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
        self._leases = engine.leases(self._lease_of)
        self._threads = threads or Threads()
        self._held: dict[Held, LiveAttempt] = {}
        self._timekeeper = Timekeeper(engine.latency)
        self._busy = 0
        self._stuck = 0
        self._looked_at = clock.monotonic()
        self._starved = False
        self._news = False
        self._next_due_in: timedelta | None = None
        self._wanted = Order.RUN
        self._rests = False
        self._told_to_stop = False
        #: What an operator's order to stop does; whoever runs several workers ends them all.
        self.when_ordered_to_stop: Callable[[], None] = self.stop
        self._stopping = asyncio.Event()
        self._hurry = asyncio.Event()
        self._wake = asyncio.Event()
        self._nudged = asyncio.Event()
        self._presence = Presence(self.id, engine.workers, self._knowledge, options)
        self._renewer = Renewer(self._leases, lambda: self._held, lease_time=options.lease_time)
        self._renewing = self._loop("renewing leases", self._renew)
        self._learning = self._loop("learning of definitions", self._knowledge.refresh)
        redactor = redactor_of(engine.settings)
        self._reports = Reports(
            self._leases,
            engine.join,
            self._telemetry,
            buffer_lines=options.buffer_lines,
            buffer_seconds=options.buffer_seconds,
            redactor=redactor,
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

    async def run(self) -> int:
        """Work until stopped and drained. Answers how many jobs could neither be finished nor
        handed back; lease recovery takes care of those."""
        await self._engine.ready()
        await self._knowledge.refresh()
        tasks = [
            asyncio.create_task(loop)
            for loop in (self._reports.run(), self._listen(), self._mind_stops())
        ]
        self._renewing.start()
        self._learning.start()
        self._engine.nudges.here.add(self._hear)
        try:
            await self._claim_until_stopped()
            if self._busy:
                self._renewing.wake()  # so that its row tells why it claims no more
            left = await self._drain()
        finally:
            self._engine.nudges.here.discard(self._hear)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await self._learning.stop()
            await self._renewing.stop()
            self._finisher.close()
            self._threads.close()
            await self._tools.children.close()
        if left:
            self._telemetry.warn(
                "jobs could neither be finished nor handed back",
                worker_id=self.id,
                job_ids=[str(held.job_id) for held in self._held],
            )
        try:
            await self._timekeeper.flush()
            await self._presence.leave()
        except WindlassError as error:  # its row will be seen as lost, and forgotten
            self._telemetry.trouble("leaving", error)
        return left

    async def tick(self) -> int:
        """Claim once into the free slots and start what came. Answers how many."""
        wanted = min(self._room(), max(_SMALLEST_SHARE, self._options.concurrency // 2))
        nudged, self._news = self._news, False
        claimed = await self._leases.claim(
            self.id,
            wanted,
            queues=self._options.queues,
            known=self._knowledge.known,
            lease_time=self._options.lease_time,
            nudged=nudged,
        )
        now = clock.monotonic()
        handlers = self._knowledge.handlers(lease.definition for lease in claimed.leases)
        for lease in claimed.leases:
            self._start(lease, handlers[lease.definition], now)
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
            if self._rests or not self._room():
                self._looked_at = clock.monotonic()
                await self._sleep(self._options.poll.total_seconds())
                continue
            try:
                came = await self.tick()
                failures = 0
            except Exception as error:  # noqa: BLE001  the next round may succeed
                failures += 1
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
            self._renewing.wake()
        served = self._options.queues
        if served is None or "*" in queues or not set(served).isdisjoint(queues):
            self._news = True
            self._wake.set()
            self._nudged.set()

    async def _mind_stops(self) -> None:
        """Each poll, and when nudged, look whether a run should stop."""
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._options.poll.total_seconds()):
                    await self._nudged.wait()
            self._nudged.clear()
            try:
                await self._renewer.look_for_stops()
            except Exception as error:  # noqa: BLE001  the next look may succeed
                self._telemetry.trouble("looking for cancels", error)
            await asyncio.sleep(_STOPS_SECONDS)

    async def _renew(self) -> None:
        for run in await self._renewer.tick():
            self._telemetry.lost(run.lease)
        self._obey(await self._presence.beat(used=self._busy, doing=self.doing))
        await self._timekeeper.flush()
        limit = self._options.memory_limit_mb
        if limit is not None and (used := resident_mb()) > limit:
            self._telemetry.warn("above its memory limit, draining", used_mb=used, limit_mb=limit)
            self.drain()

    def _obey(self, wanted: Order) -> None:
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
            self._renewing.wake()

    def _room(self) -> int:
        return self._options.concurrency - self._busy - self._stuck

    def _start(self, lease: Lease, handler: Handler, now: float) -> None:
        attempt = LiveAttempt(lease, handler, self._tools, now)
        self._held[attempt.held] = attempt
        self._busy += 1
        attempt.start()

    def _ended(self, attempt: LiveAttempt, finish: Finish | None) -> None:
        if attempt.late:
            self._stuck -= 1
            self._wake.set()
            return
        self._busy -= 1
        if attempt.stuck:
            self._stuck += 1
            if self.worn_out:
                self._telemetry.warn("every slot is written off, draining", worker_id=self.id)
                self.drain()
        if finish is None:
            self._held.pop(attempt.held, None)
        else:
            attempt.ended_at = clock.monotonic()
            self._finisher.add(finish)
        self._wake.set()

    def _lease_of(self, held: Held) -> Lease | None:
        run = self._held.get(held)
        return None if run is None else run.lease

    def _recorded(self, ends: list[Finish]) -> None:
        held = self._held
        self._timekeeper.ended([run for end in ends if (run := held.pop(end.held, None))])
        if self._starved:
            self._wake.set()  # a limit may have room again
        if self._rests and not held:
            self._renewing.wake()  # who drains it waits for this

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
