"""database_settings, server_process_ids, old_snapshots and dead_tuples: the health of a database."""

import pytest

from tests.databases.connect import execute
from tests.support.job_builders import enqueue
from windlass.storage.storage import open_storage


async def test_connection_settings_are_reported(storage):
    database_settings = await storage.monitoring.database_settings()

    match storage.database.kind:
        case "postgresql":
            assert database_settings["default_transaction_isolation"] == "read committed"
        case "mysql":
            isolation = (
                database_settings.get("transaction_isolation") or database_settings["tx_isolation"]
            )
            assert isolation == "READ-COMMITTED"
            assert "innodb_flush_log_at_trx_commit" in database_settings
        case _:
            assert database_settings["journal_mode"] in ("wal", "truncate")
            assert database_settings["synchronous"] == "2"


async def test_every_connection_has_its_own_server_process(storage):
    backends = await storage.monitoring.server_process_ids()

    if storage.database.kind == "sqlite":
        assert backends == [None, None, None]
    else:
        assert len(set(backends)) == 3


async def test_an_idle_database_has_no_pinned_rows(storage):
    await enqueue(storage)

    assert await storage.monitoring.old_snapshots() == []


async def test_dead_rows_are_counted_where_the_database_counts_them(storage):
    await enqueue(storage)

    counted = {each.table for each in await storage.monitoring.dead_tuples()}

    served = {"windlass_claims", "windlass_later", "windlass_live"}
    assert counted == (served if storage.database.kind == "postgresql" else set())


@pytest.mark.parametrize("database", ["postgresql"], indirect=True)
async def test_an_open_transaction_pins_old_rows(database, storage):
    other = open_storage(database.url)
    try:
        async with other.database.transaction() as session:
            await session.run("upsert_queue", name="q", paused=False, paused_by=None,
                              pause_reason=None, max_concurrency=None)  # fmt: skip

            [one] = await storage.monitoring.old_snapshots()
    finally:
        await other.close()

    assert one.kind == "transaction"
    assert "windlass general" in one.name
    assert one.held is not None


@pytest.mark.parametrize("database", ["postgresql"], indirect=True)
async def test_tables_in_a_schema_are_found_there(database):
    execute(database.url, "create schema apart")
    execute(database.url, "create table apart.windlass_live (id integer)")
    storage = open_storage(database.url, schema="apart")
    try:
        counted = [each.table for each in await storage.monitoring.dead_tuples()]
    finally:
        await storage.close()

    assert counted == ["windlass_live"]
