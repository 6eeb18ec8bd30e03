"""Races of upkeep and of changes with all other verbs."""

import asyncio

from tests.conformance.races.race import ROUNDS, in_one_place, race
from tests.support.job_builders import (
    ACME,
    ALDER,
    KNOWN,
    SECOND,
    a_definition,
    a_job,
    a_tenant,
    claim,
    claim_all,
    end,
    finish,
    new_job,
    new_jobs,
    offer,
    regate,
    set_enabled,
)
from windlass.core.jobs.models import ALL_TENANTS
from windlass.core.jobs.states import JobState
from windlass.storage.storage import Storage

PENDING, QUEUED, RUNNING, COMPLETED, CANCELED, DEAD_LETTER = JobState


async def test_promote_against_promote(storage, twin, clock):
    for number in range(ROUNDS):
        await storage.jobs.enqueue(new_jobs(5, delay=SECOND))
        await clock.advance(SECOND)

        one, other = await race(number, storage.leases.promote(), twin.leases.promote())

        assert sum([*one.values(), *other.values()]) <= 5
        leases = await claim_all(storage)
        assert len(leases) == 5
        await storage.leases.finish(ALDER, [finish(lease) for lease in leases])


async def test_fold_against_everything_that_counts(storage, twin):
    for number in range(ROUNDS):
        await storage.jobs.enqueue(new_jobs(3))
        leases = await claim(storage, 2)

        folded, _ = await race(
            number,
            twin.monitoring.roll_up_counts(most=2),
            storage.leases.finish(ALDER, [finish(leases[0]), finish(leases[1], QUEUED)]),
        )

        assert folded <= 2


async def test_prune_keys_against_enqueue_of_the_key(storage, twin, clock):
    for number in range(ROUNDS):
        await a_job(storage, COMPLETED, dedupe_key="k", dedupe_window=SECOND)
        await clock.advance(SECOND)
        new = new_job(dedupe_key="k")

        _, stored = await race(number, twin.monitoring.prune_keys(), offer(storage, new))

        assert stored.status == "created"
        assert (await offer(storage, new_job(dedupe_key="k"))).existing_id == new.id
        await storage.jobs.cancel(ALL_TENANTS, [new.id])


async def test_sync_against_enqueue(storage, twin):
    for number in range(ROUNDS):
        limit = (None, 5)[number % 2]

        stored, _ = await race(
            number,
            storage.jobs.enqueue(new_jobs(3)),
            a_definition(twin, "plain", max_concurrency=limit, code_hash=f"hash {number}"),
        )

        assert [s.status for s in stored] == ["created"] * 3
        await regate(storage)
        leases = await claim_all(storage)
        assert len(leases) == 3
        await storage.leases.finish(ALDER, [finish(lease) for lease in leases])


async def test_disabling_a_definition_against_enqueue(storage, twin):
    for number in range(ROUNDS):
        stored, _ = await race(number, offer(storage, new_job()), set_enabled(twin, "plain", False))

        assert stored.status in ("created", "disabled_definition")
        assert await claim_all(storage) == []
        await set_enabled(storage, "plain", True)
        await regate(storage)
        leases = await claim_all(storage)
        assert len(leases) == (1 if stored.status == "created" else 0)
        await storage.leases.finish(ALDER, [finish(lease) for lease in leases])


async def test_deleting_a_tenant_against_enqueue(storage, twin):
    for number in range(ROUNDS):
        await a_tenant(storage, "acme")

        stored, _ = await race(
            number,
            offer(storage, new_job(tenant=ACME)),
            a_tenant(twin, "acme", state="deleted"),
        )

        assert stored.status in ("created", "unknown_tenant")
        found = await storage.access.open_jobs(ACME)
        assert found == ([stored.id] if stored.status == "created" else [])
        await storage.jobs.cancel(ALL_TENANTS, found, to=DEAD_LETTER)


async def test_enqueue_against_its_own_repeat(storage, twin):
    for number in range(ROUNDS):
        new = new_job(dedupe_key=f"key {number}") if number % 4 < 2 else new_job()

        one, other = await race(number, offer(storage, new), offer(twin, new))

        assert "created" in (one.status, other.status)
        assert await in_one_place(storage, new.id)
        assert len(await claim_all(storage)) == 1


async def test_a_whole_job_life_with_everything_concurrent(storage, twin, clock):
    """Workers, people and upkeep at once: every job ends once, or waits."""
    new = new_jobs(40) + new_jobs(10, delay=SECOND) + new_jobs(10, definition="limited")
    await storage.jobs.enqueue(new)
    await clock.advance(SECOND)

    async def work(mine: Storage, name: str) -> None:
        for _ in range(12):
            leases = await claim(mine, 5, worker=name)
            endings = [COMPLETED, QUEUED, DEAD_LETTER]
            await mine.leases.finish(
                ALDER, [finish(lease, endings[lease.token % 3]) for lease in leases]
            )

    async def meddle(mine: Storage) -> None:
        for chosen in new[::4]:
            await mine.jobs.cancel(ALL_TENANTS, [chosen.id])
            await mine.jobs.retry(ALL_TENANTS, chosen.id)

    async def keep_up(mine: Storage) -> None:
        for _ in range(12):
            await mine.leases.promote()
            await mine.monitoring.roll_up_counts(most=5)
            await mine.leases.drop_ended_claims()

    await asyncio.gather(
        work(storage, "a"), work(twin, "b"), meddle(twin), keep_up(storage), keep_up(twin)
    )

    assert await storage.jobs.existing_job_ids([n.id for n in new]) == {n.id for n in new}
    for lease in await claim_all(storage, known=KNOWN):
        assert await end(storage, lease) is not None
