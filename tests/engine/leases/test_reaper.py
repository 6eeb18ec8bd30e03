"""Leases that ran out are taken back on the second look, one renewal later."""

from datetime import timedelta

import pytest

from tests.support.job_builders import (
    ALDER,
    KNOWN,
    LEASE_TIME,
    SECOND,
    claim,
    finish,
    held,
    job,
    new_job,
    new_jobs,
    started,
)
from windlass.core.jobs.states import JobState
from windlass.core.leases.gates import with_suspects
from windlass.engine.leases.reaper import Reaper
from windlass.errors import DatabaseUnreachable

THIRD = LEASE_TIME.total_seconds() / 3


@pytest.fixture
def leases(engine):
    return engine.leases(worker=ALDER)


@pytest.fixture
def reaper(leases, storage, seconds):
    return Reaper(leases, storage, lease_time=LEASE_TIME)


@pytest.fixture
async def expired(storage, clock):
    """A lease that has run out."""
    lease = await started(storage)
    await clock.advance(LEASE_TIME + SECOND)
    return lease


async def test_the_first_look_takes_nothing_back(reaper, expired, storage):
    assert await reaper.tick() == 0

    assert (await job(storage, expired.job_id)).state is JobState.RUNNING


async def test_a_second_look_too_soon_takes_nothing_back(reaper, expired, seconds):
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
    await storage.leases.renew(ALDER, [held(expired)], lease_time=LEASE_TIME)
    seconds.pass_by(THIRD)

    assert await reaper.tick() == 0

    assert (await job(storage, expired.job_id)).state is JobState.RUNNING


async def test_a_lease_that_runs_out_again_needs_two_looks_again(
    reaper, expired, seconds, storage, clock
):
    await reaper.tick()
    await storage.leases.renew(ALDER, [held(expired)], lease_time=LEASE_TIME)
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


async def test_the_first_look_after_a_long_outage_takes_nothing_back(
    reaper, expired, seconds, leases, monkeypatch
):
    await reaper.tick()
    with monkeypatch.context() as patch:
        patch.setattr(leases, "expired", away)
        with pytest.raises(DatabaseUnreachable):
            await reaper.tick()
    seconds.pass_by(3 * THIRD)

    assert await reaper.tick() == 0
    seconds.pass_by(THIRD)
    assert await reaper.tick() == 1


async def away():
    raise DatabaseUnreachable("postgresql://db/shop")


async def test_a_stalled_database_restarts_the_looks(reaper, expired, seconds, leases, monkeypatch):
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


async def test_a_read_only_database_restarts_the_looks(
    reaper, expired, seconds, storage, monkeypatch
):
    await reaper.tick()
    seconds.pass_by(THIRD)
    renew = storage.leases.renew

    async def slowly(*held, **how):
        seconds.pass_by(THIRD)
        return await renew(*held, **how)

    with monkeypatch.context() as patch:
        patch.setattr(storage.leases, "renew", slowly)
        assert await reaper.tick() == 0, "nobody could renew either"
    assert await reaper.tick() == 0
    seconds.pass_by(2 * THIRD)
    assert await reaper.tick() == 1


async def test_a_first_look_does_not_count_while_the_database_is_read_only(
    reaper, expired, seconds, storage, monkeypatch
):
    renew = storage.leases.renew

    async def slowly(*held, **how):
        seconds.pass_by(THIRD)
        return await renew(*held, **how)

    with monkeypatch.context() as patch:
        patch.setattr(storage.leases, "renew", slowly)
        await reaper.tick()
    seconds.pass_by(THIRD)

    assert await reaper.tick() == 0, "the holder has had no time to renew"
    seconds.pass_by(THIRD)
    assert await reaper.tick() == 1


async def test_many_reaped_jobs_start_again_spread_over_time(reaper, seconds, storage, clock):
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


ALL_KNOWN = with_suspects(KNOWN)


@pytest.fixture
def lose(reaper, seconds, clock, storage):
    """Everything that runs now is lost and taken back."""

    async def lose():
        await clock.advance(LEASE_TIME + SECOND)
        await reaper.tick()
        seconds.pass_by(THIRD)
        await reaper.tick()
        await storage.leases.promote()

    return lose


async def test_a_poisonous_job_dead_letters_none_of_its_neighbours(storage, lose):
    poison = new_job(max_attempts=100)
    innocent = new_jobs(11, max_attempts=1)
    await storage.jobs.enqueue([*innocent, poison])
    deaths = 0

    while any([leases := await claim(storage, 12, f"worker {deaths}", ALL_KNOWN)]):
        if poison.id in {lease.job_id for lease in leases}:
            deaths += 1
            await lose()
        else:
            await storage.leases.finish(leases[0].worker, [finish(lease) for lease in leases])

    assert deaths == 3
    assert (await job(storage, poison.id)).state is JobState.DEAD_LETTER
    for each in innocent:
        assert (await job(storage, each.id)).state is JobState.COMPLETED


async def test_a_poisonous_job_with_one_attempt_ends_when_it_was_alone(storage, lose):
    poison, innocent = new_job(max_attempts=1), new_job(max_attempts=1)
    await storage.jobs.enqueue([poison, innocent])
    await claim(storage, 2, "alder", ALL_KNOWN)
    await lose()

    [first] = await claim(storage, 2, "birch", ALL_KNOWN)
    await lose()

    states = {each.id: (await job(storage, each.id)).state for each in (poison, innocent)}
    assert states.pop(first.job_id) is JobState.DEAD_LETTER
    assert list(states.values()) == [JobState.QUEUED]


async def test_a_suspect_beside_a_new_poisonous_job_is_not_dead_lettered(storage, lose):
    innocent = new_job(max_attempts=1)
    await storage.jobs.enqueue([innocent, new_job(max_attempts=1)])
    await claim(storage, 2, "alder", ALL_KNOWN)
    await lose()

    for number in range(5):
        poison = new_job(priority=1, max_attempts=1)
        await storage.jobs.enqueue([poison])
        leases = await claim(storage, 10, f"worker {number}", ALL_KNOWN)
        assert poison.id in {lease.job_id for lease in leases}
        await lose()

    assert (await job(storage, innocent.id)).state is JobState.QUEUED


async def test_a_lease_lost_by_a_living_worker_uses_up_no_attempt(storage, lose):
    lease = await started(storage)
    for _ in range(3):
        await lose()
        [lease] = await claim(storage, 1, "alder", ALL_KNOWN)

    back = await job(storage, lease.job_id)
    assert (back.state, back.worker_deaths) == (JobState.RUNNING, 1)


async def test_leases_reaped_in_several_batches_count_as_neighbours(storage, lose):
    await storage.jobs.enqueue(new_jobs(201, max_attempts=1))
    leases = []
    while got := await claim(storage, 201):
        leases += got

    await lose()
    await lose()

    for lease in leases:
        assert (await job(storage, lease.job_id)).state is JobState.QUEUED


async def test_a_poisonous_job_that_ran_alone_is_logged(storage, lose, heard):
    await started(storage)
    await lose()
    await claim(storage, 1, "birch", ALL_KNOWN)

    await lose()

    assert "job kills its worker even when it runs alone" in heard.events()
