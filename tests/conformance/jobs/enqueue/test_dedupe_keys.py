"""Dedupe keys and idempotency keys: one job, however often and from wherever it is enqueued."""

import asyncio
from datetime import timedelta

import pytest

from tests.support.job_builders import (
    ACME,
    ALDER,
    DAY,
    GLOBEX,
    HOUR,
    MINUTE,
    SECOND,
    a_job,
    a_tenant,
    claim_all,
    end,
    enqueue,
    job,
    lease_of,
    lost,
    new_job,
    new_jobs,
    offer,
    release,
    rows_of,
    started,
)
from windlass.core.jobs.models import ALL_TENANTS
from windlass.core.jobs.states import ENDED, OPEN, JobState
from windlass.storage.jobs.jobs import EnqueueResult

KEYS = ["dedupe_key", "idempotency_key"]

# Dedupe keys


@pytest.mark.parametrize("state", sorted(OPEN))
async def test_a_dedupe_key_returns_the_open_job(storage, state):
    first = await a_job(storage, state, dedupe_key="d")
    second = new_job(dedupe_key="d")

    stored = await offer(storage, second)

    assert stored == EnqueueResult(second.id, "existing", first.id)
    assert await storage.jobs.existing_job_ids([second.id]) == set()


@pytest.mark.parametrize("state", sorted(ENDED))
async def test_a_dedupe_key_without_a_window_is_free_after_the_end(storage, state):
    await a_job(storage, state, dedupe_key="d")

    second = await enqueue(storage, dedupe_key="d")

    assert (await offer(storage, new_job(dedupe_key="d"))).existing_id == second


async def test_a_dedupe_key_stays_taken_while_its_job_is_retried(storage, clock):
    lease = await started(storage, dedupe_key="d")
    await end(storage, lease, JobState.QUEUED, delay=MINUTE)
    retrying = await offer(storage, new_job(dedupe_key="d"))
    lease = await enqueued_after(storage, clock, MINUTE, lease.job_id)
    await storage.leases.finish(ALDER, [release(lease)])
    released = await offer(storage, new_job(dedupe_key="d"))
    lease = await lease_of(storage, lease.job_id)
    await clock.advance(HOUR)
    await storage.leases.reap([lost(lease)])

    reaped = await offer(storage, new_job(dedupe_key="d"))

    assert {retrying.existing_id, released.existing_id, reaped.existing_id} == {lease.job_id}


async def enqueued_after(storage, clock, time, id):
    await clock.advance(time)
    return await lease_of(storage, id)


@pytest.mark.parametrize("state", sorted(ENDED))
async def test_a_dedupe_window_starts_at_enqueue_and_outlasts_the_end(storage, clock, state):
    first = await a_job(storage, state, dedupe_key="d", dedupe_window=MINUTE)

    await clock.advance(MINUTE - timedelta(microseconds=1))
    within = await offer(storage, new_job(dedupe_key="d"))
    await clock.advance(timedelta(microseconds=1))
    after = await offer(storage, new_job(dedupe_key="d"))

    assert (within.status, within.existing_id) == ("existing", first.id)
    assert after.status == "created"


async def test_after_the_window_an_open_job_still_holds_the_key(storage, clock):
    first = await enqueue(storage, dedupe_key="d", dedupe_window=SECOND)

    await clock.advance(HOUR)

    assert (await offer(storage, new_job(dedupe_key="d"))).existing_id == first
    await end(storage, await lease_of(storage, first))
    assert (await offer(storage, new_job(dedupe_key="d"))).status == "created"


async def test_a_new_job_starts_its_own_window(storage, clock):
    await a_job(storage, JobState.COMPLETED, dedupe_key="d", dedupe_window=SECOND)
    await clock.advance(SECOND)
    second = await a_job(storage, JobState.COMPLETED, dedupe_key="d", dedupe_window=HOUR)

    await clock.advance(MINUTE)

    assert (await offer(storage, new_job(dedupe_key="d"))).existing_id == second.id


async def test_a_window_holds_even_if_its_job_is_not_kept(storage, clock):
    lease = await started(storage, dedupe_key="d", dedupe_window=MINUTE)
    await end(storage, lease, keep=False)

    within = await offer(storage, new_job(dedupe_key="d"))
    await clock.advance(MINUTE)
    after = await offer(storage, new_job(dedupe_key="d"))

    assert (within.status, within.existing_id) == ("existing", lease.job_id)
    assert after.status == "created"


