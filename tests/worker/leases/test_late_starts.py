"""A worker that was suspended does not start jobs whose leases have run out by its own clock."""

import asyncio
from contextlib import asynccontextmanager

import pytest

from tests.support.job_builders import LEASE_TIME, enqueue, job, lost
from tests.worker.builders import Run, a_handler, a_lease
from windlass import Settings, Windlass
from windlass.core.jobs.states import JobState, Outcome
from windlass.worker.options import WorkerOptions
from windlass.worker.worker import Worker


@pytest.fixture
def calls():
    return []


@pytest.fixture
def handlers(calls):
    async def in_loop() -> None:
        calls.append("called")

    def in_thread() -> None:
        calls.append("called")

    return {"loop": in_loop, "thread": in_thread}


@pytest.mark.parametrize("kind", ["loop", "thread"])
async def test_a_run_whose_lease_has_run_out_is_handed_back(
    storage, seconds, handlers, calls, kind
):
    run = Run(await a_lease(storage), a_handler(handlers[kind]))
    run.attempt.lease_ends_at = seconds.now + 30
    seconds.pass_by(30)

    finish = await run.end()

    assert (finish.outcome, finish.state) == (Outcome.RELEASED, JobState.QUEUED)
    assert calls == []


@pytest.mark.parametrize("kind", ["loop", "thread"])
async def test_a_run_whose_lease_was_renewed_meanwhile_is_started(
    storage, seconds, handlers, calls, kind
):
    run = Run(await a_lease(storage), a_handler(handlers[kind]))
    run.attempt.lease_ends_at = seconds.now + 30
    seconds.pass_by(30)
    run.attempt.lease_ends_at = seconds.now + 30

    finish = await run.end()

    assert finish.outcome is Outcome.SUCCEEDED
    assert calls == ["called"]


async def test_a_thread_whose_lease_has_run_out_does_not_start_its_handler(
    storage, seconds, handlers, calls
):
    @asynccontextmanager
    async def long(ctx):
        seconds.pass_by(60)
        yield

    run = Run(await a_lease(storage), a_handler(handlers["thread"]), around=[long])
    run.attempt.lease_ends_at = seconds.now + 30

    finish = await run.end()

    assert (finish.outcome, finish.delay.total_seconds()) == (Outcome.RELEASED, 0)
    assert calls == []


@pytest.fixture
async def worker(engine, handlers):
    wl = Windlass("sqlite:///never-opened.db", settings=Settings())
    wl.job("plain")(handlers["loop"])
    for handler in wl.handlers.values():
        engine.definitions.declare(handler.definition)
    await engine.ready()
    return Worker(engine, wl.handlers, WorkerOptions(lease_time=LEASE_TIME))


@pytest.fixture
def late(worker, seconds, monkeypatch):
    """The worker stands still for longer than a lease after its claim was answered."""
    claim = worker._leases.claim

    async def claim_late(*args, **kwargs):
        claimed = await claim(*args, **kwargs)
        seconds.pass_by(LEASE_TIME.total_seconds())
        await late.meanwhile(claimed.leases)
        return claimed

    async def nothing(leases):
        pass

    late = type("Late", (), {"meanwhile": staticmethod(nothing)})
    monkeypatch.setattr(worker._leases, "claim", claim_late)
    return late


async def test_a_pause_during_a_claim_uses_up_no_attempt(worker, late, storage, calls):
    id = await enqueue(storage, payload="{}", max_attempts=1)

    await worker.tick()
    await worker.settled()

    back = await job(storage, id)
    assert (back.state, back.attempts) == (JobState.QUEUED, 0)
    assert calls == []


async def test_a_job_reaped_during_a_pause_is_left_alone(worker, late, storage, calls):
    id = await enqueue(storage, payload="{}", max_attempts=1)

    async def reap(leases):
        await storage.leases.finish(worker.id, [lost(lease.held) for lease in leases])

    late.meanwhile = reap
    await worker.tick()
    await worker.settled()

    after = await job(storage, id)
    assert after.outcome is Outcome.LOST
    assert calls == []
    await asyncio.sleep(0)
    assert not worker.held
