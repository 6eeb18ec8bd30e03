"""Leases are renewed; runs are stopped when theirs is gone or their job is canceled."""

import asyncio

import pytest

from tests.support.job_builders import ALDER, LEASE_TIME, SECOND, end, job, lease_of, lost
from tests.worker.builders import Run, a_handler, a_lease
from windlass.core.jobs.models import ALL_TENANTS
from windlass.worker.leases.lease_renewer import LeaseRenewer


@pytest.fixture
def runs():
    return {}


@pytest.fixture
def renewer(engine, storage, runs):
    return LeaseRenewer(engine.leases(worker=ALDER), lambda: runs, lease_time=LEASE_TIME)


@pytest.fixture
def run(storage, runs):
    """An attempt under way, held by this worker."""

    async def begin(lease=None):
        async def wait() -> None:
            await asyncio.Event().wait()

        run = Run(lease or await a_lease(storage), a_handler(wait))
        await asyncio.sleep(0)
        runs[run.attempt.held] = run.attempt
        return run

    return begin


async def test_every_lease_held_is_extended(renewer, run, storage, clock):
    runs = [await run() for _ in range(3)]
    await clock.advance(10 * SECOND)

    assert await renewer.tick() == []

    for one in runs:
        renewed = await job(storage, one.attempt.held.job_id)
        assert renewed.lease_expires_at == clock.now + LEASE_TIME


async def test_a_late_renewal_still_succeeds(renewer, run, clock):
    await run()
    await clock.advance(2 * LEASE_TIME)

    assert await renewer.tick() == []


async def test_a_run_whose_lease_is_gone_is_stopped_once_and_records_nothing(renewer, run, storage):
    one, other = await run(), await run()
    await storage.leases.finish(ALDER, [lost(one.attempt.held)])

    assert await renewer.tick() == [one.attempt]
    assert await renewer.tick() == []

    assert await one.end() is None
    assert one.attempt.context.stopping == "lost"
    assert other.attempt.context.stopping is None


async def test_a_run_that_has_just_ended_is_not_lost(renewer, run, storage):
    one = await run()
    one.attempt.stop("shutdown")
    await one.end()
    await end(storage, one.attempt.held)  # recorded, but not yet known to be

    assert await renewer.tick() == []


async def test_an_ended_run_is_renewed_until_its_end_is_recorded(renewer, run, storage, clock):
    one = await run()
    one.attempt.stop("shutdown")
    await one.end()
    await clock.advance(10 * SECOND)

    await renewer.tick()

    assert (await job(storage, one.attempt.held.job_id)).lease_expires_at == clock.now + LEASE_TIME


async def test_a_run_that_recorded_its_own_end_is_left_alone(renewer, run, storage):
    one = await run()
    one.attempt.context.completed = True
    await end(storage, one.attempt.held)

    assert await renewer.tick() == []


@pytest.mark.parametrize("look", ["tick", "poll_cancel_requests"])
async def test_a_cancel_reaches_its_run_and_no_other(renewer, run, storage, look):
    one, other = await run(), await run()
    await storage.jobs.cancel(ALL_TENANTS, [one.attempt.held.job_id])

    await getattr(renewer, look)()

    assert one.attempt.context.stopping == "canceled"
    assert other.attempt.context.stopping is None


async def test_a_cancel_stops_the_newer_of_two_runs_of_one_job(renewer, run, storage):
    older = await run()
    await storage.leases.finish(ALDER, [lost(older.attempt.held)])
    await renewer.tick()
    id = older.attempt.held.job_id
    newer = await run(await lease_of(storage, id))
    await storage.jobs.cancel(ALL_TENANTS, [id])

    await renewer.poll_cancel_requests()

    assert newer.attempt.context.stopping == "canceled"
    assert older.attempt.context.stopping == "lost"


async def test_without_leases_no_query_is_sent(renewer, storage, monkeypatch):
    monkeypatch.setattr(storage.leases, "renew", None)
    monkeypatch.setattr(storage.leases, "cancel_requests", None)

    assert await renewer.tick() == []
    await renewer.poll_cancel_requests()
