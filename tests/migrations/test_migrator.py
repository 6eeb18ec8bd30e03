"""The migrator, with small migrations of its own: order, data, failures and load."""

import asyncio
from dataclasses import replace

import pytest

from tests.databases.connect import execute
from tests.support.job_builders import DEFINITIONS, enqueue
from windlass.errors import MigrationChanged, SchemaOutdated, SchemaTooNew
from windlass.storage import migrate as migrator
from windlass.storage.migrate import Migration, check, downgrade, migrate, status

NOTES = Migration(
    1,
    "first",
    "create table if not exists windlass_notes (id integer primary key, words varchar(99));\n",
    "drop table windlass_notes;\n",
)
AUTHORS = Migration(
    2,
    "before_authors",
    "alter table windlass_notes add column author varchar(99);\n"
    "update windlass_notes set author = 'ada';\n",
    "alter table windlass_notes drop column author;\n",
)
#: The second statement is refused: one row of the table stands for it. Each can be repeated.
BROKEN = Migration(
    2,
    "before_names",
    "create table if not exists windlass_names (name varchar(99) primary key);\n"
    "insert into windlass_names (name) select words from windlass_notes;\n",
    "drop table windlass_names;\n",
)


@pytest.fixture
def known(monkeypatch):
    """The migrations that this Windlass comes with."""
    found = [NOTES, AUTHORS]
    monkeypatch.setattr(migrator, "migrations", lambda kind: list(found))
    return found


def notes(url, columns="words"):
    return [tuple(row) for row in execute(url, f"select {columns} from windlass_notes order by id")]


async def test_migrations_are_applied_in_order_up_to_the_requested_one(unmigrated, known):
    storage = unmigrated()

    first = await migrate(storage, to=1)
    between = await status(storage)
    with pytest.raises(SchemaOutdated) as refused:
        await check(storage)
    second = await migrate(storage)

    assert (first, second) == ([NOTES], [AUTHORS])
    assert (between.version, between.pending) == (1, [AUTHORS])
    assert (refused.value.found, refused.value.needed) == (1, 2)
    await check(storage)


async def test_rows_survive_applying_and_reverting_a_later_migration(unmigrated, known):
    storage, url = unmigrated(), unmigrated.url
    await migrate(storage, to=1)
    execute(url, "insert into windlass_notes (id, words) values (1, 'old')")

    await migrate(storage)
    above = notes(url, "words, author")
    execute(url, "insert into windlass_notes (id, words) values (2, 'new')")
    undone = await downgrade(storage, to=1)

    assert above == [("old", "ada")]
    assert undone == [AUTHORS]
    assert notes(url) == [("old",), ("new",)]
    await migrate(storage)
    assert notes(url, "words, author") == [("old", "ada"), ("new", "ada")]


async def test_a_downgrade_reverts_the_newest_first(unmigrated, known):
    storage = unmigrated()
    await migrate(storage)

    assert await downgrade(storage, to=0) == [AUTHORS, NOTES]
    assert (await status(storage)).applied == []


async def test_of_concurrent_migrators_one_applies_all(unmigrated, known):
    storages = [unmigrated() for _ in range(4)]

    applied = await asyncio.gather(*(migrate(storage) for storage in storages))

    assert sorted(applied, key=len) == [[], [], [], [NOTES, AUTHORS]]


async def test_an_edited_migration_is_refused_by_name(unmigrated, known):
    storage = unmigrated()
    await migrate(storage)
    known[1] = replace(AUTHORS, up=AUTHORS.up + "-- A line more.\n")

    for refusing in (status, check, migrate):
        with pytest.raises(MigrationChanged) as refused:
            await refusing(storage)
        assert refused.value.name == "0002_before_authors"


async def test_an_older_release_refuses_the_schema_of_a_newer_one(unmigrated, known):
    storage = unmigrated()
    await migrate(storage)
    known.pop()

    for refusing in (status, check, migrate):
        with pytest.raises(SchemaTooNew) as refused:
            await refusing(storage)
        assert (refused.value.found, refused.value.known) == (2, 1)


async def test_a_failed_migration_is_applied_once_its_cause_is_fixed(unmigrated, known):
    storage, url = unmigrated(), unmigrated.url
    known[1] = BROKEN
    await migrate(storage, to=1)
    for id in (1, 2):
        execute(url, f"insert into windlass_notes (id, words) values ({id}, 'twice')")

    with pytest.raises(Exception, match=r"(?i)unique|duplicate"):
        await migrate(storage)
    failed = await status(storage)
    execute(url, "delete from windlass_notes where id = 2")
    applied = await migrate(storage)

    assert (failed.version, failed.pending) == (1, [BROKEN])
    assert applied == [BROKEN]
    assert execute(url, "select count(*) from windlass_names")[0][0] == 1


async def test_jobs_can_be_enqueued_during_a_migration(unmigrated, monkeypatch):
    storage, other = unmigrated(), unmigrated()
    kind = storage.database.kind
    of_table = " on windlass_ended" if kind == "mysql" else ""
    index = Migration(
        2,
        "before_index",
        "create index windlass_ended_age on windlass_ended (created_at);\n",
        f"drop index windlass_ended_age{of_table};\n",
    )
    await migrate(storage)
    await storage.definitions.sync_definitions(DEFINITIONS)
    [first] = migrator.migrations(kind)
    monkeypatch.setattr(migrator, "migrations", lambda kind: [first, index])

    async def up_and_down() -> int:
        return len([*await migrate(storage), *await downgrade(storage, to=1)])

    turns, *stored = await asyncio.gather(up_and_down(), *(enqueue(other) for _ in range(20)))

    assert turns == 2
    assert len(stored) == 20
    assert execute(unmigrated.url, "select count(*) from windlass_live")[0][0] == 20
