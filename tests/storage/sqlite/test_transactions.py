"""SQLite transactions that last across awaits: kept or undone as a whole, never left open."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator

import pytest

from tests.support.job_builders import DEFINITIONS, KNOWN, enqueue, new_job
from windlass.core.jobs.models import ALL_TENANTS
from windlass.errors import DatabaseTimeout
from windlass.ids import JobId
from windlass.storage.connection.address import Address
from windlass.storage.jobs.enqueue import store
from windlass.storage.sqlite.database import SqliteDatabase
from windlass.storage.sqlite.write_transaction import TransactionAbandoned
from windlass.storage.storage import Storage

pytestmark = pytest.mark.parametrize("database", ["sqlite"], indirect=True)

ENDLESS = "with recursive n (x) as (select 1 union all select x + 1 from n) select max(x) from n"


@pytest.fixture
async def storage(database) -> AsyncIterator[Storage]:
    """A storage that waits no longer than a second and a half for anything."""
    storage = Storage(SqliteDatabase(Address.parse(database.url), deadline=1.5))
    await storage.definitions.sync_definitions(DEFINITIONS)
    try:
        yield storage
    finally:
        await storage.close()


async def test_an_exception_undoes_everything(storage):
    job = new_job()

    async def fail() -> None:
        async with storage.database.transaction() as session:
            await store(session, [job])
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await fail()

    assert await storage.jobs.existing_job_ids([job.id]) == set()
    assert await is_idle(storage)


async def test_a_cancellation_between_two_verbs_undoes_everything(storage):
    job, stored = new_job(), asyncio.Event()

    async def hold() -> None:
        async with storage.database.transaction() as session:
            await store(session, [job])
            stored.set()
            await asyncio.Event().wait()

    task = asyncio.create_task(hold())
    await stored.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert await storage.jobs.existing_job_ids([job.id]) == set()
    assert await is_idle(storage)


async def test_a_cancellation_in_the_middle_of_a_verb_undoes_everything(storage):
    job = new_job()
    for turns_of_the_loop in range(12):

        async def write() -> None:
            async with storage.database.transaction() as session:
                await store(session, [job])
                await asyncio.Event().wait()

        task = asyncio.create_task(write())
        for _ in range(turns_of_the_loop):
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    assert await is_idle(storage)
    assert await storage.jobs.existing_job_ids([job.id]) == set()


async def test_nobody_else_writes_into_an_open_transaction(storage):
    inside, outside = new_job(), new_job()
    async with storage.database.transaction() as session:
        await store(session, [inside])
        other = asyncio.create_task(storage.jobs.enqueue([outside]))
        assert await storage.jobs.existing_job_ids([inside.id, outside.id]) == set()
        await session.run("state_counts", tenant_id=None)
        assert not other.done()
    await other

    assert await storage.jobs.existing_job_ids([inside.id, outside.id]) == {inside.id, outside.id}


async def test_a_verb_that_fails_ends_the_transaction(storage):
    job = new_job()

    async def go_on_after_an_error() -> None:
        nobody = {"id": None, "name": "", "state": "", "weight": 1, "timezone": "UTC"}
        nobody |= {"max_running": 1, "max_open": None}
        async with storage.database.transaction() as session:
            await store(session, [job])
            with pytest.raises(sqlite3.IntegrityError):
                await session.run("upsert_tenant", **nobody)
            await session.run("state_counts", tenant_id=None)

    with pytest.raises(TransactionAbandoned):
        await go_on_after_an_error()

    assert await storage.jobs.existing_job_ids([job.id]) == set()
    assert await is_idle(storage)


async def test_an_idle_transaction_is_undone_after_the_deadline(storage):
    job = new_job()

    async def wait_for_itself() -> None:
        async with storage.database.transaction() as session:
            await store(session, [job])
            await enqueue(storage)  # which has to wait for the end of this transaction

    with pytest.raises(DatabaseTimeout):
        await wait_for_itself()

    assert await storage.jobs.existing_job_ids([job.id]) == set()
    assert await is_idle(storage)


async def test_a_long_list_does_not_delay_a_claim(storage):
    job = await enqueue(storage)
    long_list = asyncio.create_task(storage.database.query(ENDLESS, {}))
    survey = await storage.leases.survey(None, KNOWN)

    assert not long_list.done()
    assert len(survey.lines) == 1
    with pytest.raises(DatabaseTimeout):
        await long_list
    assert await state(storage, job) == "queued"


async def is_idle(storage: Storage) -> bool:
    """Check that a write succeeds, so no transaction is open."""
    return bool(await state(storage, await enqueue(storage)) == "queued")


async def state(storage: Storage, id: JobId) -> str | None:
    job = await storage.jobs.get(ALL_TENANTS, id)
    return job.state if job else None
