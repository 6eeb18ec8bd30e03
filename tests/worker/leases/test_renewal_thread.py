"""The renewal thread renews leases, sends the heartbeat and ends blocked runs."""

import asyncio
import threading
from datetime import timedelta

import pytest

from tests.support.job_builders import LEASE_TIME, SECOND, enqueue, job, lost
from tests.support.wait import until
from windlass import JobContext, Settings, Windlass
from windlass.core.jobs.states import JobState, Outcome
from windlass.core.leases.worker_orders import WorkerOrder
from windlass.errors import DatabaseTimeout, DatabaseUnreachable
from windlass.worker.leases.watchdog import Blockage
from windlass.worker.options import WorkerOptions
from windlass.worker.worker import Worker

OPTIONS = WorkerOptions(concurrency=4, lease_time=LEASE_TIME)


@pytest.fixture
def app(engine):
    """A handler in the loop and one in a thread, both of which wait until they are stopped."""
    wl = Windlass("sqlite:///never-opened.db", settings=Settings())

    @wl.job("plain")
    async def plain(ctx: JobContext) -> None:
        await asyncio.Event().wait()

    @wl.job("quick")
    async def quick() -> str:
        return "done"

    for handler in wl.handlers.values():
        engine.definitions.declare(handler.definition)
    return wl


@pytest.fixture
async def worker(engine, app):
    await engine.ready()
    worker = Worker(engine, app.handlers, OPTIONS)
    worker.renewal.watch_this_loop()
    yield worker
    for run in worker.held.values():
        run.stop("shutdown")
    await worker.settled()
    await worker.renewal.stop()


@pytest.fixture
def renewal(worker):
    return worker.renewal


@pytest.fixture
async def running(worker, storage):
    """Runs of the worker that have begun."""
    ids = [await enqueue(storage, payload="{}", max_attempts=1) for _ in range(2)]
    assert await worker.tick() == 2
    await asyncio.sleep(0)
    runs = {held.job_id: run for held, run in worker.held.items()}
    return [runs[id] for id in ids]


def blocks(run, *, expired=False, seconds=3.0):
    return Blockage(seconds, run, "the stack\n", (run,) if expired else ())


def show(monkeypatch, renewal, blockage):
    """Let the watchdog find this."""
    monkeypatch.setattr(renewal._watchdog, "tick", lambda: blockage)


async def test_a_tick_renews_leases_and_sends_the_heartbeat(
    renewal, running, worker, storage, clock
):
    await clock.advance(10 * SECOND)

    await renewal.tick()

    for run in running:
        assert (await job(storage, run.held.job_id)).lease_expires_at == clock.now + LEASE_TIME
    [row] = await storage.leases.workers()
    assert (row.id, row.slots_used) == (worker.id, 2)


async def test_an_operators_order_is_passed_to_the_worker(renewal, worker, storage):
    await renewal.tick()
    await storage.leases.set_worker_order(worker.id, WorkerOrder.DRAIN)
    obeyed = []
    worker.on_stop_order = lambda: obeyed.append(WorkerOrder.STOP)

    await storage.leases.set_worker_order(worker.id, WorkerOrder.STOP)
    await renewal.tick()
    await asyncio.sleep(0)

    assert obeyed == [WorkerOrder.STOP]


async def test_a_run_that_lost_its_lease_is_stopped_in_its_own_loop(
    renewal, running, storage, worker
):
    one, other = running
    await storage.leases.finish(worker.id, [lost(one.held)])

    await renewal.tick()

    await until(lambda: one.ended)
    assert one.context.stopping == "lost"
    assert not other.ended


async def test_renewals_continue_while_the_event_loop_is_blocked(renewal, running, storage, clock):
    renewal.start()
    await until(storage.leases.workers)
    await clock.advance(10 * SECOND)
    first = running[0].lease_ends_at
    renewal.wake()

    # Nothing is awaited here: this loop stands still until another thread has renewed.
    blocked = threading.Event()
    for _ in range(3000):
        if running[0].lease_ends_at > first:
            break
        blocked.wait(0.01)

    assert (await job(storage, running[0].held.job_id)).lease_expires_at == clock.now + LEASE_TIME


async def test_the_thread_ends_with_the_worker(renewal, storage):
    renewal.start()
    await until(storage.leases.workers)

    await renewal.stop()

    await until(lambda: "windlass renewal" not in {thread.name for thread in threading.enumerate()})


async def test_a_hanging_renewal_is_given_up_after_a_third_of_the_lease(
    engine, app, storage, monkeypatch
):
    await engine.ready()
    worker = Worker(engine, app.handlers, WorkerOptions(lease_time=timedelta(seconds=1)))
    worker.renewal.watch_this_loop()
    await enqueue(storage, payload="{}")
    await worker.tick()

    async def hang(*_, **__):
        await asyncio.Event().wait()

    monkeypatch.setattr(type(worker.renewal._leases), "renew", hang)

    with pytest.raises(DatabaseTimeout, match=r"0\.333"):
        await worker.renewal.tick()

    await worker.renewal.stop()
    for run in worker.held.values():
        run.stop("shutdown")
    await worker.settled()


async def test_leases_that_are_not_renewed_in_time_are_reported_once(
    renewal, running, monkeypatch, seconds, heard
):
    async def away(*_, **__):
        raise DatabaseUnreachable("postgresql://db/shop")

    monkeypatch.setattr(type(renewal._leases), "renew", away)
    for run in running:
        run.lease_ends_at = seconds.now + 30
    for _ in range(4):
        with pytest.raises(DatabaseUnreachable):
            await renewal.tick()
        seconds.pass_by(20)

    events = [event for event in heard.events() if "have run out before they were renewed" in event]
    assert len(events) == 1
    assert not any(run.ended for run in running)


