"""Races of claim with changes of limits: a limit holds in either order."""

import asyncio
from dataclasses import replace

import pytest

from tests.conformance.races.race import ROUNDS, race, uncommitted
from tests.support.job_builders import (
    ACME,
    KNOWN,
    a_definition,
    a_tenant,
    change_definition,
    claim,
    claim_all,
    end,
    enqueue,
    new_job,
    new_jobs,
    regate,
)
from windlass.core.definitions import merge
from windlass.core.definitions.definition import Definition
from windlass.core.definitions.options import edits
from windlass.core.jobs.models import DEFAULT_TENANT
from windlass.core.leases.gates import own_gate
from windlass.ids import DefinitionKey, QueueName, new_job_id

SYNC = DefinitionKey("sync")
SYNCS = (*KNOWN, SYNC)
#: Long enough for a statement to meet the first one's locks; too short costs only sharpness.
MEETING = 0.05


def gate(key):
    return own_gate(Definition(key=SYNC, title="Sync"), DEFAULT_TENANT, key)


async def edit(storage, key, **changes):
    await storage.definitions.change_definitions(
        [key], lambda found: [merge.apply_edits(each, edits(changes)) for each in found.values()]
    )


async def test_claim_against_limiting_a_new_queue(storage, twin):
    for number in range(ROUNDS):
        queue = QueueName(f"of {new_job_id()}")
        await storage.jobs.enqueue(new_jobs(4, queue=queue))

        first, _ = await race(
            number, claim(storage, 1, queues=[queue]), twin.leases.upsert_queue(queue, limit=2)
        )
        rest = await claim_all(twin, queues=[queue])

        assert len(first) + len(rest) == 2


async def test_uncommitted_claim_against_limiting_its_queue(storage, twin):
    queue = QueueName("mail")
    await storage.jobs.enqueue(new_jobs(4, queue=queue))

    async with uncommitted(storage) as inside:
        first = await claim(inside, 1, queues=[queue])
        limiting = asyncio.create_task(twin.leases.upsert_queue(queue, limit=2))
        await asyncio.wait({limiting}, timeout=MEETING)
    await limiting

    assert len(first) + len(await claim_all(twin, queues=[queue])) == 2


async def test_claim_against_pausing_its_queue(storage, twin):
    for number in range(ROUNDS):
        queue = QueueName(f"of {new_job_id()}")
        await enqueue(storage, queue=queue)

        leases, _ = await race(
            number, claim(storage, queues=[queue]), twin.leases.upsert_queue(queue, paused=True)
        )

        assert await claim(storage, queues=[queue]) == []
        await twin.leases.upsert_queue(queue, paused=False)
        assert len(leases + await claim(storage, queues=[queue])) == 1


async def test_claim_against_limiting_its_definition(storage, twin):
    for number in range(ROUNDS):
        key = DefinitionKey(f"sync {number}")
        await a_definition(storage, key)
        await storage.jobs.enqueue(new_jobs(4, definition=key))

        first, _ = await race(
            number, claim(storage, 1, known=[key]), edit(twin, key, max_concurrency=2)
        )
        await regate(storage)
        rest = await claim_all(twin, known=[key])

        assert len(first) + len(rest) == 2


async def test_claim_against_limiting_its_key(storage, twin):
    for number in range(ROUNDS):
        await a_definition(storage, "sync", limit_key="args.a", code_hash=str(number))
        jobs = [new_job(definition=SYNC, gate=gate(f"key {number}")) for _ in range(4)]
        await storage.jobs.enqueue(jobs)

        first, _ = await race(
            number, claim(storage, 1, known=SYNCS), edit(twin, "sync", max_per_key=2)
        )
        rest = await claim_all(twin, known=SYNCS)

        assert len(first) + len(rest) == 2
        for lease in first + rest:
            await end(storage, lease)
        await edit(storage, "sync", max_per_key=None)
        for lease in await claim_all(storage, known=SYNCS):
            await end(storage, lease)


async def test_concurrent_claims_under_one_rate(storage, twin):
    for number in range(ROUNDS):
        key = DefinitionKey(f"sync {number}")
        await a_definition(storage, key, rate_count=5, rate_seconds=3600.0)
        await storage.jobs.enqueue(new_jobs(20, definition=key))

        rounds = await asyncio.gather(
            *(claim((storage, twin)[n % 2], 2, worker=f"w{n}", known=[key]) for n in range(6))
        )
        rest = await claim_all(storage, known=[key])

        assert sum(map(len, rounds)) + len(rest) == 5