async def test_keys_of_ended_jobs_are_deleted_after_their_window(storage, clock):
    windowed = await a_job(storage, JobState.COMPLETED, dedupe_key="a", dedupe_window=MINUTE)
    open_job = await enqueue(storage, dedupe_key="b", dedupe_window=SECOND)
    kept = await a_job(storage, JobState.COMPLETED, idempotency_key="c")

    early = await storage.monitoring.prune_keys()
    await clock.advance(HOUR)
    late = await storage.monitoring.prune_keys()

    assert (early, late) == (0, 1)
    assert await rows_of(storage, "windlass_keys", "job_id", windowed.id) == 0
    assert await rows_of(storage, "windlass_keys", "job_id", open_job) == 1
    assert await rows_of(storage, "windlass_keys", "job_id", kept.id) == 1


# Idempotency keys


@pytest.mark.parametrize("state", JobState)
async def test_an_idempotency_key_returns_its_job_in_any_state(storage, clock, state):
    first = await a_job(storage, state, idempotency_key="i")
    await clock.advance(1000 * DAY)
    second = new_job(idempotency_key="i")

    stored = await offer(storage, second)

    assert stored == EnqueueResult(second.id, "existing", first.id)
    assert await storage.jobs.existing_job_ids([second.id]) == set()


async def test_an_idempotency_key_is_free_again_once_its_job_is_pruned(storage, clock):
    first = await a_job(storage, JobState.COMPLETED, idempotency_key="i")
    await clock.advance(DAY)
    assert await storage.monitoring.prune("plain", days=0.5, before_id=new_job().id) == 1

    second = await offer(storage, new_job(idempotency_key="i"))

    assert second.status == "created"
    assert await storage.jobs.get(ALL_TENANTS, first.id) is None


async def test_an_idempotency_key_is_deleted_with_a_job_that_is_not_kept(storage):
    lease = await started(storage, idempotency_key="i")
    await end(storage, lease, keep=False)

    assert (await offer(storage, new_job(idempotency_key="i"))).status == "created"


async def test_an_idempotency_key_is_deleted_with_a_discarded_job(storage):
    dead = await a_job(storage, JobState.DEAD_LETTER, idempotency_key="i")
    await storage.jobs.discard(ALL_TENANTS, dead.id)

    assert (await offer(storage, new_job(idempotency_key="i"))).status == "created"


# Both


@pytest.mark.parametrize("key", KEYS)
async def test_keys_are_per_tenant(storage, key):
    await a_tenant(storage, "acme")
    await a_tenant(storage, "globex")

    stored = await storage.jobs.enqueue(
        [new_job(tenant=ACME, **{key: "k"}), new_job(tenant=GLOBEX, **{key: "k"})]
    )

    assert [s.status for s in stored] == ["created", "created"]


async def test_dedupe_and_idempotency_keys_do_not_collide(storage):
    await enqueue(storage, dedupe_key="k")

    assert (await offer(storage, new_job(idempotency_key="k"))).status == "created"


async def test_a_job_with_both_keys_is_a_duplicate_by_either(storage):
    by_idempotency = await enqueue(storage, idempotency_key="i")
    by_dedupe = await enqueue(storage, dedupe_key="d")

    stored = await storage.jobs.enqueue(
        [
            new_job(dedupe_key="x", idempotency_key="i"),
            new_job(dedupe_key="d", idempotency_key="y"),
            new_job(dedupe_key="d", idempotency_key="i"),
        ]
    )

    assert [(s.status, s.existing_id) for s in stored] == [
        ("existing", by_idempotency),
        ("existing", by_dedupe),
        ("existing", by_idempotency),
    ]


async def test_a_duplicate_by_one_key_does_not_take_the_other(storage):
    await enqueue(storage, idempotency_key="i")
    await enqueue(storage, dedupe_key="d")
    await offer(storage, new_job(dedupe_key="x", idempotency_key="i"))
    await offer(storage, new_job(dedupe_key="d", idempotency_key="y"))

    stored = await offer(storage, new_job(dedupe_key="x", idempotency_key="y"))

    assert stored.status == "created"


