"""Single enqueues share a round trip; after a lost response the stored jobs are looked up."""

import asyncio

import pytest

from tests.support.job_builders import job, new_job, new_jobs
from windlass.engine.jobs.enqueue import EnqueueBatcher, store_with_retry
from windlass.errors import DatabaseTimeout, DatabaseUnreachable
from windlass.ids import DefinitionKey
from windlass.storage.jobs.jobs import IncompleteBatch

LOST = DatabaseUnreachable("postgresql://db/shop", cause="connection reset")


class Counted:
    """A storage that counts its round trips, and can lose its responses."""

    def __init__(self, storage):
        self._storage = storage
        self.jobs = self
        self.batches = []
        self.before = []
        self.after = []

    async def enqueue(self, jobs, **how):
        self.batches.append(len(jobs))
        if self.before:
            raise self.before.pop()
        stored = await self._storage.jobs.enqueue(jobs, **how)
        if self.after:
            raise self.after.pop()
        return stored

    async def existing_job_ids(self, ids):
        return await self._storage.jobs.existing_job_ids(ids)


@pytest.fixture
def counted(storage):
    return Counted(storage)


async def test_concurrent_enqueues_share_a_round_trip(counted):
    enqueuer = EnqueueBatcher(counted)

    stored = await asyncio.gather(*(enqueuer.enqueue(job) for job in new_jobs(50)))

    assert {s.status for s in stored} == {"created"}
    assert sum(counted.batches) == 50
    assert len(counted.batches) <= 3


async def test_a_lone_enqueue_is_sent_at_once(counted):
    await EnqueueBatcher(counted).enqueue(new_job())

    assert counted.batches == [1]


async def test_concurrent_jobs_with_one_key_are_one_job(counted):
    enqueuer = EnqueueBatcher(counted)
    jobs = new_jobs(5, dedupe_key="report")

    stored = await asyncio.gather(*(enqueuer.enqueue(job) for job in jobs))

    [created] = [s for s in stored if s.status == "created"]
    assert [s.existing_id for s in stored if s.status == "existing"] == [created.id] * 4


async def test_a_canceled_caller_does_not_affect_the_others(counted):
    enqueuer = EnqueueBatcher(counted)
    one, other = new_jobs(2)
    waits = [asyncio.ensure_future(enqueuer.enqueue(job)) for job in (one, other)]
    await asyncio.sleep(0)

    waits[0].cancel()
    stored = await waits[1]

    assert (stored.id, stored.status) == (other.id, "created")


async def test_an_error_reaches_every_caller_in_the_batch(counted):
    counted.before = [LOST] * 3
    enqueuer = EnqueueBatcher(counted)

    answers = await asyncio.gather(
        *(enqueuer.enqueue(job) for job in new_jobs(3)), return_exceptions=True
    )

    assert answers == [LOST] * 3


async def test_a_mistake_in_one_batch_does_not_stop_the_next(counted):
    counted.before = [ZeroDivisionError()]
    enqueuer = EnqueueBatcher(counted)

    with pytest.raises(ZeroDivisionError):
        await enqueuer.enqueue(new_job())
    stored = await enqueuer.enqueue(new_job())

    assert stored.status == "created"


@pytest.mark.parametrize("lost", [LOST, DatabaseTimeout("store jobs", seconds=60)])
async def test_a_job_whose_response_was_lost_is_stored_once(counted, storage, lost):
    counted.after = [lost]
    one = new_job()

    [stored] = await store_with_retry(counted, [one])

    assert stored.status == "created"
    assert counted.batches == [1], "it was found, so that nothing had to be stored again"
    assert (await job(storage, one.id)).id == one.id


async def test_a_job_that_never_arrived_is_sent_again(counted, storage):
    counted.before = [LOST]
    one = new_job()

    [stored] = await store_with_retry(counted, [one])

    assert stored.status == "created"
    assert counted.batches == [1, 1]


async def test_a_lasting_outage_is_raised(counted):
    counted.before = [LOST] * 3

    with pytest.raises(DatabaseUnreachable):
        await store_with_retry(counted, [new_job()])


async def test_a_batch_refused_after_a_lost_response_names_every_job(counted, storage):
    stored, refused = new_job(), new_job(definition=DefinitionKey("nobody.knows"))
    await storage.jobs.enqueue([stored])
    counted.before = [LOST]

    with pytest.raises(IncompleteBatch) as refusal:
        await store_with_retry(
            counted, [stored, refused], lambda jobs: counted.enqueue(jobs, whole=True)
        )

    assert [(each.id, each.status) for each in refusal.value.stored] == [
        (stored.id, "created"),
        (refused.id, "unknown_definition"),
    ]
