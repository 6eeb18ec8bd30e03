"""A caller's connection may be set up in any way its driver allows."""

import json
import sqlite3
from contextlib import closing

import aiosqlite
import asyncpg
import psycopg
import psycopg2
import psycopg2.extras
import pymysql
import pytest
import sqlalchemy as sa
from psycopg.rows import dict_row
from sqlalchemy.orm import Session

from tests.databases.connect import connect_mariadb, execute
from tests.storage.callers.harness import Windlass
from tests.support.caller_transactions import CALLERS, engine, file_of
from tests.support.job_builders import DEFINITIONS, new_job
from windlass.storage.callers import drive
from windlass.storage.migrate import migrate
from windlass.storage.storage import open_storage

on_sqlite = pytest.mark.parametrize("database", ["sqlite"], indirect=True)
on_postgresql = pytest.mark.parametrize("database", ["postgresql"], indirect=True)
on_mariadb = pytest.mark.parametrize("database", ["mariadb"], indirect=True)


@pytest.fixture
def stores(windlass):
    """Checks that a job is stored in a `tx`."""

    def check(tx, run=drive):
        [stored] = windlass.enqueue_in(tx, new_job(), run=run)
        assert stored.status == "created"

    return check


@on_postgresql
@pytest.mark.parametrize(
    "options",
    [
        {"row_factory": dict_row},
        {"cursor_factory": psycopg.RawCursor},
        {"cursor_factory": psycopg.ClientCursor},
    ],
)
def test_psycopg_factories_make_no_difference(windlass, stores, options):
    with closing(psycopg.connect(windlass.url, **options)) as connection:
        stores(connection)


@on_postgresql
def test_psycopg2_factories_make_no_difference(windlass, stores):
    factory = psycopg2.extras.RealDictConnection
    with closing(psycopg2.connect(windlass.url, connection_factory=factory)) as connection:
        stores(connection)


@on_postgresql
def test_asyncpg_codecs_make_no_difference(windlass, stores):
    async def connect():
        connection = await asyncpg.connect(windlass.url)
        for type in ("json", "jsonb"):
            await connection.set_type_codec(
                type, encoder=json.dumps, decoder=json.loads, schema="pg_catalog"
            )
        return connection

    connection = windlass.runner.run(connect())

    stores(connection, lambda check: windlass.runner.run(in_transaction(connection, check)))

    windlass.runner.run(connection.close())


async def in_transaction(connection, check):
    async with connection.transaction():
        return await check


@on_mariadb
def test_a_pymysql_cursor_class_makes_no_difference(windlass, stores):
    with closing(connect_mariadb(windlass.url)) as connection:
        connection.cursorclass = pymysql.cursors.SSDictCursor

        stores(connection)


@on_mariadb
@pytest.mark.parametrize(
    "settings",
    [
        "sql_mode = ''",
        "sql_mode = 'ANSI,TRADITIONAL,ONLY_FULL_GROUP_BY,NO_BACKSLASH_ESCAPES'",
        "names latin1 collate latin1_swedish_ci",
        "time_zone = '-08:00'",
        "group_concat_max_len = 4",
    ],
)
def test_a_mariadb_session_s_settings_make_no_difference(windlass, settings):
    job = new_job(payload='{"text": "it\'s \\\\ \U0001f389"}', dedupe_key="ключ")
    with closing(connect_mariadb(windlass.url)) as connection:
        connection.cursor().execute(f"set {settings}")

        [stored] = windlass.enqueue_in(connection, job)
        connection.commit()

    assert stored.status == "created"
    assert windlass.job(job.id).payload == json.loads(job.payload)
    assert windlass.claimed() == [job.id]


@on_sqlite
@pytest.mark.parametrize("factory", [sqlite3.Row, lambda cursor, row: None])
def test_a_sqlite3_row_factory_makes_no_difference(windlass, stores, factory):
    with closing(sqlite3.connect(file_of(windlass.url))) as connection:
        connection.row_factory = factory

        stores(connection)


