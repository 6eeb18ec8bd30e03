"""replace: a waiting job gets the payload and due time of a newer one with its dedupe key."""

import asyncio
import json
from datetime import timedelta

import pytest

from tests.support.job_builders import (
    ACME,
    HOUR,
    MINUTE,
    START,
    a_definition,
    a_tenant,
    claim_all,
    end,
    enqueue,
    job,
    new_job,
    offer,
)
from windlass.core.definitions.definition import Definition
from windlass.core.jobs.models import ALL_TENANTS, DEFAULT_TENANT
from windlass.core.jobs.states import JobState
from windlass.core.leases.gates import own_gate
from windlass.ids import DefinitionKey

KEY = "index:7"


def newer(n, **changes):
    return new_job(dedupe_key=KEY, payload=json.dumps({"n": n}), **changes)


async def replace(storage, new):
    receipt = await offer(storage, new)
    assert receipt.status == "existing"
    return await storage.jobs.replace(new, receipt.existing_id)


@pytest.mark.parametrize("delay", [None, 5 * MINUTE])
async def test_a_waiting_job_gets_the_newer_payload_and_due_time(storage, delay):
    id = await enqueue(storage, dedupe_key=KEY, delay=delay)

    stored = await replace(storage, newer(2, delay=MINUTE))

    waiting = await job(storage, id)
    assert (stored.status, stored.existing_id) == ("replaced", id)
    assert (waiting.payload, waiting.state) == ({"n": 2}, JobState.QUEUED)
    assert waiting.due_at == START + MINUTE


async def test_a_debounced_job_runs_after_its_maximum_wait(storage, clock):
    id = await enqueue(storage, dedupe_key=KEY, delay=MINUTE)

    for n in range(2, 20):
        await clock.advance(timedelta(seconds=30))
        await replace(storage, newer(n, delay=MINUTE, max_wait=5 * MINUTE))

    waiting = await job(storage, id)
    assert waiting.due_at == START + 5 * MINUTE
    assert waiting.payload == {"n": 19}
    [lease] = await claim_all(storage)
    assert json.loads(lease.payload) == {"n": 19}


async def test_a_running_job_releases_its_key_to_the_newer_job(storage):
    await enqueue(storage, dedupe_key=KEY)
    [lease] = await claim_all(storage)

    new = newer(2)
    stored = await replace(storage, new)

    assert (stored.status, stored.id) == ("created", new.id)
    assert json.loads(lease.payload) == {"n": 1}
    assert await end(storage, lease, JobState.QUEUED) is JobState.QUEUED
    assert (await offer(storage, newer(3))).existing_id == new.id


async def test_the_newer_job_holds_the_key_until_it_ends(storage):
    await enqueue(storage, dedupe_key=KEY)
    [first] = await claim_all(storage)
    new = newer(2)
    await replace(storage, new)

    await end(storage, first)
    assert (await offer(storage, newer(3))).existing_id == new.id
    [second] = await claim_all(storage)
    await end(storage, second)

    assert (await offer(storage, newer(4))).status == "created"


@pytest.mark.parametrize("delay", [None, HOUR], ids=["due", "later"])
async def test_a_newer_payload_without_a_limit_key_removes_the_limit(storage, delay):
    await a_definition(storage, "sync", limit_key="args.a", max_per_key=1, max_concurrency=9)
    sync = Definition(key=DefinitionKey("sync"), title="Sync")
    about = {"definition": sync.key, "dedupe_key": KEY}
    id = await enqueue(storage, gate=own_gate(sync, DEFAULT_TENANT, "7"), delay=delay, **about)

    await replace(storage, new_job(delay=MINUTE, **about))

    assert (await job(storage, id)).gate == "sync"


async def test_another_tenants_job_is_not_replaced(storage):
    await a_tenant(storage, "acme")
    id = await enqueue(storage, dedupe_key=KEY)

    stored = await storage.jobs.replace(newer(2, tenant=ACME), id)

    assert stored.status == "created"
    assert (await job(storage, id)).payload == {"n": 1}


async def test_concurrent_replaces_leave_one_job_with_one_of_the_payloads(storage, twin):
    id = await enqueue(storage, dedupe_key=KEY, delay=HOUR)

    results = await asyncio.gather(
        *(replace((storage, twin)[n % 2], newer(n, delay=HOUR)) for n in range(10))
    )

    assert {result.status for result in results} == {"replaced"}
    assert (await job(storage, id)).payload["n"] in range(10)


async def test_a_job_asked_to_stop_is_not_replaced(storage):
    await enqueue(storage, dedupe_key=KEY)
    [lease] = await claim_all(storage)
    await storage.jobs.cancel(ALL_TENANTS, [lease.job_id])

    assert (await replace(storage, newer(2))).status == "created"


async def test_a_job_of_another_definition_is_not_replaced(storage):
    id = await enqueue(storage, dedupe_key=KEY, delay=HOUR)
    await a_definition(storage, "sync")

    stored = await storage.jobs.replace(newer(2, definition=DefinitionKey("sync")), id)

    assert (stored.status, stored.existing_id) == ("existing", id)
    assert (await job(storage, id)).payload == {"n": 1}


@pytest.mark.parametrize("running", [False, True], ids=["waits", "runs"])
async def test_another_users_job_is_not_replaced(storage, running):
    id = await enqueue(storage, dedupe_key=KEY, created_by="user:ada")
    if running:
        await claim_all(storage)

    stored = await storage.jobs.replace(newer(2, created_by="user:bob"), id, owner="user:bob")

    assert (stored.status, stored.existing_id) == ("existing", id)
    assert (await job(storage, id)).payload == {"n": 1}
    assert (await offer(storage, newer(3))).existing_id == id


async def test_the_owners_own_job_is_replaced(storage):
    id = await enqueue(storage, dedupe_key=KEY, created_by="user:ada")

    stored = await storage.jobs.replace(newer(2, created_by="user:ada"), id, owner="user:ada")

    assert stored.status == "replaced"


@pytest.mark.parametrize("delay", [None, HOUR], ids=["due", "later"])
async def test_the_history_shows_each_replacing_actor_once_with_the_latest_time(
    storage, clock, delay
):
    id = await enqueue(storage, dedupe_key=KEY, delay=delay)
    for who in ("ada", None, "ada", None):
        await clock.advance(MINUTE)
        await replace(storage, newer(2, created_by=who, delay=HOUR))

    steps = await storage.jobs.transitions(await job(storage, id))

    assert [(s.actor, s.at - START) for s in sorted(steps, key=lambda s: s.at)] == [
        ("ada", 3 * MINUTE),
        (None, 4 * MINUTE),
    ]
    assert {(s.from_state, s.to_state, s.message) for s in steps} == {
        (JobState.QUEUED, JobState.QUEUED, "replaced by a newer job with its dedupe key")
    }
