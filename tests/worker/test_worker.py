"""The worker: slots, claims, loops that survive errors, orders and shutdown."""

import asyncio
import threading
from dataclasses import replace
from datetime import timedelta

import pytest
import structlog

from tests.support.busy_loops import no_busy_loop
from tests.support.job_builders import a_definition, enqueue, ids_in, job
from tests.support.wait import until
from windlass import JobContext, Settings, Windlass
from windlass.core.jobs.states import JobState
from windlass.core.leases.worker_orders import WorkerOrder
from windlass.engine.engine import Engine
from windlass.errors import DatabaseUnreachable, EpochChanged
from windlass.storage.monitoring.installation import TOKEN_STEP
from windlass.storage.storage import open_storage
from windlass.telemetry import Telemetry
from windlass.worker import attempt as attempt_module
from windlass.worker import worker as module
from windlass.worker.health_probe import HealthServer
from windlass.worker.options import WorkerOptions
from windlass.worker.worker import Worker

QUICK = WorkerOptions(
    concurrency=2,
    poll=timedelta(milliseconds=20),
    lease_time=timedelta(seconds=30),
    shutdown_time=timedelta(seconds=30),
)
ALONE = replace(QUICK, concurrency=1)


@pytest.fixture
async def engine(file_url, heard):
    """At real time: a worker waits for things to become due."""
    engine = Engine(open_storage(file_url), Settings(), Telemetry(heard))
    yield engine
    await engine.close()


@pytest.fixture
def storage(engine):
    return engine.storage


@pytest.fixture
def gate():
    gate = threading.Event()
    yield gate
    gate.set()


@pytest.fixture
async def app(engine, gate):
    """Handlers that wait for the gate, and their definitions."""
    wl = Windlass("sqlite:///never-opened.db", settings=Settings())

    @wl.job("plain")
    async def plain(ctx: JobContext) -> str:
        await until(gate.is_set)
        return "done"

    @wl.job("deaf")
    def deaf() -> None:
        gate.wait()

    @wl.job("talkative")
    def talkative(ctx: JobContext) -> None:
        for number in range(120):
            ctx.log.info("line", number=number)

    for handler in wl.handlers.values():
        engine.definitions.declare(handler.definition)
    await engine.ready()
    return wl


@pytest.fixture
async def work(engine, app):
    """Runs a worker; what is still running at the end is hurried."""
    tasks = []

    def begin(options=QUICK):
        worker = Worker(engine, app.handlers, options)
        task = asyncio.create_task(worker.run())
        tasks.append((worker, task))
        return worker, task

    yield begin
    for worker, task in tasks:
        worker.stop()
        worker.stop()
        await asyncio.gather(task, return_exceptions=True)


async def put(storage, **changes):
    return await enqueue(storage, payload="{}", **changes)


async def ended(storage, *ids, state=JobState.COMPLETED):
    async def look():
        return set(ids) <= await ids_in(storage, state)

    await until(look)


async def test_a_claim_asks_for_free_slots_only(work, storage):
    for _ in range(5):
        await put(storage)
    worker, _ = work()
    await until(lambda: worker.running == 2)
    await asyncio.sleep(0.1)

    assert len(await ids_in(storage, JobState.RUNNING)) == 2


async def test_a_freed_slot_is_filled(work, storage, gate):
    ids = [await put(storage) for _ in range(7)]
    worker, _ = work()
    await until(lambda: worker.running == 2)

    gate.set()

    await ended(storage, *ids)


async def test_chatty_handlers_in_threads_do_not_stop_the_worker(work, storage):
    ids = [await put(storage, definition="talkative") for _ in range(30)]

    with structlog.testing.capture_logs(), no_busy_loop():
        worker, running = work(replace(QUICK, concurrency=8))
        await ended(storage, *ids)
        worker.stop()
        await running

    for id in ids:
        found = await job(storage, id)
        lines = await storage.jobs.logs(found, limit=200)
        assert [line.fields["number"] for line in lines] == list(range(120))


@pytest.mark.parametrize("away", [False, True], ids=["idle", "without its database"])
async def test_none_of_its_loops_spins(work, engine, storage, monkeypatch, away):
    looks = []
    survey = storage.leases.survey

    async def counted(*about, **more):
        looks.append(1)
        if away:
            raise DatabaseUnreachable("postgresql://db/shop")
        return await survey(*about, **more)

    monkeypatch.setattr(storage.leases, "survey", counted)
    with no_busy_loop(most_rounds=500):
        work()
        for _ in range(3):
            engine.nudges.wake_local({"*"})
            seen = len(looks)
            await until(lambda before=seen: len(looks) > before)


