"""MariaDB connections: lost, killed, given up; what the caller hears, and that nothing is mixed up."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import closing
from typing import Any

import pytest

from tests.databases.connect import execute
from tests.storage.mysql.statement_recorder import connect
from tests.support.job_builders import DEFINITIONS, enqueue, new_job, set_enabled
from windlass.core.jobs.models import ALL_TENANTS
from windlass.errors import DatabaseTimeout, DatabaseUnreachable, SchemaOutdated
from windlass.storage.connection.deadlines import Deadlines
from windlass.storage.connection.deadlock_retry import retry_deadlocks
from windlass.storage.database import Lane
from windlass.storage.jobs.enqueue import enqueue_params
from windlass.storage.sql.statements import Batch
from windlass.storage.storage import Storage, open_storage

pytestmark = pytest.mark.parametrize("database", ["mariadb"], indirect=True)

BUSY = (
    "select id from information_schema.processlist"
    " where db = database() and id <> connection_id() and command = 'Query'"
)


@pytest.fixture
async def storage(database) -> AsyncIterator[Storage]:
    storage = open_storage(database.url)
    await storage.definitions.sync_definitions(DEFINITIONS)
    yield storage
    await storage.close()


async def until(url: str, query: str, *, shown: bool) -> None:
    """Wait for the server to show, or no longer show, something."""
    async with asyncio.timeout(20):
        while bool(execute(url, query)) is not shown:  # noqa: ASYNC110  the server must be polled
            await asyncio.sleep(0.02)


def kill_all(storage: Storage, url: str) -> None:
    """End every connection the storage has."""
    for lane in storage.database._pools.values():
        for link in [*lane._idle, *lane._lent]:
            execute(url, f"kill {link.number}")


async def test_a_connection_killed_between_two_calls_is_replaced_unnoticed(storage, database):
    await storage.now()
    kill_all(storage, database.url)

    await enqueue(storage)


async def test_a_connection_killed_inside_a_transaction_undoes_it_and_says_so(storage, database):
    job = new_job()

    async def killed_half_way() -> None:
        async with storage.database.transaction() as session:
            await session.run("enqueue", **enqueue_params([job]))
            kill_all(storage, database.url)
            await session.run("existing_job_ids", ids=Batch(id=[job.id]))

    with pytest.raises(DatabaseUnreachable) as lost:
        await killed_half_way()

    assert lost.value.address in database.url
    assert await storage.jobs.existing_job_ids([job.id]) == set()


async def test_a_killed_commit_stores_nothing(storage, database):
    async def killed_at_the_end() -> None:
        async with storage.database.transaction() as session:
            await session.run("upsert_tenant", **tenant_row("t"))
            kill_all(storage, database.url)

    with pytest.raises(DatabaseUnreachable):
        await killed_at_the_end()

    assert "t" not in {tenant.id for tenant in await storage.access.tenants()}


async def test_an_unreachable_server_is_reported_without_the_password(database):
    storage = open_storage("mariadb://somebody:s3cret@127.0.0.1:1/windlass")

    with pytest.raises(DatabaseUnreachable) as nobody:
        await storage.now()

    assert "127.0.0.1:1" in str(nobody.value)
    assert "s3cret" not in str(nobody.value)
    await storage.close()


async def test_an_empty_database_asks_to_be_migrated(new_database, database):
    storage = open_storage(new_database("mariadb").url)

    with pytest.raises(SchemaOutdated):
        await storage.access.tenants()
    await storage.close()


async def test_a_canceled_call_ends_on_the_server_and_its_connection_is_not_lent_again(
    storage, database
):
    with closing(connect(database.url)) as other, other.cursor() as cursor:
        cursor.execute("begin")
        cursor.execute("select * from windlass_tenants where id = 'system' for update")
        waiting = asyncio.create_task(
            # A lane of a single connection: who comes next would get this one.
            storage.database.run(
                "upsert_tenant", lane=Lane.RENEW, **tenant_row("system") | {"name": "taken"}
            )
        )
        await until(database.url, BUSY, shown=True)

        waiting.cancel()

        with pytest.raises(asyncio.CancelledError):
            await waiting
        [row] = await storage.database.run("database_time", lane=Lane.RENEW)
        assert set(row) == {"now"}
        await until(database.url, BUSY, shown=False)
        cursor.execute("rollback")
    assert "taken" not in {tenant.name for tenant in await storage.access.tenants()}


async def test_a_call_canceled_inside_a_transaction_undoes_all_of_it(storage, database):
    stored = asyncio.Event()

    async def store_and_wait() -> None:
        async with storage.database.transaction() as session:
            await session.run("upsert_tenant", **tenant_row("t"))
            stored.set()
            await asyncio.Event().wait()

    task = asyncio.create_task(store_and_wait())
    await stored.wait()
    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task
    assert "t" not in {tenant.id for tenant in await storage.access.tenants()}


async def test_many_canceled_calls_leave_every_connection_of_a_lane_usable(storage, database):
    with closing(connect(database.url)) as other, other.cursor() as cursor:
        for _ in range(3):
            cursor.execute("begin")
            cursor.execute("select * from windlass_definitions for update")
            tasks = [asyncio.create_task(set_enabled(storage, "plain", True)) for _ in range(12)]
            await until(database.url, BUSY, shown=True)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            cursor.execute("rollback")

    async with asyncio.timeout(20):
        assert await asyncio.gather(*(set_enabled(storage, "plain", True) for _ in range(12)))


async def test_a_call_past_its_deadline_is_abandoned(storage, database, monkeypatch):
    await storage.now()
    monkeypatch.setattr(Deadlines, "usual", lambda self, lane: 0.3)
    with closing(connect(database.url)) as other, other.cursor() as cursor:
        cursor.execute("begin")
        cursor.execute("select * from windlass_definitions for update")

        with pytest.raises(DatabaseTimeout):
            await set_enabled(storage, "plain", False)

        await until(database.url, BUSY, shown=False)
        cursor.execute("rollback")
    monkeypatch.undo()
    assert {definition.enabled for definition in await storage.definitions.definitions()} == {True}


async def test_more_callers_than_connections_wait_for_their_turn(storage):
    async with asyncio.timeout(30):
        ids = await asyncio.gather(*(enqueue(storage) for _ in range(40)))

    assert await storage.jobs.existing_job_ids(ids) == set(ids)


async def test_an_error_of_one_statement_leaves_nothing_of_the_verb(storage, database):
    job = new_job(max_attempts=1000)  # more than the table takes

    with pytest.raises(Exception, match="CONSTRAINT"):
        await storage.jobs.enqueue([new_job(), job])

    assert await storage.jobs.state_counts(ALL_TENANTS) == []
    await enqueue(storage)


async def test_a_deadlock_is_retried(storage, database):
    for id in ("a", "b"):
        await storage.database.run("upsert_tenant", **tenant_row(id))
    met = asyncio.Barrier(2)
    tries = 0

    @retry_deadlocks
    async def change(first: str, second: str) -> None:
        nonlocal tries
        tries += 1
        async with storage.database.transaction() as session:
            await session.run("upsert_tenant", **tenant_row(first))
            if tries <= 2:
                await met.wait()
            await session.run("upsert_tenant", **tenant_row(second))

    await asyncio.gather(
        change("a", "b"),
        change("b", "a"),
    )

    assert tries == 3


def tenant_row(id: str) -> dict[str, Any]:
    limits = {"max_running": None, "max_open": None}
    return {"id": id, "name": id, "state": "active", "weight": 1, "timezone": "UTC", **limits}
