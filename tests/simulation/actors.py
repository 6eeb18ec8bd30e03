"""The simulated processes: workers, upkeep, producers, emitters and operators."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from random import Random

from tests.simulation.ledger import Ledger
from tests.support.principals import ROOT
from windlass import clock
from windlass.core.definitions.backoff import Backoff
from windlass.core.jobs import outcome
from windlass.core.jobs.models import ALL_TENANTS, LogLine, NewJob
from windlass.core.jobs.outcome import AttemptEnd
from windlass.core.jobs.query import JobQuery
from windlass.core.leases.lease import Lease, LeaseRef, ProgressReport
from windlass.engine.engine import Engine
from windlass.engine.leases.leases import Leases
from windlass.engine.leases.reaper import Reaper
from windlass.errors import WindlassError
from windlass.ids import DefinitionKey, JobId, QueueName, WorkerId, new_job_id
from windlass.upkeep.bulk_operations import OperationRunner
from windlass.upkeep.housekeeping import GateUpdater, Housekeeping
from windlass.upkeep.scheduler import Scheduler

LEASE_TIME = timedelta(seconds=30)
KNOWN = ("plain", "other", "limited")
EVENT = "order.paid"
_SLOTS = 3
_TICK_SECONDS = 5.0
_SECOND = timedelta(seconds=1)


@dataclass
class Place:
    """State of a simulated process: its engine, its random generator, and the ledger."""

    name: str
    engine: Engine
    random: Random
    ledger: Ledger
    #: Wait to be scheduled without asking the database anything.
    idle: Callable[[], Awaitable[object]]
    #: How often it was scheduled so far.
    turns: Callable[[], int]


async def forever(place: Place, step: Callable[[], Awaitable[object]]) -> None:
    """Repeat a step as a loop of the product does: it survives every error of ours."""
    while True:
        turns = place.turns()
        try:
            await step()
        except WindlassError:
            pass
        if place.turns() == turns:
            await place.idle()


class SimulatedWorker:
    """A worker reduced to what it asks of the engine; attempts take some steps and no time."""

    def __init__(self, place: Place, *, slots: int = _SLOTS) -> None:
        self._place = place
        self._slots = slots
        self._random = place.random
        self._id = WorkerId(place.name)
        self._leases: Leases = place.engine.leases(worker=self._id)
        self._running: dict[LeaseRef, Lease] = {}
        self._ends: list[AttemptEnd] = []
        self._renewed_at = clock.monotonic()
        self._claim_failed = False

    async def run(self) -> None:
        await forever(self._place, self._step)

    async def _step(self) -> None:
        if clock.monotonic() - self._renewed_at >= LEASE_TIME.total_seconds() / 3:
            await self._renew()
        elif self._claim_failed:
            held = [*self._running, *(end.held for end in self._ends)]
            await self._leases.release_unknown(held)
            self._claim_failed = False
        elif self._ends and self._random.random() < 0.6:
            await self.write_ends()
        elif self._running and self._random.random() < 0.6:
            await self._work()
        else:
            await self.claim()

    async def claim(self) -> int:
        """Fill the free slots; how many jobs that brought."""
        free = self._slots - len(self._running) - len(self._ends)
        self._claim_failed = True
        claimed = await self._leases.claim(
            self._id, free, queues=None, known=KNOWN, lease_time=LEASE_TIME
        )
        self._claim_failed = False
        self._running |= {lease.held: lease for lease in claimed.leases}
        return len(claimed.leases)

    def succeed(self) -> None:
        """End all that runs well."""
        for lease in self._running.values():
            self._ends.append(
                outcome.success(lease.held, result='"done"', warnings=None, keep=True)
            )
        self._running.clear()

    async def write_ends(self) -> None:
        await self._leases.finish(self._ends)
        self._ends = []

    async def _renew(self) -> None:
        held = [*self._running, *(end.held for end in self._ends)]
        asked_at = clock.monotonic()
        renewed = await self._leases.renew(held, lease_time=LEASE_TIME)
        self._renewed_at = asked_at
        alive = {LeaseRef(each.job_id, each.token): each for each in renewed}
        for each in list(self._running):
            if each not in alive:
                del self._running[each]
            elif alive[each].cancel_requested:
                self._ends.append(outcome.stopped(self._running.pop(each).held))

    async def _work(self) -> None:
        lease = self._random.choice(list(self._running.values()))
        match self._random.randrange(8):
            case 0:
                await self._leases.report([_progress(lease)])
            case 1:
                await self._leases.log([_line(lease)])
            case 2:
                await self._enqueue_child(lease)
            case 3 | 4:
                self._end(lease, self._failed(lease))
            case 5:
                self._end(lease, outcome.released(lease.held, delay=3 * _SECOND))
            case _:
                end = outcome.success(lease.held, result=None, warnings=None, keep=True)
                self._end(lease, end)

    def _end(self, lease: Lease, end: AttemptEnd) -> None:
        del self._running[lease.held]
        self._ends.append(end)

    def _failed(self, lease: Lease) -> AttemptEnd:
        failure = outcome.Failure(error="simulated", error_type="Simulated")
        verdict = outcome.judge(
            failure,
            attempts=lease.attempts,
            max_attempts=lease.max_attempts,
            backoff=Backoff(),
            random=self._random,
        )
        return outcome.failed(lease.held, failure, verdict)

    async def _enqueue_child(self, lease: Lease) -> None:
        child = a_job(self._random)._replace(after=(lease.job_id,))
        await enqueue(self._place, [child])


async def work(place: Place) -> None:
    """Claim, renew, report and finish."""
    await SimulatedWorker(place).run()


class SimulatedUpkeep:
    """The product's own loops of upkeep, one tick at a time."""

    def __init__(self, place: Place) -> None:
        engine = place.engine
        self._place = place
        self.reaper = Reaper(engine.leases(), engine.storage, lease_time=LEASE_TIME)
        self.housekeeping = Housekeeping(engine)
        self.scheduler = Scheduler(engine, tick_seconds=_TICK_SECONDS)
        self.operating = OperationRunner(engine)
        self._regating = GateUpdater(engine)

    async def run(self) -> None:
        await forever(self._place, self._step)

    async def _step(self) -> object:
        ticks = (
            self.reaper.tick,
            self.reaper.tick,
            self.scheduler.tick,
            self.housekeeping.tick,
            self.operating.tick,
            self._regating.tick,
        )
        return await self._place.random.choice(ticks)()


