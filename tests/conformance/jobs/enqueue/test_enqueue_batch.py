"""enqueue_together: a batch is stored as a whole with a receipt for each job, or not at all."""

import pytest

from tests.support.job_builders import job, new_job
from windlass.core.jobs.states import JobState
from windlass.ids import DefinitionKey
from windlass.storage.jobs.enqueue import EnqueueRequest, IncompleteBatch


async def count(storage, *jobs):
    return len(await storage.jobs.existing_job_ids([each.id for each in jobs]))


async def test_each_job_of_a_batch_has_its_own_receipt(storage):
    there, waiting = new_job(dedupe_key="a"), new_job(dedupe_key="b", payload='{"n": 1}')
    await storage.jobs.enqueue([there, waiting])
    fresh, equal = new_job(), new_job(dedupe_key="a")
    newer = new_job(dedupe_key="b", payload='{"n": 2}')

    stored = await storage.jobs.enqueue_together(
        [[EnqueueRequest(fresh), EnqueueRequest(equal), EnqueueRequest(newer, "replace")]]
    )

    assert [each.status for each in stored] == ["created", "existing", "replaced"]
    assert [each.existing_id for each in stored] == [None, there.id, waiting.id]
    assert (await job(storage, waiting.id)).payload == {"n": 2}


@pytest.mark.parametrize(
    ("wrong", "status"),
    [
        (EnqueueRequest(new_job(definition=DefinitionKey("nobody.knows"))), "unknown_definition"),
        (EnqueueRequest(new_job(dedupe_key="a"), "error"), "existing"),
    ],
)
async def test_one_refused_job_refuses_the_whole_batch(storage, wrong, status):
    holder, first, last = new_job(dedupe_key="a"), new_job(), new_job(dedupe_key="b")
    await storage.jobs.enqueue([holder])

    with pytest.raises(IncompleteBatch) as refused:
        await storage.jobs.enqueue_together(
            [[EnqueueRequest(first), wrong], [EnqueueRequest(last)]]
        )

    assert [each.status for each in refused.value.stored] == ["created", status, "created"]
    assert await count(storage, first, wrong.job, last) == 0


async def test_a_repeated_key_in_a_batch_returns_the_first_job(storage):
    one, two = new_job(dedupe_key="a"), new_job(dedupe_key="a")

    stored = await storage.jobs.enqueue_together([[EnqueueRequest(one)], [EnqueueRequest(two)]])

    assert [(each.status, each.existing_id) for each in stored] == [
        ("created", None),
        ("existing", one.id),
    ]
    assert await count(storage, one, two) == 1


async def test_a_repeated_batch_stores_nothing_twice(storage):
    batch = [[EnqueueRequest(new_job()), EnqueueRequest(new_job(dedupe_key="a"))]]
    await storage.jobs.enqueue_together(batch)

    again = await storage.jobs.enqueue_together(batch)

    assert [each.status for each in again] == ["created", "created"]
    assert (await job(storage, batch[0][0].job.id)).state is JobState.QUEUED
