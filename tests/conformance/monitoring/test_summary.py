"""Dashboard data, read without the job history: counts, waiting jobs, rates, failures."""

from tests.support.job_builders import (
    ACME,
    ALDER,
    HOUR,
    MINUTE,
    START,
    a_job,
    a_tenant,
    enqueue,
    finish,
    lost,
    new_jobs,
    release,
    started,
)
from windlass.core.jobs.models import ALL_TENANTS, Scope
from windlass.core.jobs.states import ENDED, JobState
from windlass.ids import DefinitionKey, QueueName


async def test_tallies_cover_every_state_by_queue_and_definition(storage):
    await a_tenant(storage, "acme")
    await storage.jobs.enqueue(new_jobs(3, tenant=ACME, queue=QueueName("mail")))
    await storage.jobs.enqueue(new_jobs(2, queue=QueueName("mail")))
    await storage.monitoring.roll_up_counts()
    await storage.jobs.enqueue(new_jobs(1, definition=DefinitionKey("other"), held=True))

    everybody = {
        (t["queue"], t["definition"]): t
        for t in await storage.monitoring.state_counts_by_queue(ALL_TENANTS)
    }
    [mine] = await storage.monitoring.state_counts_by_queue(Scope(ACME))

    assert int(everybody["mail", "plain"]["queued"]) == 5
    assert int(everybody["default", "other"]["pending"]) == 1
    assert int(mine["queued"]) == 3


async def test_waiting_distinguishes_the_views(storage, clock):
    await a_tenant(storage, "acme")
    await enqueue(storage)
    await enqueue(storage, delay=HOUR)
    await enqueue(storage, delay=HOUR, tenant=ACME)
    await enqueue(storage, held=True)
    for ending in (
        lambda lease: finish(lease, JobState.QUEUED, delay=HOUR),
        lambda lease: finish(lease, JobState.QUEUED),
        lambda lease: lost(lease, delay=HOUR),
        lambda lease: release(lease, delay=HOUR),
    ):
        await storage.leases.finish(ALDER, [ending(await started(storage))])

    seen = await storage.monitoring.queued_counts_by_view(ALL_TENANTS, look=100)
    mine = await storage.monitoring.queued_counts_by_view(Scope(ACME), look=100)
    few = await storage.monitoring.queued_counts_by_view(ALL_TENANTS, look=2)

    assert seen == {"live": 2, "later": 5, "scheduled": 3, "retrying": 3}
    assert (mine["scheduled"], mine["retrying"]) == (1, 0)
    assert (few["live"], few["later"]) == (2, 2)


async def test_own_counts_cover_one_creator_by_state_and_view(storage, clock):
    await a_tenant(storage, "acme")
    ada = {"created_by": "token:ada"}
    await enqueue(storage, **ada)
    await enqueue(storage, tenant=ACME, **ada)
    await enqueue(storage, delay=HOUR, **ada)
    await enqueue(storage, held=True, **ada)
    await enqueue(storage, created_by="token:bob")
    await enqueue(storage)
    for state in ENDED:
        await a_job(storage, state, **ada)
        await a_job(storage, state, created_by="token:bob")
    retried = await started(storage, queue=QueueName("retried"), **ada)
    await storage.leases.finish(ALDER, [finish(retried, JobState.QUEUED, delay=HOUR)])
    await started(storage, queue=QueueName("busy"), **ada)
    await clock.advance(MINUTE)

    async def counts(scope=ALL_TENANTS, owner="token:ada", look=100):
        found = await storage.monitoring.own_counts(scope, owner, look=look)
        return {name: int(n) for name, n in found.items() if name in _OWN and int(n)}

    ended = {"completed": 1, "canceled": 1, "dead_letter": 1}
    one_each = {**ended, "pending": 1, "scheduled": 1, "retrying": 1, "running": 1}
    assert await counts() == {**one_each, "queued": 4}
    assert await counts(Scope(ACME)) == {"queued": 1}
    assert await counts(owner="token:bob") == {**ended, "queued": 1}
    assert await counts(owner="token:eve") == {}
    oldest = await storage.monitoring.own_counts(ALL_TENANTS, "token:ada", look=100)
    assert oldest["oldest_due_at"] == START


async def test_own_counts_stop_at_the_look(storage):
    for _ in range(3):
        await a_job(storage, JobState.COMPLETED, created_by="token:ada")
        await enqueue(storage, created_by="token:ada")

    few = await storage.monitoring.own_counts(ALL_TENANTS, "token:ada", look=2)

    assert (int(few["completed"]), int(few["live"]), int(few["queued"])) == (2, 2, 2)


#: The counts of own jobs that are of a state or a view.
_OWN = (*JobState, "scheduled", "retrying")


async def test_oldest_returns_the_earliest_due_time_by_queue(storage, clock):
    await a_tenant(storage, "acme")
    await enqueue(storage, queue=QueueName("mail"))
    await clock.advance(MINUTE)
    await enqueue(storage, queue=QueueName("mail"))
    await enqueue(storage, queue=QueueName("bulk"), tenant=ACME)
    await enqueue(storage, queue=QueueName("soon"), delay=MINUTE)
    await started(storage, queue=QueueName("busy"))
    await clock.advance(MINUTE)

    oldest = await storage.monitoring.oldest_due_at(ALL_TENANTS, look=100)

    assert oldest == {"mail": START, "bulk": START + MINUTE, "soon": START + 2 * MINUTE}
    assert set(await storage.monitoring.oldest_due_at(Scope(ACME), look=100)) == {"bulk"}