async def test_jobs_of_unknown_definitions_wait(work, storage, engine, gate):
    await a_definition(storage, "novel")
    unknown = await put(storage, definition="novel")
    known = await put(storage)
    gate.set()
    work()

    await ended(storage, known)

    assert (await job(storage, unknown)).state is JobState.QUEUED


@pytest.mark.parametrize(
    "error", [DatabaseUnreachable("postgresql://db/shop"), ZeroDivisionError()]
)
async def test_a_failed_claim_is_retried(work, storage, gate, heard, monkeypatch, error):
    failing = [error] * 3
    survey = storage.leases.survey

    async def fail(*args, **kwargs):
        if failing:
            raise failing.pop()
        return await survey(*args, **kwargs)

    monkeypatch.setattr(storage.leases, "survey", fail)
    id = await put(storage)
    gate.set()
    work()

    await ended(storage, id)
    assert "claiming failed" in heard.events()


async def test_cancels_are_noticed_although_the_watch_fails(
    work, storage, engine, heard, monkeypatch
):
    failing = [OSError("no sockets left")] * 2
    watch = storage.database.watch

    async def fail(queues):
        if failing:
            raise failing.pop()
        return await watch(queues)

    monkeypatch.setattr(storage.database, "watch", fail)
    id = await put(storage)
    worker, _ = work()
    await until(lambda: worker.running)

    await engine.jobs.cancel(id)

    await ended(storage, id, state=JobState.CANCELED)
    assert "listening failed" in heard.events()


async def test_a_full_worker_does_not_poll_for_due_jobs(work, storage, monkeypatch):
    for _ in range(2):
        await put(storage)
    await put(storage, delay=timedelta(milliseconds=30))
    worker, _ = work()
    await until(lambda: worker.running == 2)
    sleeps = []
    sleep = worker.pace.sleep

    async def counted(seconds):
        sleeps.append(seconds)
        await sleep(seconds)

    monkeypatch.setattr(worker.pace, "sleep", counted)
    await asyncio.sleep(0.3)

    assert len(sleeps) < 30


async def test_a_stopped_worker_lets_runs_finish(work, storage, gate):
    id = await put(storage)
    worker, running = work()
    await until(lambda: worker.running)

    worker.stop()
    await asyncio.sleep(0.05)
    assert not running.done()
    gate.set()

    assert await running == 0
    assert (await job(storage, id)).state is JobState.COMPLETED
    assert await storage.leases.workers() == []


async def test_a_second_stop_hands_back_at_once(work, storage):
    id = await put(storage)
    worker, running = work()
    await until(lambda: worker.running)

    worker.stop()
    worker.stop()

    assert await running == 0
    back = await job(storage, id)
    assert (back.state, back.attempts) == (JobState.QUEUED, 0)


async def test_a_stop_after_draining_does_not_force(work, storage, gate):
    id = await put(storage)
    worker, running = work()
    await until(lambda: worker.running)

    worker.drain()
    worker.stop()
    await asyncio.sleep(0.05)
    gate.set()

    assert await running == 0
    assert (await job(storage, id)).state is JobState.COMPLETED


async def test_a_worker_above_its_memory_limit_drains_and_ends(work, storage, gate, heard):
    gate.set()
    _, running = work(WorkerOptions(memory_limit_mb=1, poll=QUICK.poll))

    async with asyncio.timeout(10):
        assert await running == 0
    assert "above its memory limit, draining" in heard.events()


async def test_a_worker_with_every_slot_stuck_ends(work, storage, heard, monkeypatch):
    monkeypatch.setattr(attempt_module, "GRACE_SECONDS", 0.02)
    id = await put(storage, definition="deaf", timeout_seconds=0.02, max_attempts=1)
    worker, running = work(WorkerOptions(concurrency=1, poll=QUICK.poll))

    async with asyncio.timeout(10):
        assert await running == 0
    assert worker.all_slots_stuck
    assert (await job(storage, id)).last_error == "Job exceeded timeout of 0.02s"
    assert "every slot is stuck, draining" in heard.events()


async def test_jobs_left_at_shutdown_are_counted_and_logged(
    work, storage, gate, heard, monkeypatch
):
    monkeypatch.setattr(module, "GRACE_SECONDS", -4.9)  # so that the last wait is short
    id = await put(storage)
    worker, running = work()
    await until(lambda: worker.running)

    async def away(*_):
        raise DatabaseUnreachable("postgresql://db/shop")

    monkeypatch.setattr(storage.leases, "finish", away)
    gate.set()
    worker.stop()

    assert await running == 1
    [told] = [about for _, event, about in heard.said if "neither be finished" in event]
    assert told["job_ids"] == [str(id)]
    assert (await job(storage, id)).state is JobState.RUNNING, "its lease will run out"


