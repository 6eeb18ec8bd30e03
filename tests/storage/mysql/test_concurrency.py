"""Many at once on MariaDB: no job is taken twice, and no deadlock reaches anybody."""

import asyncio
import random
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.support.job_builders import (
    ALDER,
    DEFINITIONS,
    KNOWN,
    LEASE_TIME,
    claim,
    finish,
    held,
    new_job,
    new_jobs,
    settle,
)
from windlass.core.access.tenant import Tenant
from windlass.core.jobs.models import ALL_TENANTS
from windlass.core.jobs.states import JobState
from windlass.ids import DefinitionKey, JobId, TenantId, WorkerId
from windlass.storage.storage import Storage, open_storage

pytestmark = pytest.mark.parametrize("database", ["mariadb"], indirect=True)

CROWD = 8
TENANTS = [TenantId(f"t{n}") for n in range(5)]


async def prepare(storage: Storage) -> None:
    await storage.definitions.sync_definitions(DEFINITIONS)
    for tenant in TENANTS:
        await storage.access.create_tenant(Tenant(id=tenant, name=tenant))


def each_in_a_thread(work) -> list:
    """Run `work` in several threads at once, each with its own event loop; returns the results."""
    start = threading.Barrier(CROWD)

    def run(number: int):
        start.wait(30)
        return asyncio.run(work(number))

    with ThreadPoolExecutor(CROWD) as threads:
        return list(threads.map(run, range(CROWD)))


def test_claims_of_eight_workers_take_each_job_once(database):
    async def fill() -> set[JobId]:
        storage = open_storage(database.url)
        await prepare(storage)
        jobs = [job for tenant in TENANTS for job in new_jobs(120, tenant=tenant)]
        jobs += new_jobs(30, definition=DefinitionKey("limited"))
        await storage.jobs.enqueue(jobs)
        await storage.close()
        return {job.id for job in jobs}

    async def work(number: int) -> list[JobId]:
        storage = open_storage(database.url)
        worker = WorkerId(f"w{number}")
        done: list[JobId] = []
        misses = 0
        while misses < 20:
            leases = await claim(storage, random.randint(1, 20), worker=worker)
            misses = 0 if leases else misses + 1
            await storage.leases.renew(
                worker, [held(lease) for lease in leases], lease_time=LEASE_TIME
            )
            ended = await storage.leases.finish(worker, [finish(lease) for lease in leases])
            done += [lease.job_id for lease in ended]
        await storage.close()
        return done

    stored = asyncio.run(fill())
    done = Counter(id for ids in each_in_a_thread(work) for id in ids)

    assert set(done) == stored
    assert set(done.values()) == {1}


def test_concurrent_verbs_end_with_correct_counts(database):
    """Enqueue, claim, finish, retry, cancel, promote and fold, all on the same few lines."""

    async def work(number: int) -> None:
        storage = open_storage(database.url)
        choose = random.Random(number)
        for turn in range(15):
            key = f"k{choose.randrange(4)}"
            parent = new_job(tenant=choose.choice(TENANTS))
            await storage.jobs.enqueue(
                [
                    parent,
                    new_job(tenant=parent.tenant, after=(parent.id,)),
                    new_job(tenant=choose.choice(TENANTS), dedupe_key=key),
                    new_job(idempotency_key=f"{key} {turn}", dedupe_key=f"of {key}"),
                    new_job(definition=DefinitionKey("limited")),
                ]
            )
            leases = await claim(storage, 10, worker=f"w{number}")
            states = [JobState.COMPLETED, JobState.QUEUED, JobState.DEAD_LETTER]
            await storage.leases.finish(
                ALDER, [finish(lease, choose.choice(states)) for lease in leases]
            )
            await storage.leases.promote()
            await settle(storage)
            await storage.jobs.cancel(ALL_TENANTS, [parent.id])
            for lease in leases[:2]:
                await storage.jobs.retry(ALL_TENANTS, lease.job_id)
            await storage.monitoring.roll_up_counts(most=20)
        await storage.close()

    async def check() -> None:
        storage = open_storage(database.url)
        kept, counted = await storage.jobs.recount(ALL_TENANTS)
        for counts in (await storage.jobs.state_counts(ALL_TENANTS), kept):
            assert {
                (row["tenant_id"], row["queue"], row["definition"]): [row[s] for s in JobState]
                for row in counts
            } == {
                (row["tenant_id"], row["queue"], row["definition"]): [row[s] for s in JobState]
                for row in counted
            }
        await storage.close()

    async def begin() -> None:
        storage = open_storage(database.url)
        await prepare(storage)
        await storage.close()

    asyncio.run(begin())
    each_in_a_thread(work)
    asyncio.run(check())


def test_definitions_declared_by_eight_processes_at_once_are_stored_once(database):
    async def declare(number: int) -> set[str]:
        storage = open_storage(database.url)
        changed = await storage.definitions.sync_definitions(DEFINITIONS)
        await storage.close()
        return changed

    answers = each_in_a_thread(declare)

    assert set().union(*answers) == set(KNOWN)
