"""Migrations on MariaDB, which keeps each statement about tables for itself."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.databases.connect import execute
from tests.databases.migrate import migrate
from windlass.storage.migrate import migrations
from windlass.storage.sql.statements import split

pytestmark = pytest.mark.database("mariadb")

SHAPE = (
    "select table_name, column_name, column_type, collation_name, is_nullable"
    " from information_schema.columns where table_schema = database() order by 1, 2",
    "select table_name, index_name, seq_in_index, column_name, non_unique"
    " from information_schema.statistics where table_schema = database() order by 1, 2, 3",
    "select table_name, constraint_name, check_clause from information_schema.check_constraints"
    " where constraint_schema = database() order by 1, 2",
    "select table_name, engine, table_collation from information_schema.tables"
    " where table_schema = database() order by 1",
)


def shape(url: str) -> list[object]:
    return [execute(url, query) for query in SHAPE]


@pytest.fixture
def clean(new_database) -> list[object]:
    url = new_database("mariadb").url
    migrate(url)
    return shape(url)


@pytest.mark.parametrize("share", [0.1, 0.3, 0.5, 0.7, 0.9, 1.0])
def test_a_migration_that_died_half_way_can_be_run_again(new_database, clean, share):
    url = new_database("mariadb").url
    statements = split(migrations("mysql")[0].up)
    for statement in statements[: round(len(statements) * share)]:
        execute(url, statement)

    migrate(url)

    assert shape(url) == clean
    assert execute(url, "select count(*) from windlass_tenants") == [(2,)]


def test_processes_that_migrate_at_once_take_turns(new_database, clean):
    url = new_database("mariadb").url

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(migrate, [url] * 4))

    assert shape(url) == clean
    once_each = "select count(*) - count(distinct number) from windlass_migrations"
    assert execute(url, once_each) == [(0,)]


def test_names_are_compared_exactly_in_every_column(clean):
    collations = {row[3] for row in clean[0] if row[3] and row[0] != "windlass_migrations"}

    assert collations == {"utf8mb4_nopad_bin", "ascii_bin"}


def test_the_three_tables_of_jobs_and_their_view_have_one_shape(new_database):
    url = new_database("mariadb").url
    migrate(url)
    columns = "select column_name from information_schema.columns where table_schema = database()"

    tables = {
        table: {row[0] for row in execute(url, f"{columns} and table_name = 'windlass_{table}'")}
        for table in ("live", "later", "ended", "jobs")
    }

    assert tables["live"] == tables["later"] == tables["ended"] == tables["jobs"]
