"""enqueue: a repeat with the same id stores nothing twice."""

import pytest

from tests.support.job_builders import (
    HOUR,
    START,
    a_job,
    claim,
    claim_all,
    end,
    enqueue,
    job,
    lease_of,
    new_job,
    new_jobs,
    offer,
    tables_of,
)
from windlass.core.jobs.states import JobState
from windlass.ids import new_job_id
from windlass.storage.jobs.jobs import EnqueueResult


@pytest.mark.parametrize("keys", [{}, {"dedupe_key": "d"}, {"idempotency_key": "i"}])
@pytest.mark.parametrize("state", [JobState.PENDING, JobState.QUEUED, JobState.RUNNING])
async def test_a_repeat_with_the_same_id_stores_nothing_twice(storage, state, keys):
    new = new_job(held=state is JobState.PENDING, **keys)
    await offer(storage, new)
    if state is JobState.RUNNING:
        await claim(storage)
    before = await job(storage, new.id)

    repeated = await offer(storage, new)

    assert repeated == EnqueueResult(new.id, "created", None)
    assert await job(storage, new.id) == before


async def test_a_repeat_of_a_retrying_job_stores_nothing_twice(storage):
    new = new_job()
    await offer(storage, new)
    await end(storage, await lease_of(storage, new.id), JobState.QUEUED, delay=HOUR)
    before = await job(storage, new.id)

    repeated = await offer(storage, new)

    assert repeated.status == "created"
    assert len(await tables_of(storage, new.id)) == 1
    assert await job(storage, new.id) == before


async def test_a_repeat_of_a_delayed_job_that_became_due_stores_nothing_twice(storage, clock):
    new = new_job(due_at=START + HOUR)
    delayed = new_job(delay=HOUR)
    await storage.jobs.enqueue([new, delayed])
    await clock.advance(HOUR)
    await storage.leases.promote()

    repeated = await storage.jobs.enqueue([new, delayed])

    assert [r.status for r in repeated] == ["created"] * 2
    for id in (new.id, delayed.id):
        assert len(await tables_of(storage, id)) == 1
    assert len(await claim_all(storage)) == 2


async def test_a_repeat_of_a_job_with_parents_waits_for_them_once(storage):
    parent = await enqueue(storage)
    child = new_job(after=(parent,))
    await offer(storage, child)

    repeated = await offer(storage, child)

    assert repeated.status == "created"
    assert (await job(storage, child.id)).waits == 1


async def test_a_repeat_of_a_whole_batch_returns_the_same_receipts(storage):
    new = [*new_jobs(3), new_job(dedupe_key="d"), new_job(delay=HOUR)]
    first = await storage.jobs.enqueue(new, whole=True)

    again = await storage.jobs.enqueue(new, whole=True)

    assert again == first


async def test_known_returns_stored_ids_including_ended_jobs(storage):
    stored = {(await a_job(storage, state)).id for state in JobState}
    later = await enqueue(storage, delay=HOUR)

    known = await storage.jobs.existing_job_ids([*stored, later, new_job_id()])

    assert known == {*stored, later}
    assert await storage.jobs.existing_job_ids([]) == set()