@on_sqlite
def test_an_aiosqlite_row_factory_makes_no_difference(windlass, stores):
    async def connect():
        connection = await aiosqlite.connect(file_of(windlass.url))
        connection.row_factory = lambda cursor, row: None
        return connection

    connection = windlass.runner.run(connect())

    stores(connection, windlass.runner.run)

    windlass.runner.run(connection.close())


@on_sqlite
@pytest.mark.parametrize("level", ["DEFERRED", "IMMEDIATE", "EXCLUSIVE"])
def test_sqlite3_begins_a_transaction_before_reads(windlass, stores, level):
    with closing(sqlite3.connect(file_of(windlass.url), isolation_level=level)) as connection:
        stores(connection)

        assert connection.in_transaction


@on_sqlite
def test_sqlalchemy_may_begin_in_a_listener(windlass, stores):
    with engine(windlass.url, "sqlite+pysqlite") as made:

        @sa.event.listens_for(made, "connect")
        def leave_transactions_alone(connection, record):
            connection.isolation_level = None

        @sa.event.listens_for(made, "begin")
        def begin(connection):
            connection.exec_driver_sql("begin")

        with made.connect() as connection:
            stores(connection)


@pytest.mark.parametrize(
    ("database", "driver"),
    [("postgresql", "postgresql+psycopg"), ("mariadb", "mysql+pymysql")],
    indirect=["database"],
)
def test_a_rolled_back_savepoint_takes_its_jobs_with_it(windlass, driver):
    kept, dropped = new_job(), new_job()
    with engine(windlass.url, driver) as made, Session(made) as session:
        windlass.enqueue_in(session, kept)
        with session.begin_nested() as savepoint:
            windlass.enqueue_in(session, dropped)
            savepoint.rollback()
        session.commit()

    assert windlass.claimed() == [kept.id]


@pytest.mark.parametrize(
    ("database", "kind"),
    [("postgresql", "psycopg"), ("mariadb", "PyMySQL")],
    indirect=["database"],
)
def test_a_key_taken_after_the_caller_s_first_look_is_met(windlass, caller):
    with caller.tx.cursor() as cursor:
        cursor.execute("select count(*) from windlass_keys")  # on MariaDB it fixes what is seen
    first, second = new_job(dedupe_key="once"), new_job(dedupe_key="once")
    windlass.enqueue_alone(first)

    [stored] = windlass.enqueue(caller, second)

    assert (stored.status, stored.existing_id) == ("existing", first.id)
    caller.rollback()


@on_postgresql
@pytest.mark.parametrize("kind", ["psycopg", "asyncpg", "Session, psycopg"])
def test_tables_in_a_schema_are_found(windlass, kind):
    storage = open_storage(windlass.url, schema="elsewhere")
    windlass.runner.run(migrate(storage))
    windlass.runner.run(storage.definitions.sync_definitions(DEFINITIONS))
    there = Windlass(storage, windlass.runner, windlass.url)
    job = new_job()

    with CALLERS["postgresql"][kind](windlass.url, windlass.runner) as caller:
        there.enqueue(caller, job)
        caller.commit()

    assert there.claimed() == [job.id]
    assert windlass.job(job.id) is None
    windlass.runner.run(storage.close())


REFUSE = {
    "sqlite": "create trigger refuse before insert on windlass_live "
    "begin select raise(abort, 'no room'); end",
    "mariadb": "create trigger refuse before insert on windlass_live "
    "for each row signal sqlstate '45000' set message_text = 'no room'",
}


@pytest.mark.parametrize(
    ("database", "kind"),
    [("sqlite", "sqlite3"), ("sqlite", "AsyncSession"), ("mariadb", "PyMySQL")],
    indirect=["database"],
)
def test_an_error_half_way_is_raised_and_leaves_nothing_to_commit(windlass, database, caller):
    execute(database.url, REFUSE[database.kind])
    with pytest.raises(Exception, match="no room"):
        windlass.enqueue(caller, new_job(dedupe_key="once"))

    caller.commit()

    execute(database.url, "drop trigger refuse")
    [stored] = windlass.enqueue_alone(new_job(dedupe_key="once"))
    assert stored.status == "created"
