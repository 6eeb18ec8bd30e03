"""Schedules of simulated processes, one database call at a time, chosen by a seed."""

import asyncio
import random as global_random
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from random import Random
from typing import Any, Protocol
from unittest.mock import patch

from tests.simulation import actors
from tests.simulation.actors import EVENT, LEASE_TIME, Place, SimulatedUpkeep, SimulatedWorker
from tests.simulation.faults import (
    FAULT_WEIGHTS,
    FAULTS,
    Committed,
    Fault,
    FaultyDatabase,
    ProcessDied,
)
from tests.simulation.final_checks import check_end
from tests.simulation.ledger import InvariantBroken, Ledger
from tests.support.invariants import check_invariants
from tests.support.job_builders import DEFINITIONS, START
from windlass import ids
from windlass.core.jobs.models import ALL_TENANTS
from windlass.core.jobs.states import OPEN
from windlass.core.triggers.schedule import every
from windlass.engine.engine import Engine
from windlass.engine.loop import Loop
from windlass.engine.nudges import Nudges
from windlass.engine.triggers.events import Events
from windlass.settings import Settings
from windlass.storage.database import Database
from windlass.storage.storage import Storage
from windlass.telemetry import Telemetry

Actor = Callable[[Place], Awaitable[None]]

#: The processes, and how often each gets its turn compared with the others.
CREW: Sequence[tuple[Actor, float]] = (
    (actors.work, 4),
    (actors.work, 4),
    (actors.keep_up, 3),
    (actors.keep_up, 3),
    (actors.produce, 1),
    (actors.emit, 0.5),
    (actors.operate, 1),
)
_STEPS = 120
_DRAIN_ROUNDS = 60
_DRAIN_SLOTS = 50
_FAULT_RATES = (0.02, 0.08, 0.25)

_current: ContextVar["Process | None"] = ContextVar("process", default=None)


class World(Protocol):
    """A database with a clock."""

    database: Database

    async def set_time(self, now: datetime) -> None: ...


class SilentLogger:
    """Telemetry's logger: faults are what this is about, and need no words."""

    def __getattr__(self, level: str) -> Callable[..., None]:
        return lambda *words, **about: None


@dataclass
class Clock:
    """Virtual time, as the final check of the invariants wants to move it."""

    simulation: "Simulation"

    async def advance(self, by: timedelta) -> None:
        await self.simulation.pass_time(by)


@dataclass
class Process:
    """One simulated process: it runs from one database call to the next, when it is its turn."""

    simulation: "Simulation"
    name: str
    actor: Actor
    weight: float = 1.0
    behind: timedelta = timedelta()
    paused_until: datetime = START
    alive: bool = True
    _turns: int = 0
    _may_go_on: "asyncio.Future[None] | None" = None
    _task: "asyncio.Task[None] | None" = None

    async def start(self) -> None:
        """Begin, up to the first call."""
        engine = self.simulation.engine(self)
        place = Place(
            name=self.name,
            engine=engine,
            random=self.simulation.random,
            ledger=self.simulation.ledger,
            idle=self.park,
            turns=lambda: self._turns,
        )

        async def live() -> None:
            _current.set(self)
            try:
                await self.park()
                await self.actor(place)
            except ProcessDied:
                pass

        self.simulation.parked.clear()
        self._task = asyncio.create_task(live())
        await self._stopped()

    async def park(self) -> None:
        """Wait until the simulation lets this process continue."""
        if not self.alive:
            raise ProcessDied
        self._turns += 1
        self._may_go_on = asyncio.get_running_loop().create_future()
        self.simulation.parked.set()
        await self._may_go_on

    async def run_on(self) -> None:
        """Let it run up to its next call."""
        assert self._may_go_on is not None
        self.simulation.parked.clear()
        self._may_go_on.set_result(None)
        await self._stopped()

    async def _stopped(self) -> None:
        """Wait until it is parked, or no more."""
        assert self._task is not None
        waiting = asyncio.create_task(self.simulation.parked.wait())
        await asyncio.wait({waiting, self._task}, return_when=asyncio.FIRST_COMPLETED)
        waiting.cancel()
        if self._task.done():
            self.alive = False
            self._task.result()

    async def kill(self) -> None:
        self.alive = False
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task})

    @property
    def monotonic(self) -> float:
        return (self.simulation.now - START - self.behind).total_seconds()

    # Called by its database.

    async def turn(self) -> Fault:
        await self.park()
        return self.simulation.fault()

    async def pause(self) -> None:
        random = self.simulation.random
        length = timedelta(seconds=random.uniform(1, 120))
        self.paused_until = self.simulation.now + length
        if random.random() < 0.5:  # the whole machine stood still, and its clock with it
            self.behind += length
        await self.park()

    def die(self) -> ProcessDied:
        self.alive = False
        return ProcessDied()

    def statement_to_fail(self) -> int:
        return self.simulation.random.randrange(4)

    def committed(self, verbs: Sequence[Committed]) -> None:
        self.simulation.committed(self.name, verbs)