async def keep_up(place: Place) -> None:
    """Reap, schedule, match events, admit, fold."""
    await SimulatedUpkeep(place).run()


async def produce(place: Place) -> None:
    """Enqueue jobs until they are acknowledged."""

    async def step() -> None:
        jobs = [a_job(place.random) for _ in range(place.random.randint(1, 3))]
        for _ in range(3):
            try:
                await enqueue(place, jobs)
                break
            except WindlassError:
                continue  # the same ids again: harmless if the response was lost

    await forever(place, step)


async def emit(place: Place) -> None:
    """Tell of events."""
    events = place.engine.events

    async def step() -> None:
        await events.emit(events.make(EVENT, {"n": place.random.randrange(100)}))

    await forever(place, step)


async def operate(place: Place) -> None:
    """Cancel, retry, hurry and pause, one job or all, as a person does."""
    storage, random = place.engine.storage, place.random

    async def step() -> None:
        if random.random() < 0.2:
            await storage.leases.upsert_queue(QueueName("mail"), paused=random.random() < 0.3)
        if random.random() < 0.1:
            action = random.choice(("cancel", "retry", "run_now"))
            await place.engine.operations.create(ROOT, action, JobQuery(), query="all")
        known = sorted(place.ledger.acknowledged)
        if not known:
            return
        chosen = random.choice(known)
        match random.randrange(4):
            case 0:
                await storage.jobs.cancel(ALL_TENANTS, [chosen])
            case 1:
                await storage.jobs.run_now(ALL_TENANTS, chosen)
            case _:
                ended = sorted(id for id in known if id in place.ledger.ended)
                await storage.jobs.retry(ALL_TENANTS, random.choice(ended or known))

    await forever(place, step)


def a_job(random: Random) -> NewJob:
    """Any job."""
    return NewJob(
        id=new_job_id(),
        definition=DefinitionKey(random.choice(KNOWN)),
        payload="{}",
        queue=QueueName(random.choice(("default", "mail"))),
        max_attempts=random.randint(1, 4),
        delay=random.choice((None, None, 2 * _SECOND, 20 * _SECOND)),
        dedupe_key=random.choice((None, None, "a", "b")),
        idempotency_key=random.choice((None, None, None, f"once {random.randrange(6)}")),
    )


async def enqueue(place: Place, jobs: list[NewJob]) -> None:
    """Enqueue, and note what was acknowledged as made."""
    for receipt in await place.engine.jobs.enqueue_many(jobs):
        if receipt.status == "created":
            place.ledger.acknowledged.add(JobId(receipt.job_id))


def _line(lease: Lease) -> LogLine:
    return LogLine(
        job_id=lease.job_id, attempt=lease.token, level="info", message="m", at=clock.utcnow()
    )


def _progress(lease: Lease) -> ProgressReport:
    return ProgressReport(job_id=lease.job_id, token=lease.token, fraction=0.5, note=None)