async def test_a_job_with_both_keys_holds_both(storage):
    id = await enqueue(storage, dedupe_key="d", idempotency_key="i")

    by_dedupe = await offer(storage, new_job(dedupe_key="d"))
    by_idempotency = await offer(storage, new_job(idempotency_key="i"))

    assert {by_dedupe.existing_id, by_idempotency.existing_id} == {id}


@pytest.mark.parametrize("key", KEYS)
async def test_the_first_of_two_jobs_with_one_key_in_a_batch_is_created(storage, key):
    first, second, other = (*new_jobs(2, **{key: "k"}), new_job(**{key: "other"}))

    stored = await storage.jobs.enqueue([first, second, other])

    assert stored == [
        EnqueueResult(first.id, "created", None),
        EnqueueResult(second.id, "existing", first.id),
        EnqueueResult(other.id, "created", None),
    ]


async def test_the_second_of_two_jobs_with_one_key_is_created_if_the_first_is_refused(storage):
    taken = await enqueue(storage, idempotency_key="taken")
    first = new_job(dedupe_key="k", idempotency_key="taken")
    second = new_job(dedupe_key="k", idempotency_key="free")

    stored = await storage.jobs.enqueue([first, second])

    assert [(s.status, s.existing_id) for s in stored] == [("existing", taken), ("created", None)]


@pytest.mark.parametrize("key", KEYS)
async def test_many_jobs_with_different_keys_are_stored_in_one_batch(storage, key):
    new = [new_job(**{key: f"key {n}"}) for n in range(300)]

    first = await storage.jobs.enqueue(new)
    again = await storage.jobs.enqueue([new_job(**{key: f"key {n}"}) for n in range(300)])

    assert {s.status for s in first} == {"created"}
    assert [s.existing_id for s in again] == [n.id for n in new]


# At the same time


@pytest.mark.parametrize("key", KEYS)
async def test_concurrent_enqueues_of_one_key_create_one_job(storage, twin, key):
    new = new_jobs(24, **{key: "k"})

    results = await asyncio.gather(
        *(offer(storage if n % 2 else twin, one) for n, one in enumerate(new))
    )

    [created] = [s for s in results if s.status == "created"]
    assert {s.existing_id for s in results if s is not created} == {created.id}
    assert await storage.jobs.existing_job_ids([n.id for n in new]) == {created.id}


async def test_concurrent_enqueues_of_both_keys_create_one_job(storage, twin):
    new = new_jobs(16, dedupe_key="d", idempotency_key="i")

    results = await asyncio.gather(
        *(offer(storage if n % 2 else twin, one) for n, one in enumerate(new))
    )

    [created] = [s for s in results if s.status == "created"]
    assert {s.existing_id for s in results if s is not created} == {created.id}


async def test_concurrent_batches_with_the_same_keys_create_each_job_once(storage, twin):
    keys = [f"key {n}" for n in range(40)]
    batches = [
        [new_job(**{kind: key}) for key in order]
        for order in (keys, keys[::-1])
        for kind in KEYS
        for _ in range(2)
    ]

    results = await asyncio.gather(
        *((storage if n % 2 else twin).jobs.enqueue(batch) for n, batch in enumerate(batches))
    )

    statuses = [s.status for result in results for s in result]
    assert statuses.count("created") == 2 * len(keys)
    assert all(s.existing_id for result in results for s in result if s.status == "existing")


async def test_a_key_released_during_enqueues_is_taken_by_one(storage, twin):
    for _ in range(10):
        lease = await started(storage, dedupe_key="k")
        new = new_jobs(4, dedupe_key="k")

        _, *results = await asyncio.gather(
            end(twin, lease), *(offer(storage if n % 2 else twin, o) for n, o in enumerate(new))
        )

        created = [s.id for s in results if s.status == "created"]
        assert len(created) <= 1
        assert {s.existing_id for s in results if s.status == "existing"} <= {
            lease.job_id,
            *created,
        }
        for running in await claim_all(storage):
            await end(storage, running)


async def test_a_key_is_stored_with_the_job(storage):
    id = await enqueue(storage, dedupe_key="d", idempotency_key="i")

    created = await job(storage, id)

    assert (created.dedupe_key, created.idempotency_key) == ("d", "i")
