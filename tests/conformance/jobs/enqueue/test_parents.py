"""Dependencies: a child waits for all its parents."""

from tests.support.job_builders import (
    ALDER,
    DAY,
    HOUR,
    SECOND,
    START,
    a_job,
    claim_all,
    end,
    enqueue,
    enqueue_child,
    finish,
    job,
    lease_of,
    new_job,
    started,
    state_of,
)
from windlass.core.jobs.models import ALL_TENANTS
from windlass.core.jobs.states import JobState
from windlass.storage.jobs.jobs import RelatedJob

COMPLETED, CANCELED, DEAD_LETTER = (
    JobState.COMPLETED,
    JobState.CANCELED,
    JobState.DEAD_LETTER,
)


PENDING, QUEUED = JobState.PENDING, JobState.QUEUED


# Waiting


async def test_a_child_waits_until_every_parent_has_completed(storage, clock):
    leases = [await started(storage) for _ in range(3)]
    child = await enqueue_child(storage, *(lease.job_id for lease in leases))
    waits = []
    for lease in leases:
        waits.append((await job(storage, child)).waits)
        assert await claim_all(storage) == []
        await clock.advance(SECOND)
        await end(storage, lease)

    free = await job(storage, child)

    assert waits == [3, 2, 1]
    assert (free.state, free.waits, free.queued_at) == (QUEUED, 0, clock.now)
    assert [lease.job_id for lease in await claim_all(storage)] == [child]


async def test_a_child_with_a_hundred_parents_waits_for_all(storage):
    parents = [new_job() for _ in range(100)]
    await storage.jobs.enqueue(parents)
    child = await enqueue_child(storage, *(parent.id for parent in parents))
    leases = await claim_all(storage)

    await storage.leases.finish(ALDER, [finish(lease) for lease in leases[:99]])
    before = await job(storage, child)
    await storage.leases.finish(ALDER, [finish(leases[99])])

    assert (before.state, before.waits) == (PENDING, 1)
    assert await state_of(storage, child) is QUEUED


async def test_a_hundred_children_follow_one_parent(storage):
    lease = await started(storage)
    children = [new_job(after=(lease.job_id,)) for _ in range(100)]
    await storage.jobs.enqueue(children)
    await storage.leases.admit([child.id for child in children])

    await end(storage, lease)

    assert {again.job_id for again in await claim_all(storage)} == {child.id for child in children}


async def test_a_child_waits_for_its_parent_in_any_open_state(storage, clock):
    parent = await enqueue(storage, delay=HOUR)
    child = await enqueue_child(storage, parent)
    await clock.advance(HOUR)
    lease = await lease_of(storage, parent)
    await end(storage, lease, QUEUED, delay=HOUR)
    retrying = await state_of(storage, child)
    await clock.advance(HOUR)

    await end(storage, await lease_of(storage, parent))

    assert retrying is PENDING
    assert await state_of(storage, child) is QUEUED


async def test_a_chain_runs_in_order(storage):
    ids = [await enqueue(storage)]
    for _ in range(5):
        ids.append(await enqueue_child(storage, ids[-1]))
    ran = []

    while leases := await claim_all(storage):
        [lease] = leases
        ran.append(lease.job_id)
        await end(storage, lease)

    assert ran == ids


async def test_the_last_job_of_a_diamond_runs_once(storage):
    top = await enqueue(storage)
    left, right = await enqueue_child(storage, top), await enqueue_child(storage, top)
    bottom = await enqueue_child(storage, left, right, top)
    rounds = []

    while leases := await claim_all(storage):
        rounds.append({lease.job_id for lease in leases})
        await storage.leases.finish(ALDER, [finish(lease) for lease in leases])

    assert rounds == [{top}, {left, right}, {bottom}]


async def test_a_scheduled_child_waits_for_its_parent_and_its_due_time(storage, clock):
    lease = await started(storage)
    child = await enqueue_child(storage, lease.job_id, due_at=START + HOUR)

    await end(storage, lease)

    free = await job(storage, child)
    assert (free.state, free.due_at) == (QUEUED, START + HOUR)
    assert await claim_all(storage) == []
    await clock.advance(HOUR)
    assert [again.job_id for again in await claim_all(storage)] == [child]


async def test_a_childs_waiting_time_counts_from_its_release(storage, clock):
    lease = await started(storage)
    child = await enqueue_child(storage, lease.job_id)
    await clock.advance(HOUR)

    await end(storage, lease)

    assert (await job(storage, child)).due_at == clock.now


