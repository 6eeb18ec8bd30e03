"""One chaos run: a fleet at work, faults in a seeded order, and the findings."""

import asyncio
import contextlib
import os
import signal
import socket
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

from tests.chaos.processes.definitions import DRIVERS_PRIORITY
from tests.chaos.processes.fleet import Fleet, Member
from tests.chaos.processes.ledger_lines import digest, note
from tests.chaos.processes.producer import HOLD
from tests.chaos.progress import Progress
from tests.chaos.setups import Setup
from tests.support.processes.ledger import GATES
from tests.support.processes.processes import Process
from windlass import Windlass, WindlassError, every

#: How long the driver waits for anything before it goes on: a busy machine is slow.
PATIENCE = 60.0
#: How often a fault is injected until it bites.
TRIES = 3
SCHEDULES = 5
INTERVAL = timedelta(seconds=2)


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What a run is to be; the same seed gives the same mix in the same order."""

    setup: str
    seed: int = 1
    #: Jobs to be acknowledged at least, and how long it lasts at least.
    jobs: int = 300
    minutes: float = 0.0
    workers: int = 3
    concurrency: int = 6
    lease_seconds: int = 3
    #: Jobs that may wait before producers do.
    backlog: int = 100
    #: Seconds that a producer waits after each batch.
    pause: float = 0.0


@dataclass(frozen=True)
class Bite:
    """What came of a fault: what it hit, and how long it took until work went on."""

    bites: int
    evidence: str
    recovered_seconds: float | None = None


class ChaosRun:
    """What faults are injected into."""

    def __init__(
        self, plan: Plan, setup: Setup, fleet: Fleet, progress: Progress, wl: Windlass
    ) -> None:
        self.plan = plan
        self.setup = setup
        self.fleet = fleet
        self.progress = progress
        self.wl = wl
        self.random = Random(plan.seed)
        self.lease = float(plan.lease_seconds)

    async def until(
        self, look: Callable[[], Any], *, within: float = PATIENCE, every: float = 0.05
    ) -> Any:
        """What `look` finds once that is something, or None after a while."""
        deadline = time.monotonic() + within
        while time.monotonic() < deadline:
            self.progress.look()
            if found := look():
                return found
            await asyncio.sleep(every)
        return None

    async def more(self, ends: int, *, within: float = PATIENCE) -> bool:
        """Wait until so many more runs have ended."""
        goal = self.progress.look().ended + ends
        return bool(await self.until(lambda: self.progress.ended >= goal, within=within))

    async def surely(self, call: Callable[[], Awaitable[Any]]) -> Any:
        """What a call answers, asked again while the database is away."""
        deadline = time.monotonic() + 2 * PATIENCE
        while True:
            try:
                return await call()
            except WindlassError:
                if time.monotonic() > deadline:
                    raise
                await asyncio.sleep(0.2)

    async def enqueue(self, definition: str, **payload: Any) -> str:
        """Enqueue one job of the driver's own; its id."""
        number = payload.setdefault("number", self.random.getrandbits(40))
        job = await self.surely(
            lambda: self.wl.make(definition, payload, priority=DRIVERS_PRIORITY)
        )
        receipt = await self.surely(lambda: self.wl.enqueue_many([job]))
        about = {"definition": definition, "digest": digest(number, ""), "status": "created"}
        note("acknowledged", synced=True, jobs=[{"job": str(receipt[0].job_id), **about}])
        return str(receipt[0].job_id)

    async def busy_worker(self, seconds: float) -> tuple[Member, str, int] | None:
        """A worker that runs a job of so many seconds, the job, and its fence."""
        job = await self.enqueue("lasting", seconds=seconds)

        def look() -> tuple[Member, str, int] | None:
            line = self.progress.last_start.get(job)
            member = self.fleet.by_pid(line["pid"]) if line else None
            return (member, job, line["fence"]) if line and member else None

        found: tuple[Member, str, int] | None = await self.until(look)
        return found

    async def again(self, job: str, fence: int) -> float | None:
        """When a job started under a later token; None if the run of this one ended after all."""

        def restarted_at() -> float | None:
            line = self.progress.last_start.get(job)
            return line["at"] if line and line["fence"] > fence else None

        def has_ended() -> bool:
            line = self.progress.last_end.get(job)
            return line is not None and line["fence"] == fence

        await self.until(lambda: restarted_at() or has_ended())
        return restarted_at()

    def kill(self, process: Process) -> None:
        """SIGKILL, and a note of the runs that it hits."""
        self.progress.look()
        hit = [
            list(run) for run, line in self.progress.under_way.items() if line["pid"] == process.pid
        ]
        note("hit", runs=hit)
        process.signal(signal.SIGKILL)

    def outages(self) -> int:
        """How often somebody has said so far that a call failed."""
        said = sum(path.read_bytes().count(b' failed"') for path in self.fleet.outputs())
        return said + self.progress.look().refused

    async def through(
        self, fault: Callable[[], Awaitable[object]], *, back: Callable[[], float] = time.monotonic
    ) -> Bite:
        """Put the database through a fault; what bit, and when work went on after it."""
        before, began = self.outages(), time.monotonic()
        await fault()
        over = back()
        start = await self.until(lambda: self.progress.first_start_after(over))
        pause = self._longest_pause(began, start or time.monotonic())
        said = self.outages() - before
        stood_still = int(pause > 1.0)
        recovered = start - over if start else None
        return Bite(
            said + stood_still,
            f"{said} calls were reported as failed, no job started for {pause:.1f} s",
            recovered,
        )

    def _longest_pause(self, began: float, ended: float) -> float:
        times = [began, *(at for at in self.progress.started_at if began < at < ended), ended]
        return max(later - earlier for earlier, later in pairwise(times))


