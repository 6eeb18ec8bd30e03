"""Every verb against every state: a job makes only the allowed transitions."""

import pytest

from tests.support.job_builders import (
    ALDER,
    HOUR,
    LEASE_TIME,
    World,
    a_job,
    claim,
    end,
    finish,
    job,
    lost,
    release,
    started,
    state_of,
    tables_of,
)
from windlass.core.jobs.change import JobChange
from windlass.core.jobs.models import ALL_TENANTS, Job
from windlass.core.jobs.states import MOVES, OPEN, JobState, Verb
from windlass.core.leases.lease import LeaseRef

FINISH_STATES = sorted(MOVES[Verb.FINISH, JobState.RUNNING])


async def try_verb(world: World, verb: Verb, job: Job, *, to: JobState | None = None) -> None:
    """Do `verb` to one job, with the token it has now."""
    storage, lease = world.storage, LeaseRef(job.id, job.lease_token)
    match verb:
        case Verb.ADMIT:
            await storage.leases.admit([job.id])
        case Verb.CLAIM:
            await claim(storage, 10)
        case Verb.FINISH:
            await storage.leases.finish(ALDER, [finish(lease, to or JobState.COMPLETED)])
        case Verb.RELEASE:
            await storage.leases.finish(ALDER, [release(lease)])
        case Verb.REAP:
            await world.clock.advance(2 * LEASE_TIME)
            await storage.leases.reap([lost(lease, to or JobState.QUEUED)])
        case Verb.CANCEL:
            await storage.jobs.cancel(ALL_TENANTS, [job.id])
        case Verb.RETRY:
            await storage.jobs.retry(ALL_TENANTS, job.id)
        case Verb.RUN_NOW:
            await storage.jobs.run_now(ALL_TENANTS, job.id)
        case Verb.UPDATE:
            await storage.jobs.update(ALL_TENANTS, [job.id], JobChange(priority=7))
        case Verb.CLOSE:
            await storage.jobs.cancel(ALL_TENANTS, [job.id], to=JobState.DEAD_LETTER)


@pytest.mark.parametrize("state", JobState)
@pytest.mark.parametrize("verb", Verb)
async def test_a_verb_makes_only_the_allowed_transitions(world: World, verb, state):
    before = await a_job(world.storage, state)

    await try_verb(world, verb, before)

    after = await job(world.storage, before.id)
    if (verb, state) == (Verb.ADMIT, JobState.PENDING):
        assert after.state is JobState.PENDING  # it is on hold; see the tests of parents
    else:
        assert after.state in MOVES.get((verb, state), {state})
    if (verb, state) not in MOVES:
        assert after == before
    assert len(await tables_of(world.storage, before.id)) == 1


@pytest.mark.parametrize("state", JobState)
async def test_a_finish_moves_only_a_running_job(world: World, state):
    for to in FINISH_STATES:
        before = await a_job(world.storage, state)

        await try_verb(world, Verb.FINISH, before, to=to)

        assert await state_of(world.storage, before.id) is (
            to if state is JobState.RUNNING else state
        )


@pytest.mark.parametrize("state", JobState)
async def test_a_reap_moves_only_a_running_job(world: World, state):
    for to in [JobState.QUEUED, JobState.DEAD_LETTER]:
        before = await a_job(world.storage, state)

        await try_verb(world, Verb.REAP, before, to=to)

        assert await state_of(world.storage, before.id) is (
            to if state is JobState.RUNNING else state
        )


@pytest.mark.parametrize("verb", Verb)
async def test_a_scheduled_job_moves_like_a_queued_one_but_is_not_claimed(world: World, verb):
    before = await a_job(world.storage, JobState.QUEUED, delay=HOUR)

    await try_verb(world, verb, before)

    after = await job(world.storage, before.id)
    if verb is Verb.CLAIM:
        assert after == before
    else:
        assert after.state in MOVES.get((verb, JobState.QUEUED), {JobState.QUEUED})


@pytest.mark.parametrize("verb", [Verb.RELEASE, Verb.REAP])
@pytest.mark.parametrize(
    ("asked", "ends_in"),
    [(Verb.CANCEL, JobState.CANCELED), (Verb.CLOSE, JobState.DEAD_LETTER)],
)
async def test_a_running_job_asked_to_stop_is_not_queued_again(world: World, verb, asked, ends_in):
    lease = await started(world.storage)
    before = await job(world.storage, lease.job_id)
    await try_verb(world, asked, before)

    await try_verb(world, verb, before)

    assert await state_of(world.storage, before.id) is ends_in


@pytest.mark.parametrize("verb", [Verb.FINISH, Verb.RELEASE, Verb.REAP])
async def test_a_stale_token_causes_no_transition(world: World, verb):
    first = await started(world.storage)
    await end(world.storage, first, JobState.QUEUED)
    await world.storage.leases.promote()
    [second] = await claim(world.storage)
    before = await job(world.storage, second.job_id)

    if verb is Verb.REAP:
        await world.clock.advance(2 * LEASE_TIME)
    ending = {Verb.FINISH: finish, Verb.RELEASE: release, Verb.REAP: lost}[verb](first)
    if verb is Verb.REAP:
        result = await world.storage.leases.reap([ending])
    else:
        result = await world.storage.leases.finish(second.worker, [ending])

    assert result == {}
    assert await job(world.storage, second.job_id) == before


def test_only_a_retry_leaves_a_final_state():
    for (verb, state), targets in MOVES.items():
        assert state in OPEN or verb is Verb.RETRY
        assert targets