async def test_a_child_on_hold_waits_for_its_parents_and_a_manual_start(storage):
    lease = await started(storage)
    child = await enqueue_child(storage, lease.job_id, held=True)

    await end(storage, lease)

    still = await job(storage, child)
    assert (still.state, still.waits, still.held) == (PENDING, 0, True)
    assert await storage.jobs.run_now(ALL_TENANTS, child)
    assert [again.job_id for again in await claim_all(storage)] == [child]


async def test_a_child_of_an_ended_parent_is_admitted_at_once(storage):
    parent = await a_job(storage, COMPLETED)
    child = new_job(after=(parent.id,))
    await storage.jobs.enqueue([child])
    assert await storage.leases.children_to_admit() == [child.id]

    admitted = await storage.leases.admit([child.id])

    assert admitted == {child.id: QUEUED}
    assert await storage.leases.children_to_admit() == []
    assert [lease.job_id for lease in await claim_all(storage)] == [child.id]


async def test_a_child_of_ended_and_open_parents_waits_for_the_open_ones(storage):
    ended = await a_job(storage, COMPLETED)
    lease = await started(storage)
    child = await enqueue_child(storage, ended.id, lease.job_id)

    before = await job(storage, child)
    await end(storage, lease)

    assert (before.state, before.waits) == (PENDING, 1)
    assert await state_of(storage, child) is QUEUED


async def test_a_child_not_yet_admitted_is_released_by_its_parents_end(storage):
    lease = await started(storage)
    child = new_job(after=(lease.job_id,))
    await storage.jobs.enqueue([child])

    await end(storage, lease)

    freed = await job(storage, child.id)
    assert (freed.state, freed.waits) == (QUEUED, 0)
    assert await storage.leases.children_to_admit() == []


async def test_a_repeated_admit_counts_once(storage):
    parent = await a_job(storage, COMPLETED)
    lease = await started(storage)
    child = await enqueue_child(storage, parent.id, lease.job_id)

    await storage.leases.admit([child])
    await storage.leases.admit([child])

    assert (await job(storage, child)).waits == 1


async def test_admitting_a_job_without_parents_changes_nothing(storage):
    for state in JobState:
        before = await a_job(storage, state)

        await storage.leases.admit([before.id])

        after = await job(storage, before.id)
        assert (after.state, after.waits, after.held) == (before.state, 0, before.held)
        assert await storage.leases.admit([]) == {}


# Family


async def test_a_family_shows_parents_and_children_with_their_states(storage):
    parent = await a_job(storage, COMPLETED)
    lease = await started(storage)
    middle = await enqueue_child(storage, parent.id, lease.job_id, on_parent_failure="wait")
    child = await enqueue_child(storage, middle, on_parent_failure="run")

    family = await storage.jobs.job_edges(await job(storage, middle))

    assert set(family) == {
        RelatedJob(middle, parent.id, "wait", True, PENDING, COMPLETED),
        RelatedJob(middle, lease.job_id, "wait", False, PENDING, JobState.RUNNING),
        RelatedJob(child, middle, "run", False, PENDING, PENDING),
    }
    assert await storage.jobs.job_edges(await a_job(storage, QUEUED)) == []


async def test_a_parent_is_not_pruned_while_a_child_waits_for_it(storage, clock):
    lease = await started(storage)
    child = await enqueue_child(storage, lease.job_id, on_parent_failure="wait")
    await end(storage, lease, DEAD_LETTER)
    await clock.advance(100 * DAY)
    before_id = new_job().id

    by_days = await storage.monitoring.prune("plain", days=1, before_id=before_id)
    by_count = await storage.monitoring.prune_by_count("plain", keep=0)
    assert (by_days, by_count) == (0, 0)

    await storage.jobs.cancel(ALL_TENANTS, [child])
    assert await storage.monitoring.prune("plain", days=1, before_id=before_id) == 1
    assert await storage.jobs.get(ALL_TENANTS, lease.job_id) is None


async def test_a_pruned_parent_is_shown_as_gone(storage, clock):
    parent = await a_job(storage, COMPLETED)
    child = await enqueue_child(storage, parent.id)
    await clock.advance(DAY)
    await storage.monitoring.prune("plain", days=0.5, before_id=new_job().id)

    [relative] = await storage.jobs.job_edges(await job(storage, child))

    assert (relative.parent_id, relative.parent_state) == (parent.id, None)