Fault = Callable[[ChaosRun], Awaitable[Bite]]


async def start_fleet(run: ChaosRun) -> None:
    """Start everything, some of it behind the proxy."""
    fleet, setup, seed = run.fleet, run.setup, run.plan.seed
    await _prepare(run)
    fleet.worker(setup.proxied_url)
    for _ in range(run.plan.workers - 1):
        fleet.worker(setup.url)
    fleet.scheduler(setup.url)
    fleet.scheduler(setup.url)
    fleet.server(setup.url, _free_port())
    pause = f"{run.plan.pause}"
    fleet.program("producer", setup.proxied_url, f"{seed}a", pause)
    fleet.program("producer", setup.url, f"{seed}b", pause)
    fleet.program("operator", setup.url, f"{seed}")
    ready = {"worker", "producer", "operator"}
    waiting = [member for member in fleet.members if member.kind in ready]
    await run.until(lambda: all(m.process and m.pid in run.progress.seen for m in waiting))


async def _prepare(run: ChaosRun) -> None:
    """Make the definitions known, and what fires them."""
    await run.surely(run.wl.ready)
    for number in range(SCHEDULES):
        await run.wl.schedules.create(
            f"beat {number}", definition="beat", schedule=every(INTERVAL), misfire="all"
        )
    await run.wl.triggers.create(
        "heard", definition="heard", event="said", payload={"number": "{{event.number}}"}
    )


#: Faults that are injected one after the other; what is in different lanes happens together.
Lane = Mapping[str, Fault]


async def inject(run: ChaosRun, lanes: Sequence[Lane]) -> None:
    """Every fault in a seeded order, again and again until there are enough jobs."""
    began, pacing = time.monotonic(), asyncio.create_task(_pace(run))

    def is_over() -> bool:
        enough = run.progress.look().acknowledged >= run.plan.jobs
        return enough and time.monotonic() - began >= run.plan.minutes * 60

    try:
        await asyncio.gather(
            *(
                _inject(run, lane, Random(f"{run.plan.seed} {n}"), is_over)
                for n, lane in enumerate(lanes)
            )
        )
    finally:
        pacing.cancel()


async def _inject(run: ChaosRun, lane: Lane, random: Random, is_over: Callable[[], bool]) -> None:
    """Go through a lane, and through it again what did not bite."""
    left = sorted(lane)
    for _ in range(TRIES):
        left = [kind for kind in random.sample(left, len(left)) if not await _one(run, kind, lane)]
    while not is_over():
        await run.more(run.plan.backlog, within=10)
        await _one(run, random.choice(sorted(lane)), lane)