async def test_concurrent_claims_under_rates_of_many_keys(storage, twin):
    await a_definition(storage, "sync", limit_key="a", key_rate_count=2, key_rate_seconds=3600.0)
    keys = [f"key {n}" for n in range(6)]
    await storage.jobs.enqueue([new_job(definition=SYNC, gate=gate(key)) for key in keys * 4])

    rounds = await asyncio.gather(
        *(claim((storage, twin)[n % 2], 4, worker=f"w{n}", known=SYNCS) for n in range(10))
    )
    rest = await claim_all(storage, known=SYNCS)

    taken = [lease.gate for leases in [*rounds, rest] for lease in leases]
    assert {key: taken.count(gate(key)) for key in keys} == dict.fromkeys(keys, 2)


async def test_concurrently_setting_and_removing_tenant_queue_and_definition_limits(storage, twin):
    for number in range(ROUNDS):
        limit = 3 if number % 2 else None
        await asyncio.gather(
            a_tenant(storage, "acme", max_running=limit),
            twin.leases.upsert_queue("mail", limit=limit),
            change_definition(storage, "other", max_concurrency=limit),
            a_tenant(twin, "globex", max_running=limit),
        )

        names = {row["name"] for row in await storage.database.query(LIMITS, {})}
        subjects = {"tenant:acme", "tenant:globex", "queue:mail", "definition:other"}
        assert names == {"definition:limited"} | (subjects if limit else set())


async def test_uncommitted_removal_of_a_tenants_limit_against_another_limit(storage, twin):
    await a_tenant(storage, "acme", max_running=3)

    async with uncommitted(storage) as inside:
        await a_tenant(inside, "acme", max_running=None)
        limiting = asyncio.create_task(twin.leases.upsert_queue("mail", limit=1))
        await asyncio.wait({limiting}, timeout=MEETING)
    await limiting

    names = {row["name"] for row in await storage.database.query(LIMITS, {})}
    assert names == {"definition:limited", "queue:mail"}


async def test_an_edit_against_a_sync(storage, twin):
    for number in range(ROUNDS):
        declared = Definition(key=SYNC, title=f"Sync {number}", code_hash=str(number))

        await storage.definitions.sync_definitions([declared])
        newer = Definition(key=SYNC, title=f"Newer {number}", code_hash=f"n{number}")
        await race(
            number,
            edit(storage, "sync", max_attempts=9),
            twin.definitions.sync_definitions([newer]),
        )

        [row] = [each for each in await storage.definitions.definitions() if each.key == SYNC]
        assert (row.title, row.max_attempts, row.edited) == (newer.title, 9, ("max_attempts",))


async def test_an_edit_against_another_edit(storage, twin):
    for number in range(ROUNDS):
        await race(
            number,
            edit(storage, "plain", max_attempts=number + 4),
            edit(twin, "plain", tags=[f"round {number}"]),
        )

        [row] = [each for each in await storage.definitions.definitions() if each.key == "plain"]
        assert (row.max_attempts, tuple(row.tags)) == (number + 4, (f"round {number}",))


async def test_suspending_a_tenant_against_another_change(storage, twin):
    for number in range(ROUNDS):
        await a_tenant(storage, "acme")

        await race(
            number,
            storage.access.change_tenant("acme", lambda tenant: replace(tenant, weight=7)),
            twin.access.change_tenant("acme", lambda tenant: replace(tenant, state="suspended")),
        )

        [acme] = [tenant for tenant in await storage.access.tenants() if tenant.id == ACME]
        assert (acme.weight, acme.state) == (7, "suspended")


@pytest.mark.parametrize("paused_first", [True, False])
async def test_pausing_a_queue_against_limiting_it(storage, twin, paused_first):
    pause, limit = (
        twin.leases.upsert_queue("mail", paused=True, reason="later"),
        storage.leases.upsert_queue("mail", limit=4),
    )

    await race(paused_first, limit, pause)

    [queue] = await storage.leases.queues()
    assert (queue.max_concurrency, queue.pause_reason) == (4, "later")


async def test_ends_and_claims_against_changing_limits(storage, twin):
    """There is no deadlock, and running jobs are counted."""
    await a_tenant(storage, "acme")
    await storage.jobs.enqueue([*new_jobs(30, tenant=ACME), *new_jobs(30, queue=QueueName("mail"))])

    async def work(mine, name):
        done = 0
        for _ in range(15):
            for lease in await claim(mine, 3, worker=name):
                assert await end(mine, lease)
                done += 1
        return done

    async def steer(theirs):
        for n in range(1, 8):
            await theirs.leases.upsert_queue("mail", limit=n if n % 2 else None)
            await a_tenant(theirs, "acme", max_running=n if n % 2 else None)
            await edit(theirs, "plain", max_concurrency=4 * n if n % 2 else None)
            await regate(theirs)

    async with asyncio.timeout(60):
        await asyncio.gather(work(storage, "a"), work(twin, "b"), steer(storage), steer(twin))


LIMITS = "select name from windlass_limits"
