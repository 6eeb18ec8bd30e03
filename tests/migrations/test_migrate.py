"""Windlass's own schema: up, down and up again, by several processes at once, and refusals."""

import asyncio

import pytest

from tests.databases.connect import execute
from tests.support.job_builders import ALDER, LEASE_TIME
from windlass.core.definitions.definition import Definition
from windlass.core.jobs.models import ALL_TENANTS, NewJob
from windlass.core.jobs.query import JobQuery
from windlass.errors import MigrationChanged, SchemaOutdated, SchemaTooNew
from windlass.ids import DefinitionKey, WorkerId, new_job_id
from windlass.storage.migrate import check, downgrade, migrate, migrations, status
from windlass.storage.storage import Storage


async def enqueue_one(storage: Storage) -> str:
    await storage.definitions.sync_definitions(
        [Definition(key=DefinitionKey("d"), title="D", code_hash="1")]
    )
    job = NewJob(id=new_job_id(), definition=DefinitionKey("d"), payload="{}")
    [stored] = await storage.jobs.enqueue([job])
    return stored.status


async def test_a_new_database_is_migrated_to_the_newest_schema(unmigrated):
    storage = unmigrated()
    known = migrations(storage.database.kind)
    assert (await status(storage)).pending == known

    applied = await migrate(storage)

    now = await status(storage)
    assert applied == list(now.applied) == known
    assert (list(now.pending), now.version) == ([], known[-1].number)
    await check(storage)
    assert await enqueue_one(storage) == "created"


async def test_migrating_again_changes_nothing(unmigrated):
    storage = unmigrated()
    await migrate(storage)
    await enqueue_one(storage)

    assert await migrate(storage) == []
    assert len((await storage.jobs.page(ALL_TENANTS, JobQuery())).jobs) == 1


async def test_a_schema_goes_up_down_and_up_again(unmigrated):
    storage = unmigrated()
    await migrate(storage)
    await enqueue_one(storage)

    undone = await downgrade(storage, to=0)
    after_down = await status(storage)
    with pytest.raises(SchemaOutdated):
        await storage.jobs.page(ALL_TENANTS, JobQuery())
    await migrate(storage)

    assert undone == migrations(storage.database.kind)[::-1]
    assert after_down.version == 0
    assert (await storage.jobs.page(ALL_TENANTS, JobQuery())).jobs == []
    assert await enqueue_one(storage) == "created"


async def test_a_downgrade_leaves_only_the_journal(unmigrated):
    storage = unmigrated()
    await migrate(storage)

    await downgrade(storage, to=0)

    assert tables(unmigrated.url) <= {"windlass_migrations", "sqlite_sequence"}


def tables(url: str) -> set[str]:
    text = {
        "s": "select name from sqlite_master where type in ('table', 'view')",
        "p": "select table_name from information_schema.tables where table_schema = 'public'",
        "m": "select table_name from information_schema.tables where table_schema = database()",
    }[url[0]]
    return {row[0] for row in execute(url, text)}


async def test_a_downgrade_to_where_it_is_does_nothing(unmigrated):
    storage = unmigrated()
    await migrate(storage)

    newest = (await status(storage)).version
    assert await downgrade(storage, to=newest) == []
    await check(storage)


async def test_a_migration_stops_at_the_given_version(unmigrated):
    storage = unmigrated()

    assert await migrate(storage, to=0) == []
    assert (await status(storage)).version == 0
    with pytest.raises(SchemaOutdated):
        await check(storage)


async def test_concurrent_migrations_run_each_step_once(unmigrated):
    storages = [unmigrated() for _ in range(4)]

    applied = await asyncio.gather(*(migrate(storage) for storage in storages))

    known = migrations(storages[0].database.kind)
    assert sorted(len(some) for some in applied) == [0, 0, 0, len(known)]
    for storage in storages:
        await check(storage)


async def test_an_edited_migration_is_detected(unmigrated):
    storage = unmigrated()
    await migrate(storage)
    execute(unmigrated.url, f"update windlass_migrations set checksum = '{'0' * 64}'")

    with pytest.raises(MigrationChanged) as refused:
        await status(storage)
    with pytest.raises(MigrationChanged):
        await migrate(storage)

    assert refused.value.name == "0001_first"


async def test_a_newer_schema_is_refused(unmigrated):
    storage = unmigrated()
    await migrate(storage)
    execute(
        unmigrated.url,
        "insert into windlass_migrations (number, name, checksum) values (9999, 'x', 'y')",
    )

    for refused in (status, check, migrate):
        with pytest.raises(SchemaTooNew) as raises:
            await refused(storage)
        assert raises.value.found == 9999


async def test_every_migration_has_the_same_number_and_name_on_every_database():
    named = [
        [(migration.number, migration.name) for migration in migrations(kind)]
        for kind in ("postgresql", "mysql", "sqlite")
    ]

    assert named[0] == named[1] == named[2]
    assert [number for number, _ in named[0]] == list(range(1, len(named[0]) + 1))


def test_the_names_of_later_migrations_say_when_they_are_safe():
    """`before_…` may run while older processes do, `after_…` only when none is left."""
    for kind in ("postgresql", "mysql", "sqlite"):
        for migration in migrations(kind)[1:]:
            assert migration.name.startswith(("before_", "after_"))


VERBS = {
    "sync": enqueue_one,
    "enqueue": lambda s: s.jobs.enqueue(
        [NewJob(id=new_job_id(), definition=DefinitionKey("d"), payload="{}")]
    ),
    "get": lambda s: s.jobs.get(ALL_TENANTS, new_job_id()),
    "page": lambda s: s.jobs.page(ALL_TENANTS, JobQuery()),
    "survey": lambda s: s.leases.survey(None, ["d"]),
    "claim": lambda s: s.leases.claim(WorkerId("w"), [], ["d"], lease_time=LEASE_TIME),
    "renew": lambda s: s.leases.renew(ALDER, [], lease_time=LEASE_TIME),
    "finish": lambda s: s.leases.finish(ALDER, []),
    "cancel": lambda s: s.jobs.cancel(ALL_TENANTS, [new_job_id()]),
    "retry": lambda s: s.jobs.retry(ALL_TENANTS, new_job_id()),
    "promote": lambda s: s.leases.promote(),
    "fold": lambda s: s.monitoring.roll_up_counts(),
    "expired": lambda s: s.leases.expired_leases(),
    "prune": lambda s: s.monitoring.prune("d", days=1, before_id=new_job_id()),
    "tenants": lambda s: s.access.tenants(),
    "workers": lambda s: s.leases.workers(),
}


async def test_a_verb_on_an_unmigrated_database_reports_an_outdated_schema(unmigrated):
    for verb in VERBS.values():
        storage = unmigrated()

        with pytest.raises(SchemaOutdated) as refused:
            await verb(storage)

        assert refused.value.found == 0