async def _one(run: ChaosRun, kind: str, lane: Lane) -> bool:
    """Inject one fault; whether it bit."""
    await run.more(10, within=5)
    began = time.monotonic()
    try:
        bite = await lane[kind](run)
    except Exception as error:
        # A fault that cannot be injected is one that did not bite; the others go on.
        bite = Bite(0, f"{type(error).__name__}: {error}")
    note(
        "fault",
        kind=kind,
        bites=bite.bites,
        evidence=bite.evidence,
        recovered=bite.recovered_seconds,
        seconds=time.monotonic() - began,
    )
    print(f"{time.monotonic() - began:6.1f} s  {kind}: {bite.evidence}", flush=True)
    return bool(bite.bites)


async def _pace(run: ChaosRun) -> None:
    """Let producers wait while many jobs do."""
    hold = Path(os.environ[GATES], HOLD)
    while True:
        progress = run.progress.look()
        waiting = progress.acknowledged - progress.ended
        if waiting > run.plan.backlog:
            hold.touch()  # noqa: ASYNC240  as fast as an await
        elif waiting < run.plan.backlog / 2:
            hold.unlink(missing_ok=True)  # noqa: ASYNC240
        await asyncio.sleep(0.1)


async def drain(run: ChaosRun) -> None:
    """Stop what makes jobs, and let the workers finish what there is."""
    fleet = run.fleet
    await fleet.stop([*fleet.of("producer"), *fleet.of("operator")])
    _deploy_everything(run)
    await run.surely(lambda: _end_schedules(run))
    left = await _all_ended(run)
    note("drained", left=left)
    await _find_idle(run)
    await _all_ended(run)
    await fleet.stop([*fleet.workers(), *fleet.of("server"), *fleet.of("scheduler")])


def _deploy_everything(run: ChaosRun) -> None:
    """From now on at least one worker knows all definitions."""
    worker = run.fleet.workers()[-1]
    if worker.release != "2":
        worker.release = "2"
        if worker.process is not None:
            worker.process.terminate()


async def _all_ended(run: ChaosRun) -> int:
    """Wait for the end of all jobs for as long as runs end; how many are left."""
    ended, since = run.progress.look().ended, time.monotonic()
    while left := await run.surely(lambda: _open(run)):
        if run.progress.look().ended != ended:
            ended, since = run.progress.ended, time.monotonic()
        if time.monotonic() - since > PATIENCE:
            break
        await asyncio.sleep(0.1)
    return int(left)


async def _end_schedules(run: ChaosRun) -> None:
    """Let the schedulers catch up, note how far they are, and end the schedules."""
    deadline = time.monotonic() + PATIENCE
    while True:
        now = await run.wl.engine.storage.now()
        rows = [await run.wl.schedules.get(f"beat {number}") for number in range(SCHEDULES)]
        behind = [row for row in rows if row.next_run_at and row.next_run_at <= now]
        if not behind or time.monotonic() > deadline:
            break
        await asyncio.sleep(0.1)
    for row in rows:
        if row.next_run_at:
            note("fired", schedule=row.id, next_run_at=row.next_run_at.timestamp())
        await run.wl.schedules.disable(row.name)


async def _open(run: ChaosRun) -> int:
    summary = await run.wl.jobs.list(states=["pending", "queued", "running"], limit=500)
    return len([job for job in summary.jobs if not job.definition.startswith("system.")])


async def _find_idle(run: ChaosRun) -> None:
    """Each worker that is alive has to start something while jobs come."""
    idle = {member.name: member for member in run.fleet.workers()}
    since = time.monotonic()
    while idle and time.monotonic() < since + PATIENCE:
        for _ in range(len(run.fleet.workers()) * 2):
            await run.enqueue("lasting", seconds=0.2)
        await asyncio.sleep(0.3)
        run.progress.look()
        for name, member in list(idle.items()):
            seen = run.progress.seen.get(member.pid) if member.is_running else None
            if seen and seen["what"] == "started" and seen["at"] > since:
                del idle[name]
    for name in idle:
        note("idle", idler=name)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@asynccontextmanager
async def supervised(fleet: Fleet) -> AsyncIterator[None]:
    """Have the supervisor at work while the block lasts."""
    supervising = asyncio.create_task(fleet.supervise())
    try:
        yield
    finally:
        supervising.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await supervising
