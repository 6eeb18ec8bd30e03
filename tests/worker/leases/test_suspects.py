"""A worker runs suspects one at a time, and some only while nothing else runs in it."""

import asyncio
from datetime import timedelta

import pytest

from tests.support.job_builders import enqueue, job, state_of
from tests.support.wait import until
from windlass import JobContext, Settings, Windlass
from windlass.core.jobs.states import JobState
from windlass.core.leases.gates import suspect_gate
from windlass.engine.engine import Engine
from windlass.storage.storage import open_storage
from windlass.telemetry import Telemetry
from windlass.worker.options import WorkerOptions
from windlass.worker.worker import Worker

SUSPECT = suspect_gate("", "plain")
ALONE = suspect_gate("", "plain", alone=True)
OPTIONS = WorkerOptions(
    concurrency=4, poll=timedelta(milliseconds=20), lease_time=timedelta(seconds=30)
)


@pytest.fixture
async def engine(file_url, heard):
    """At real time: a worker waits for things to become due."""
    engine = Engine(open_storage(file_url), Settings(), Telemetry(heard))
    yield engine
    await engine.close()


@pytest.fixture
def storage(engine):
    return engine.storage


class Handlers:
    """Runs that go on until they may end, and who ran beside whom."""

    def __init__(self) -> None:
        self.running: set[str] = set()
        self.beside: dict[str, set[str]] = {}
        self.may_end: set[str] = set()
        self.all_may_end = False

    async def run(self, name: str) -> None:
        self.running.add(name)
        self.beside[name] = self.running - {name}
        await until(lambda: self.all_may_end or name in self.may_end)
        self.running.discard(name)


@pytest.fixture
def handlers():
    return Handlers()


@pytest.fixture
async def worker(engine, handlers):
    wl = Windlass("sqlite:///never-opened.db", settings=Settings())

    @wl.job("plain")
    async def plain(ctx: JobContext, name: str) -> None:
        await handlers.run(name)

    for handler in wl.handlers.values():
        engine.definitions.declare(handler.definition)
    await engine.ready()
    worker = Worker(engine, wl.handlers, OPTIONS)
    yield worker
    handlers.all_may_end = True


@pytest.fixture
async def work(worker, handlers):
    tasks = []

    def begin():
        tasks.append(asyncio.create_task(worker.run()))
        return tasks[0]

    yield begin
    handlers.all_may_end = True
    worker.stop()
    await asyncio.gather(*tasks, return_exceptions=True)


async def put(storage, name, **changes):
    return await enqueue(storage, payload=f'{{"name": "{name}"}}', **changes)


async def test_suspects_run_one_after_the_other_and_ordinary_jobs_beside_them(
    work, storage, handlers
):
    suspects = [await put(storage, f"suspect {n}", gate=SUSPECT) for n in range(5)]
    ordinary = await put(storage, "ordinary")
    work()
    await until(lambda: "ordinary" in handlers.running)

    for count in range(1, len(suspects) + 1):
        await until(lambda count=count: len(handlers.beside) == 1 + count)
        handlers.may_end = set(handlers.beside) - {"ordinary"}

    for name, others in handlers.beside.items():
        if name.startswith("suspect"):
            assert others <= {"ordinary"}
    assert await state_of(storage, ordinary) is JobState.RUNNING


async def test_a_job_that_must_run_alone_starts_when_the_others_have_ended(work, storage, handlers):
    await put(storage, "first")
    work()
    await until(lambda: handlers.running == {"first"})
    alone = await put(storage, "alone", gate=ALONE)
    await until(lambda: claimed(storage, alone))
    later = await put(storage, "later")

    handlers.may_end.add("first")
    await until(lambda: "alone" in handlers.running)
    assert await state_of(storage, later) is JobState.QUEUED
    handlers.may_end.add("alone")
    await until(lambda: "later" in handlers.running)

    assert handlers.beside["alone"] == set()
    assert handlers.beside["later"] == set()


async def test_a_job_that_must_run_alone_starts_when_other_outcomes_are_recorded(
    work, storage, handlers, monkeypatch
):
    finish, had_started = storage.leases.finish, []

    async def finish_slowly(*args, **options):
        for _ in range(100):
            await asyncio.sleep(0)
        ended = await finish(*args, **options)
        had_started.append("alone" in handlers.beside)
        return ended

    await put(storage, "first")
    work()
    await until(lambda: handlers.running == {"first"})
    alone = await put(storage, "alone", gate=ALONE)
    await until(lambda: claimed(storage, alone))
    monkeypatch.setattr(storage.leases, "finish", finish_slowly)

    handlers.may_end.add("first")
    await until(lambda: "alone" in handlers.running)

    # A lease that is not ended yet would be lost together with the job that took the worker down.
    assert had_started == [False]


async def test_a_forced_stop_hands_back_a_job_that_waits_to_run_alone(
    worker, work, storage, handlers
):
    await put(storage, "first")
    running = work()
    await until(lambda: handlers.running == {"first"})
    alone = await put(storage, "alone", gate=ALONE)
    await until(lambda: claimed(storage, alone))

    worker.stop()
    worker.stop()
    await running

    back = await job(storage, alone)
    assert (back.state, back.attempts) == (JobState.QUEUED, 0)
    assert "alone" not in handlers.beside


async def test_a_job_that_waits_to_run_alone_still_runs_when_its_worker_drains(
    worker, work, storage, handlers
):
    await put(storage, "first")
    running = work()
    await until(lambda: handlers.running == {"first"})
    alone = await put(storage, "alone", gate=ALONE)
    await until(lambda: claimed(storage, alone))

    worker.stop()
    handlers.all_may_end = True
    await running

    assert await state_of(storage, alone) is JobState.COMPLETED


async def claimed(storage, id):
    return await state_of(storage, id) is JobState.RUNNING
