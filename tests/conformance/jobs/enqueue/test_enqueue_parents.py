"""enqueue: the parents a job may have."""

from tests.support.job_builders import (
    ACME,
    a_tenant,
    end,
    enqueue,
    enqueue_child,
    job,
    lease_of,
    new_job,
    offer,
    state_of,
)
from windlass.core.jobs.states import JobState
from windlass.ids import DefinitionKey, new_job_id


async def test_a_job_of_a_batch_may_have_an_earlier_one_as_parent(storage):
    first = new_job()
    second = new_job(after=(first.id,))
    third = new_job(after=(first.id, second.id))

    stored = await storage.jobs.enqueue([first, second, third])
    await storage.leases.admit([second.id, third.id])

    assert [s.status for s in stored] == ["created"] * 3
    assert [(await job(storage, n.id)).waits for n in (first, second, third)] == [0, 1, 2]


async def test_a_job_of_a_batch_may_not_have_itself_or_a_later_one_as_parent(storage):
    later = new_job()
    own = new_job_id()

    stored = await storage.jobs.enqueue(
        [new_job(after=(later.id,)), later, new_job(id=own, after=(own,))]
    )

    assert [s.status for s in stored] == ["unknown_parent", "created", "unknown_parent"]


async def test_a_job_whose_parent_in_the_batch_is_refused_is_refused_too(storage):
    refused = new_job(definition=DefinitionKey("nobody's"))
    child = new_job(after=(refused.id,))
    grandchild = new_job(after=(child.id,))

    stored = await storage.jobs.enqueue([refused, child, grandchild])

    assert [s.status for s in stored] == ["unknown_definition", "unknown_parent", "unknown_parent"]
    assert await storage.jobs.existing_job_ids([s.id for s in stored]) == set()


async def test_a_parent_in_the_batch_that_is_a_duplicate_stands_for_the_existing_job(storage):
    existing = await enqueue(storage, dedupe_key="d")
    parent = new_job(dedupe_key="d")
    child = new_job(after=(parent.id,))

    stored = await storage.jobs.enqueue([parent, child])
    await storage.leases.admit([child.id])

    assert [(s.status, s.existing_id) for s in stored] == [
        ("existing", existing),
        ("created", None),
    ]
    await end(storage, await lease_of(storage, existing))
    assert await state_of(storage, child.id) is JobState.QUEUED


async def test_a_parent_of_another_tenant_in_the_same_batch_is_unknown(storage):
    await a_tenant(storage, "acme")
    parent = new_job(tenant=ACME)

    stored = await storage.jobs.enqueue([parent, new_job(after=(parent.id,))])

    assert [s.status for s in stored] == ["created", "unknown_parent"]


async def test_one_unknown_parent_refuses_the_job(storage):
    known = await enqueue(storage)

    stored = await offer(storage, new_job(after=(known, new_job_id())))

    assert stored.status == "unknown_parent"


async def test_a_repeated_parent_counts_once(storage):
    parent = await enqueue(storage)
    child = await enqueue_child(storage, parent, parent)

    await end(storage, await lease_of(storage, parent))

    assert await state_of(storage, child) is JobState.QUEUED