async def test_a_run_that_blocks_the_loop_is_reported_in_log_job_and_row(
    renewal, running, monkeypatch, heard, storage
):
    run = running[0]
    show(monkeypatch, renewal, blocks(run))

    await renewal.watch()
    await until(lambda: "event loop blocked" in heard.events())
    await renewal.tick()

    [about] = [about for _, event, about in heard.said if event == "event loop blocked"]
    assert (about["job_id"], about["definition"]) == (str(run.held.job_id), "plain")
    assert about["stack"] == "the stack\n"
    [row] = await storage.leases.workers()
    assert row.metadata["blocked"]["job_id"] == str(run.held.job_id)


async def test_a_long_blockage_is_reported_with_growing_intervals(renewal, running, monkeypatch):
    reports = []
    monkeypatch.setattr(renewal, "_report", lambda blockage, first: reports.append(first))

    for seconds in range(1, 65):
        show(monkeypatch, renewal, blocks(running[0], seconds=float(seconds)))
        await renewal.watch()

    assert reports == [True] + [False] * 6


async def test_in_an_application_only_the_blocked_run_times_out(
    renewal, running, monkeypatch, storage
):
    run, other = running
    show(monkeypatch, renewal, blocks(run, expired=True))

    await renewal.watch()
    await renewal.watch()

    given_up = await job(storage, run.held.job_id)
    assert (given_up.state, given_up.outcome) == (JobState.DEAD_LETTER, Outcome.TIMED_OUT)
    assert given_up.error_trace == "the stack\n"
    await until(lambda: run.ended)
    assert run.lost
    assert (await job(storage, other.held.job_id)).state is JobState.RUNNING


async def test_a_worker_process_with_a_blocked_run_is_ended(renewal, running, monkeypatch, worker):
    ends = []

    async def end():
        ends.append(worker.pending_claim.begin())

    renewal.kill_worker_process = end
    show(monkeypatch, renewal, blocks(running[0]))
    await renewal.watch()
    show(monkeypatch, renewal, blocks(running[0], expired=True))
    await renewal.watch()

    assert ends == [False], "nothing is claimed any more"


async def test_an_ending_process_hands_back_its_jobs_and_keeps_outcomes(
    renewal, running, worker, storage, monkeypatch
):
    run, other = running
    quick = await enqueue(storage, payload="{}", definition="quick")

    async def away(*_):
        await asyncio.Event().wait()

    monkeypatch.setattr(worker._leases, "finish", away)  # its outcome is not recorded yet
    await worker.tick()
    await until(lambda: worker._outcome_writer.unrecorded)
    renewal.start()
    await until(storage.leases.workers)
    show(monkeypatch, renewal, blocks(run, expired=True))
    await until(lambda: renewal.blockage)

    assert await renewal.hand_back()
    renewal.wake()  # no heartbeat brings the row back

    assert await storage.leases.workers() == []
    assert (await job(storage, run.held.job_id)).outcome is Outcome.TIMED_OUT
    back = await job(storage, other.held.job_id)
    assert (back.state, back.attempts) == (JobState.QUEUED, 0)
    assert (await job(storage, quick)).state is JobState.COMPLETED
    worker._outcome_writer.close()


async def test_an_ending_process_starts_no_job(worker, storage):
    worker.pending_claim.close()
    id = await enqueue(storage, payload="{}")

    await worker.tick()

    assert not worker.held
    assert (await job(storage, id)).attempts == 0


@pytest.fixture
def unread(worker, monkeypatch):
    """The worker's claims are carried out, and their answers wait until this is set."""
    read = asyncio.Event()
    taken = asyncio.Event()
    claim = worker._leases.claim

    async def claim_unread(*args, **kwargs):
        claimed = await claim(*args, **kwargs)
        taken.set()
        await read.wait()
        return claimed

    read.taken = taken
    monkeypatch.setattr(worker._leases, "claim", claim_unread)
    return read


async def test_jobs_of_a_claim_that_returns_to_a_blocked_loop_are_handed_back(
    renewal, worker, storage, unread
):
    id = await enqueue(storage, payload="{}", max_attempts=1)
    claiming = asyncio.create_task(worker.tick())
    await unread.taken.wait()
    renewal.blockage = Blockage(3.0, None, "the stack")

    await renewal.tick()

    back = await job(storage, id)
    assert (back.state, back.attempts) == (JobState.QUEUED, 0)
    unread.set()
    assert await claiming == 0
    assert not worker.held


async def test_a_claim_that_was_given_up_starts_nothing(renewal, worker, storage, unread):
    id = await enqueue(storage, payload="{}", max_attempts=1)
    claiming = asyncio.create_task(worker.tick())
    await unread.taken.wait()
    assert worker.pending_claim.give_up()
    worker.pending_claim.finish_hand_back()

    unread.set()

    assert await claiming == 0
    assert (await job(storage, id)).attempts == 0


async def test_no_claim_begins_during_a_hand_back(worker, storage, unread):
    claiming = asyncio.create_task(worker.tick())
    await unread.taken.wait()
    assert worker.pending_claim.give_up()
    unread.set()
    await claiming
    await enqueue(storage, payload="{}")

    assert await worker.tick() == 0
    worker.pending_claim.finish_hand_back()

    assert await worker.tick() == 1


async def test_runs_of_a_responsive_loop_are_never_handed_back(renewal, running, storage, worker):
    renewal.blockage = Blockage(3.0, running[0], "the stack")

    await renewal.tick()

    for run in running:
        assert (await job(storage, run.held.job_id)).state is JobState.RUNNING
    assert not worker.pending_claim.give_up()