async def test_a_running_worker_has_a_row(work, storage):
    worker, running = work()

    [row] = await until(storage.leases.workers)
    worker.stop()
    await running

    assert row.id == worker.id
    assert set(row.definitions) == {"plain", "deaf", "talkative"}
    assert await storage.leases.workers() == []


async def test_a_drain_order_stops_claims_and_the_worker_stays(work, engine, storage, gate):
    running_one = await put(storage)
    worker, running = work(ALONE)
    await until(lambda: worker.running)

    await engine.workers.drain(worker.id)
    await until(lambda: worker.effective_order is WorkerOrder.DRAIN)
    waiting = await put(storage)
    gate.set()
    await ended(storage, running_one)
    row = await until(lambda: seen(storage, slots_used=0))

    assert (row.wanted, row.doing) == (WorkerOrder.DRAIN, WorkerOrder.DRAIN)
    assert (await job(storage, waiting)).state is JobState.QUEUED
    assert not running.done()


async def test_a_worker_that_drains_is_not_ready_for_work(work, engine, storage):
    worker, _ = work()
    await until(storage.leases.workers)
    health = HealthServer([worker], host="127.0.0.1", port=0)

    await engine.workers.drain(worker.id)
    await until(lambda: worker.effective_order is WorkerOrder.DRAIN)

    assert (await health.respond("/readyz")).body == b"draining\n"


async def test_a_worker_that_drained_and_is_resumed_claims_again(work, engine, storage, gate):
    gate.set()
    worker, _ = work()
    await until(storage.leases.workers)
    await engine.workers.drain(worker.id)
    await until(lambda: seen(storage, doing=WorkerOrder.DRAIN))
    id = await put(storage)

    await engine.workers.resume(worker.id)

    await ended(storage, id)
    await until(lambda: seen(storage, doing=WorkerOrder.RUN))


async def test_a_stop_order_lets_runs_finish(work, engine, storage, gate):
    id = await put(storage)
    worker, running = work()
    await until(lambda: worker.running)

    await engine.workers.stop(worker.id)
    await until(lambda: seen(storage, doing=WorkerOrder.STOP))
    assert not running.done()
    gate.set()

    assert await running == 0
    assert (await job(storage, id)).state is JobState.COMPLETED
    assert await storage.leases.workers() == []


async def test_a_stop_order_after_a_signal_does_not_force(work, engine, storage, gate):
    id = await put(storage)
    worker, running = work()
    await until(lambda: worker.running)
    worker.stop()

    await engine.workers.stop(worker.id)
    await until(lambda: seen(storage, wanted=WorkerOrder.STOP, doing=WorkerOrder.STOP))
    gate.set()

    assert await running == 0
    assert (await job(storage, id)).state is JobState.COMPLETED


async def test_without_nudges_an_order_comes_with_the_next_heartbeat(work, engine, storage):
    worker, _ = work(WorkerOptions(poll=QUICK.poll, lease_time=timedelta(seconds=1)))
    await until(storage.leases.workers)

    await storage.leases.set_worker_order(worker.id, WorkerOrder.DRAIN)

    await until(lambda: seen(storage, doing=WorkerOrder.DRAIN))


async def test_a_worker_of_one_queue_gets_its_order_by_a_nudge(work, file_url, storage):
    worker, _ = work(replace(QUICK, queues=("default",), lease_time=timedelta(hours=1)))
    await until(storage.leases.workers)
    other = Engine(open_storage(file_url), Settings(), Telemetry())

    await other.workers.drain(worker.id)

    await until(
        lambda: worker.effective_order is WorkerOrder.DRAIN
    )  # and not with the beat, in 20 minutes
    await other.close()


async def seen(storage, **fields):
    """The worker's row, once its fields are these."""
    rows = [row for row in await storage.leases.workers() if vars_of(row, fields) == fields]
    return rows[0] if rows else None


def vars_of(row, fields):
    return {name: getattr(row, name) for name in fields}


async def test_a_worker_ends_when_its_database_was_restored(work, storage, engine, gate):
    id = await put(storage)
    worker, running = work(replace(QUICK, lease_time=timedelta(seconds=1)))
    await until(lambda: worker.running == 1)

    async def has_a_row():
        return bool(await storage.leases.workers())

    await until(has_a_row)

    assert await engine.epochs.begin() == 1
    gate.set()

    with pytest.raises(EpochChanged):
        async with asyncio.timeout(60):
            await running
    back = await job(storage, id)
    # It may have claimed the job anew before it heard; only such a run is recorded.
    assert back.state is JobState.QUEUED or back.lease_token == TOKEN_STEP + 1
