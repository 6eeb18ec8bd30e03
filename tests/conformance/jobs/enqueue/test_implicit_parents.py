"""Implicit parents: jobs of a definition with `runs_after` wait for open jobs of the named ones."""

from tests.support.job_builders import (
    ACME,
    HOUR,
    a_tenant,
    enqueue,
    job,
    new_job,
    offer,
    started,
)
from windlass.core.jobs.models import DEFAULT_TENANT
from windlass.core.jobs.states import JobState
from windlass.ids import DefinitionKey
from windlass.storage.jobs.enqueue import open_jobs_of_definitions

FOLLOWER = {"definition": DefinitionKey("other"), "runs_after": ("plain",)}


async def test_a_follower_waits_for_queued_running_pending_and_later_jobs(storage):
    await a_tenant(storage, ACME)
    running = (await started(storage)).job_id
    open_ones = {
        running,
        await enqueue(storage),
        await enqueue(storage, held=True),
        await enqueue(storage, delay=HOUR),
    }
    await enqueue(storage, tenant=ACME)
    await enqueue(storage, definition=DefinitionKey("limited"))

    found = await open_jobs_of_definitions(storage.database, DEFAULT_TENANT, ["plain", "nothing"])
    follower = await enqueue(storage, **FOLLOWER)

    assert set(found) == open_ones
    stored = await job(storage, follower)
    assert (stored.state, stored.waits) == (JobState.PENDING, 4)


async def test_a_follower_without_open_predecessors_does_not_wait(storage):
    follower = await enqueue(storage, **FOLLOWER)

    assert (await job(storage, follower)).state is JobState.QUEUED


async def test_a_follower_in_a_batch_waits_for_earlier_jobs_of_it(storage):
    first, follower, last = new_job(), new_job(**FOLLOWER), new_job()

    await storage.jobs.enqueue([first, follower, last])

    family = await storage.jobs.job_edges(await job(storage, follower.id))
    assert [edge.parent_id for edge in family] == [first.id]


async def test_a_follower_of_its_own_definition_does_not_wait_for_itself(storage):
    first = new_job(runs_after=("plain",))
    await offer(storage, first)

    await offer(storage, first)  # the response was lost, so the call is repeated
    second = await enqueue(storage, runs_after=("plain",))

    assert (await job(storage, first.id)).state is JobState.QUEUED
    assert (await job(storage, second)).waits == 1
