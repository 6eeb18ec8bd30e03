"""Leases that ran out are taken back on the second look, one renewal later."""

from datetime import timedelta

import pytest

from tests.conformance.builders import LEASE_TIME, SECOND, held, job, started
from windlass.core.states import JobState
from windlass.errors import DatabaseUnreachable
from windlass.upkeep.reaper import Reaper

THIRD = LEASE_TIME.total_seconds() / 3


@pytest.fixture
def leases(engine):
    return engine.leases()


@pytest.fixture
def reaper(leases, storage, seconds):
    return Reaper(leases, storage, lease_time=LEASE_TIME)


@pytest.fixture
async def expired(storage, clock):
    """A lease that has run out."""
    lease = await started(storage)
    await clock.advance(LEASE_TIME + SECOND)
    return lease


async def test_the_first_look_only_looks(reaper, expired, storage):
    assert await reaper.tick() == 0

    assert (await job(storage, expired.job_id)).state is JobState.RUNNING


async def test_a_second_look_too_soon_only_looks(reaper, expired, seconds):
    await reaper.tick()
    seconds.pass_by(THIRD - 0.1)

    assert await reaper.tick() == 0


async def test_the_second_look_takes_the_lease_back(reaper, expired, seconds, storage, heard):
    await reaper.tick()
    seconds.pass_by(THIRD)

    assert await reaper.tick() == 1

    back = await job(storage, expired.job_id)
    assert (back.state, back.worker_deaths) == (JobState.QUEUED, 1)
    assert "lease ran out" in heard.events()


async def test_a_lease_that_was_renewed_between_two_looks_stays(reaper, expired, seconds, storage):
    await reaper.tick()
    await storage.renew([held(expired)], lease_time=LEASE_TIME)
    seconds.pass_by(THIRD)

    assert await reaper.tick() == 0

    assert (await job(storage, expired.job_id)).state is JobState.RUNNING


async def test_a_lease_that_runs_out_again_is_looked_at_anew(
    reaper, expired, seconds, storage, clock
):
    await reaper.tick()
    await storage.renew([held(expired)], lease_time=LEASE_TIME)
    seconds.pass_by(THIRD)
    await reaper.tick()
    await clock.advance(LEASE_TIME + SECOND)

    assert await reaper.tick() == 0


async def test_looks_from_before_an_outage_do_not_count(
    reaper, expired, seconds, leases, monkeypatch
):
    await reaper.tick()
    with monkeypatch.context() as patch:
        patch.setattr(leases, "expired", away)
        with pytest.raises(DatabaseUnreachable):
            await reaper.tick()
    seconds.pass_by(THIRD)

    assert await reaper.tick() == 0, "nobody could renew meanwhile"
    seconds.pass_by(THIRD)
    assert await reaper.tick() == 1


async def away():
    raise DatabaseUnreachable("postgresql://db/shop")


async def test_a_database_that_stood_still_begins_the_looks_anew(
    reaper, expired, seconds, leases, monkeypatch
):
    await reaper.tick()
    look = leases.expired

    async def slowly():
        seconds.pass_by(THIRD)
        return await look()

    with monkeypatch.context() as patch:
        patch.setattr(leases, "expired", slowly)
        assert await reaper.tick() == 0, "the renewals stood still too"
    seconds.pass_by(THIRD)
    assert await reaper.tick() == 0, "everybody has to find back first"
    seconds.pass_by(THIRD)
    assert await reaper.tick() == 1


async def test_a_database_that_can_be_read_but_not_written_begins_the_looks_anew(
    reaper, expired, seconds, storage, monkeypatch
):
    await reaper.tick()
    seconds.pass_by(THIRD)
    renew = storage.renew

    async def slowly(held, **how):
        seconds.pass_by(THIRD)
        return await renew(held, **how)

    with monkeypatch.context() as patch:
        patch.setattr(storage, "renew", slowly)
        assert await reaper.tick() == 0, "nobody could renew either"
    assert await reaper.tick() == 0
    seconds.pass_by(2 * THIRD)
    assert await reaper.tick() == 1


async def test_many_orphans_do_not_all_start_again_at_once(reaper, seconds, storage, clock):
    for _ in range(210):
        await started(storage)
    await clock.advance(LEASE_TIME + SECOND)

    await reaper.tick()
    seconds.pass_by(THIRD)

    assert await reaper.tick() == 200
    assert await reaper.tick() == 10


async def test_a_lost_lease_of_the_last_attempt_ends_in_the_dead_letter(
    reaper, seconds, storage, clock
):
    lease = await started(storage, max_attempts=1)
    await clock.advance(LEASE_TIME + timedelta(seconds=1))
    await reaper.tick()
    seconds.pass_by(THIRD)

    await reaper.tick()

    ended = await job(storage, lease.job_id)
    assert ended.state is JobState.DEAD_LETTER
    assert ended.last_error.startswith("the worker was lost: alder")