@dataclass
class Simulation:
    """One schedule. `trace` tells what was committed, by whom and when."""

    world: World
    seed: int
    now: datetime = START
    trace: list[str] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.random = Random(self.seed)
        self.ledger = Ledger(lease_time=LEASE_TIME, limits={"limited": 2})
        self.parked = asyncio.Event()
        self._rate = self.random.choice(_FAULT_RATES)
        self._processes: list[Process] = []
        self._made = 0
        self._draining = False

    async def run(self) -> None:
        """Play the schedule, let everything come to rest, and check what is left."""
        with self._virtual():
            try:
                for actor, weight in CREW:
                    await self._start(actor, weight)
                for _ in range(_STEPS):
                    await self._step()
            finally:
                for process in self._processes:
                    await process.kill()
            await self._drain()
            storage = Storage(self.world.database)
            await check_end(storage, self.ledger)
            await check_invariants(storage, Clock(self))  # type: ignore[arg-type]  # it only advances

    async def pass_time(self, by: timedelta) -> None:
        if by:
            self.now += by
            await self.world.set_time(self.now)

    def fault(self) -> Fault:
        if self._draining or self.random.random() >= self._rate:
            return Fault.NONE
        self.faults += self.random.choices(FAULTS, FAULT_WEIGHTS)
        return self.faults[-1]

    def committed(self, who: str, verbs: Sequence[Committed]) -> None:
        at = (self.now - START).total_seconds()
        self.trace += [f"{at:.3f} {who} {verb} {len(rows)}" for verb, _, rows in verbs]
        self.ledger.committed(verbs, self.now)

    def engine(self, process: Process) -> Engine:
        storage = Storage(FaultyDatabase(self.world.database, process))  # type: ignore[arg-type]
        return Engine(storage, Settings(), Telemetry(SilentLogger()))

    async def _start(self, actor: Actor, weight: float) -> None:
        self._made += 1
        process = Process(self, f"{actor.__name__}-{self._made}", actor, weight)
        self._processes.append(process)
        await process.start()

    async def _step(self) -> None:
        await self.pass_time(timedelta(seconds=self.random.choice((0, 0.1, 1, 2, 6))))
        awake = [p for p in self._processes if p.alive and p.paused_until <= self.now]
        if awake:
            [process] = self.random.choices(awake, [each.weight for each in awake])
            await process.run_on()
            if not process.alive:  # the supervisor starts another
                await self._start(process.actor, process.weight)

    async def _drain(self) -> None:
        """Let healthy processes end everything, within bounded time."""
        self._draining = True
        process = Process(self, "drain", actors.work)
        engine = self._plain_engine()
        place = Place("drain", engine, self.random, self.ledger, process.park, lambda: 0)
        worker, upkeep = SimulatedWorker(place, slots=_DRAIN_SLOTS), SimulatedUpkeep(place)
        storage = place.engine.storage
        await storage.leases.upsert_queue(actors.QueueName("mail"), paused=False)
        await upkeep.scheduler.tick()
        for _ in range(_DRAIN_ROUNDS):
            await upkeep.operating.tick()
            await upkeep.reaper.tick()
            await upkeep.housekeeping.tick()
            while await worker.claim():
                worker.succeed()
                await worker.write_ends()
            open_jobs = await storage.database.query("select state from windlass_jobs", {})
            operations = await storage.jobs.operations(ALL_TENANTS)
            if not any(row["state"] in OPEN for row in open_jobs) and not any(
                each.state == "running" for each in operations
            ):
                return
            await self.pass_time(timedelta(seconds=31))
        raise InvariantBroken(f"after {_DRAIN_ROUNDS} rounds some jobs have not ended")

    def _plain_engine(self) -> Engine:
        watched = WatchedDatabase(self.world.database, self)
        return Engine(Storage(watched), Settings(), Telemetry(SilentLogger()))  # type: ignore[arg-type]

    @contextmanager
    def _virtual(self) -> Iterator[None]:
        """Time and chance come from the schedule alone, and nothing happens in the background."""

        def monotonic() -> float:
            process = _current.get()
            return process.monotonic if process else (self.now - START).total_seconds()

        really_sleep = asyncio.sleep

        async def sleep_not(seconds: float, result: Any = None) -> Any:
            return await really_sleep(0, result)

        with ExitStack() as patches:
            global_random.seed(self.seed)
            source = Random(self.seed)
            for target, name, value in (
                (ids, "_generator", ids._IdGenerator()),
                (Nudges, "nudge", lambda self, queues: None),
                (Events, "match_soon", lambda self: None),
                (Loop, "wake", lambda self, *, after=0.0: None),
            ):
                patches.enter_context(patch.object(target, name, value))
            for name, value in (
                ("windlass.clock.monotonic", monotonic),
                ("windlass.clock.utcnow", lambda: self.now),
                ("windlass.clock.unix_ns", lambda: int(self.now.timestamp() * 1000) * 1_000_000),
                ("windlass.ids.os.urandom", source.randbytes),
                ("windlass.engine.jobs.enqueue.asyncio.sleep", sleep_not),
            ):
                patches.enter_context(patch(name, value))
            yield


class WatchedDatabase(FaultyDatabase):
    """A database without faults whose commits the ledger sees."""

    def __init__(self, database: Database, simulation: Simulation) -> None:
        super().__init__(database, _Calm(simulation))


@dataclass
class _Calm:
    simulation: Simulation

    async def turn(self) -> Fault:
        return Fault.NONE

    async def pause(self) -> None: ...

    def die(self) -> ProcessDied:
        raise AssertionError("nothing dies here")

    def statement_to_fail(self) -> int:
        return -1

    def committed(self, verbs: Sequence[Committed]) -> None:
        self.simulation.committed("drain", verbs)


async def furnish(database: Database) -> None:
    """Definitions, triggers by time and triggers by event, before the first schedule."""
    storage = Storage(database)
    await storage.definitions.sync_definitions(DEFINITIONS)
    engine = Engine(storage, Settings(), Telemetry(SilentLogger()))
    for name, misfire, seconds in (("all", "all", 20), ("one", "fire_once", 30)):
        await engine.triggers.create(
            name, definition="other", schedule=every(timedelta(seconds=seconds)), misfire=misfire
        )
    for n in range(2):
        await engine.triggers.create(f"paid {n}", definition="plain", event=EVENT)
