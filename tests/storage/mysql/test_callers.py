"""The locks that an enqueue holds in a caller's transaction on MariaDB, at any isolation level."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import closing
from dataclasses import replace
from typing import Any

import pytest

from tests.databases.connect import connect_mariadb
from tests.support.job_builders import (
    ALDER,
    DEFINITIONS,
    a_job,
    a_tenant,
    claim,
    end,
    enqueue,
    finish,
    new_job,
    state_of,
)
from windlass.core.jobs.states import JobState
from windlass.ids import DefinitionKey, TenantId
from windlass.storage.callers import caller_session, drive
from windlass.storage.jobs.enqueue import store
from windlass.storage.storage import Storage, open_storage

pytestmark = pytest.mark.parametrize("database", ["mariadb"], indirect=True)

ISOLATION = ["repeatable read", "read committed", "serializable"]


@pytest.fixture
async def storage(database) -> AsyncIterator[Storage]:
    storage = open_storage(database.url)
    await storage.definitions.sync_definitions(DEFINITIONS)
    yield storage
    await storage.close()


@pytest.fixture
def caller(database) -> Iterator[Any]:
    with closing(connect_mariadb(database.url)) as connection:
        yield connection


@pytest.mark.parametrize("isolation", ISOLATION[:2])
async def test_an_open_transaction_with_jobs_blocks_nobody(storage, caller, isolation):
    parent = await enqueue(storage)
    running = await enqueue(storage, queue="busy")
    # Not claimed below: a caller who sees a snapshot holds the key of a job it met.
    existing = await enqueue(storage, queue="kept", dedupe_key="taken")
    caller.query(f"set session transaction isolation level {isolation}")
    caller.begin()
    stored = drive(
        store(
            caller_session(caller, storage.database),
            [
                new_job(),
                new_job(delay=None, held=True),
                new_job(after=(parent,)),
                new_job(dedupe_key="taken"),
                new_job(definition=DefinitionKey("nobody's")),
                new_job(tenant=TenantId("nobody")),
            ],
        )
    )

    async with asyncio.timeout(8):  # the server's own patience with a lock is longer
        await enqueue(storage)
        await enqueue(storage, held=True)
        await enqueue(storage, dedupe_key="free", idempotency_key="free")
        await a_tenant(storage, "new")
        await storage.access.change_tenant("default", lambda tenant: replace(tenant, weight=2))
        await storage.definitions.sync_definitions([replace(DEFINITIONS[0], code_hash="2")])
        leases = await claim(storage, 10, queues=["busy", "default"])
        await storage.leases.finish(ALDER, [finish(lease) for lease in leases])
        await storage.leases.promote()

    assert [s.status for s in stored] == [
        "created",
        "created",
        "created",
        "existing",
        "unknown_definition",
        "unknown_tenant",
    ]
    assert stored[3].existing_id == existing
    assert running in {lease.job_id for lease in leases}
    caller.rollback()


@pytest.mark.parametrize("isolation", ISOLATION)
async def test_a_job_met_that_was_stored_after_the_caller_began_is_named(
    storage, caller, isolation
):
    caller.query(f"set session transaction isolation level {isolation}")
    caller.begin()
    with caller.cursor() as cursor:
        cursor.execute("select count(*) from windlass_workers")  # the snapshot is of now
    met = await enqueue(storage, dedupe_key="d")
    ended = await a_job(storage, JobState.COMPLETED, idempotency_key="i")

    stored = drive(
        store(
            caller_session(caller, storage.database),
            [new_job(dedupe_key="d"), new_job(idempotency_key="i")],
        )
    )

    caller.commit()
    assert [(s.status, s.existing_id) for s in stored] == [
        ("existing", met),
        ("existing", ended.id),
    ]


@pytest.mark.parametrize("isolation", ISOLATION)
async def test_jobs_exist_once_the_caller_commits_and_not_before(storage, caller, isolation):
    caller.query(f"set session transaction isolation level {isolation}")
    caller.begin()
    job = new_job(payload='"Ünïcödé 😀"', dedupe_key="d ")
    drive(store(caller_session(caller, storage.database), [job]))

    assert await storage.jobs.existing_job_ids([job.id]) == set()
    caller.commit()
    assert await state_of(storage, job.id) is JobState.QUEUED
    [lease] = await claim(storage)
    assert await end(storage, lease) is JobState.COMPLETED
