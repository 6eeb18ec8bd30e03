"""Each test gets a freshly migrated database, regardless of the previous test."""

import psycopg
import pytest

from tests.databases import supply
from tests.databases.connect import connect_mariadb, execute
from tests.databases.supply import MariadbSupply, PostgresSupply, SqliteSupply

SCHEMA = [
    "create table windlass_tenants (id int primary key, name varchar(20))",
    "create table windlass_jobs (id int primary key,"
    " tenant int not null references windlass_tenants (id),"
    " twice int generated always as (id * 2) stored)",
    "insert into windlass_tenants values (1, 'default')",
    "insert into windlass_jobs (id, tenant) values (7, 1)",
]


def migrate_to_a_small_schema(url):
    for statement in SCHEMA:
        execute(url, statement)


@pytest.fixture
def supply_of(request, monkeypatch):
    """A supply of its own, whose migrations make two tables with a row each."""
    monkeypatch.setattr(supply.server, "migrate", migrate_to_a_small_schema)
    created = []

    def make(kind):
        if kind == "postgresql":
            created.append(PostgresSupply(request.getfixturevalue("postgres_url")))
        else:
            created.append(MariadbSupply(request.getfixturevalue("mariadb_url")))
        return created[-1]

    yield make
    for one in created:
        one.close()


@pytest.fixture(
    params=[
        pytest.param("postgresql", marks=pytest.mark.database("postgresql")),
        pytest.param("mariadb", marks=pytest.mark.database("mariadb")),
    ]
)
def server_supply(request, supply_of):
    return supply_of(request.param)


def test_rows_of_the_previous_test_are_removed_and_migrated_rows_restored(server_supply):
    url = server_supply.migrated()
    execute(url, "update windlass_tenants set name = 'acme'")
    execute(url, "insert into windlass_tenants values (2, 'other')")
    execute(url, "delete from windlass_jobs")

    again = server_supply.migrated()

    assert again == url
    assert execute(again, "select * from windlass_tenants") == [(1, "default")]
    assert execute(again, "select * from windlass_jobs") == [(7, 1, 14)]


def test_a_table_added_by_the_previous_test_is_dropped(server_supply):
    url = server_supply.migrated()
    execute(url, "create table added (at int)")

    again = server_supply.migrated()

    assert again == url
    execute(again, "create table added (at int)")


def test_the_table_of_a_virtual_clock_stays_and_is_empty(server_supply):
    url = server_supply.migrated()
    execute(url, "insert into windlass_clock (at) values ('2026-01-01 00:00:00')")

    assert execute(server_supply.migrated(), "select * from windlass_clock") == []


@pytest.mark.database("postgresql")
def test_spared_sessions_outlive_a_wipe(supply_of):
    supply = supply_of("postgresql")
    url = supply.migrated()
    with psycopg.connect(url, autocommit=True) as spared:
        other = psycopg.connect(url, autocommit=True)
        supply.spared = {spared.info.backend_pid}

        supply.migrated()

        assert spared.execute("select 1").fetchone() == (1,)
        with other, pytest.raises(psycopg.OperationalError):
            other.execute("select 1")


def test_a_changed_schema_causes_a_new_database(server_supply):
    url = server_supply.migrated()
    execute(url, "alter table windlass_jobs add column more int")

    again = server_supply.migrated()

    assert again != url
    assert execute(again, "select * from windlass_jobs") == [(7, 1, 14)]


def test_a_session_left_open_blocks_no_test(server_supply):
    url = server_supply.migrated()
    left = psycopg.connect(url) if url.startswith("postgresql") else connect_mariadb(url)
    left.cursor().execute("update windlass_jobs set tenant = 1")

    again = server_supply.migrated()

    assert execute(again, "select * from windlass_jobs") == [(7, 1, 14)]
    left.close()


@pytest.mark.database("postgresql")
def test_sequences_are_reset_to_their_migrated_values(supply_of, monkeypatch):
    monkeypatch.setattr(
        supply.server, "migrate", lambda url: execute(url, "create sequence windlass_turn")
    )
    supply_of_one = supply_of("postgresql")
    execute(supply_of_one.migrated(), "select nextval('windlass_turn')")

    again = supply_of_one.migrated()

    assert execute(again, "select nextval('windlass_turn')") == [(1,)]


def test_a_new_database_has_no_tables(new_database):
    assert execute(new_database("sqlite").url, "select name from sqlite_schema") == []


def test_each_sqlite_file_is_a_copy_of_the_migrated_one(monkeypatch, tmp_path):
    monkeypatch.setattr(supply.sqlite, "migrate", migrate_to_a_small_schema)
    files = SqliteSupply(tmp_path)
    execute(files.migrated(), "delete from windlass_jobs")

    again = files.migrated()

    assert execute(again, "select * from windlass_jobs") == [(7, 1, 14)]
