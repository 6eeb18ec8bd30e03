"""Unsuitable connections are refused before anything is stored, with a plain message."""

import asyncio
import sqlite3
import sys
from contextlib import closing

import aiosqlite
import asyncpg
import psycopg
import psycopg2
import pytest
import sqlalchemy as sa
from sqlalchemy.orm import Session

from tests.databases.connect import connect_mariadb
from tests.support.caller_transactions import (
    async_engine,
    connect_asyncmy,
    django_database,
    engine,
    file_of,
)
from tests.support.job_builders import new_job
from windlass.errors import TransactionUnsupported
from windlass.storage.callers import caller_session, drive

on_sqlite = pytest.mark.parametrize("database", ["sqlite"], indirect=True)
on_postgresql = pytest.mark.parametrize("database", ["postgresql"], indirect=True)
on_mariadb = pytest.mark.parametrize("database", ["mariadb"], indirect=True)


@pytest.fixture
def refuses(windlass):
    """Checks that a `tx` is refused for having no transaction, and that nothing was stored."""

    def check(tx, run=drive):
        job = new_job()
        with pytest.raises(TransactionUnsupported, match="not in a transaction"):
            windlass.enqueue_in(tx, job, run=run)
        assert windlass.job(job.id) is None

    return check


@pytest.fixture
def accepts(windlass):
    """Checks that a job is stored in a `tx` and that it is not committed by that."""

    def check(tx, run=drive):
        job = new_job()
        [stored] = windlass.enqueue_in(tx, job, run=run)
        assert stored.status == "created"
        assert windlass.job(job.id) is None

    return check


@on_postgresql
def test_psycopg_with_autocommit_needs_an_open_transaction(windlass, refuses, accepts):
    with closing(psycopg.connect(windlass.url, autocommit=True)) as connection:
        refuses(connection)

        with connection.transaction(force_rollback=True):
            accepts(connection)


@on_postgresql
def test_psycopg2_with_autocommit_needs_an_open_transaction(windlass, refuses, accepts):
    with closing(psycopg2.connect(windlass.url)) as connection, connection.cursor() as cursor:
        connection.autocommit = True
        refuses(connection)

        cursor.execute("begin")
        accepts(connection)


@on_postgresql
def test_asyncpg_needs_an_open_transaction(windlass, refuses):
    connection = windlass.runner.run(asyncpg.connect(windlass.url))

    refuses(connection, windlass.runner.run)

    windlass.runner.run(connection.close())


@on_mariadb
def test_pymysql_with_autocommit_needs_an_open_transaction(windlass, refuses, accepts):
    with closing(connect_mariadb(windlass.url)) as connection:
        connection.autocommit(True)
        refuses(connection)

        connection.begin()
        accepts(connection)


@on_mariadb
def test_asyncmy_with_autocommit_needs_an_open_transaction(windlass, refuses, accepts):
    run = windlass.runner.run
    connection = run(connect_asyncmy(windlass.url, autocommit=True))
    refuses(connection, run)

    run(connection.begin())
    accepts(connection, run)

    run(connection.ensure_closed())


@on_sqlite
def test_sqlite3_in_autocommit_mode_needs_an_open_transaction(windlass, refuses, accepts):
    with closing(sqlite3.connect(file_of(windlass.url), isolation_level=None)) as connection:
        refuses(connection)

        connection.execute("begin")
        accepts(connection)


@on_sqlite
@pytest.mark.skipif(sys.version_info < (3, 12), reason="sqlite3 has had it since Python 3.12")
def test_sqlite3_keeps_its_transaction_by_the_autocommit_attribute(windlass, refuses, accepts):
    with closing(sqlite3.connect(file_of(windlass.url), autocommit=True)) as connection:
        refuses(connection)

    with closing(sqlite3.connect(file_of(windlass.url), autocommit=False)) as connection:
        accepts(connection)


@on_sqlite
def test_aiosqlite_in_autocommit_mode_needs_an_open_transaction(windlass, refuses):
    async def connect():
        return await aiosqlite.connect(file_of(windlass.url), isolation_level=None)

    connection = windlass.runner.run(connect())

    refuses(connection, windlass.runner.run)

    windlass.runner.run(connection.close())


DRIVERS = [
    ("sqlite", "sqlite+pysqlite"),
    ("postgresql", "postgresql+psycopg"),
    ("postgresql", "postgresql+psycopg2"),
    ("mariadb", "mysql+pymysql"),
]
ASYNC_DRIVERS = [
    ("sqlite", "sqlite+aiosqlite"),
    ("postgresql", "postgresql+asyncpg"),
    ("postgresql", "postgresql+psycopg"),
    ("mariadb", "mysql+asyncmy"),
]


@pytest.mark.parametrize(("database", "driver"), DRIVERS, indirect=["database"])
def test_sqlalchemy_must_not_commit_by_itself(windlass, refuses, driver):
    with engine(windlass.url, driver, isolation_level="AUTOCOMMIT") as made:
        with Session(made) as session:
            refuses(session)
        with made.connect() as connection:
            refuses(connection)


@pytest.mark.parametrize(("database", "driver"), ASYNC_DRIVERS, indirect=["database"])
def test_async_sqlalchemy_must_not_commit_by_itself(windlass, refuses, driver):
    run = windlass.runner.run

    async def connect(made):
        return await made.connect()

    options = {"isolation_level": "AUTOCOMMIT"}
    with async_engine(windlass.url, driver, windlass.runner, **options) as made:
        connection = run(connect(made))
        refuses(connection, run)
        run(connection.close())


def test_a_django_database_has_to_be_inside_atomic(windlass, refuses):
    with django_database(windlass.url) as connection:
        refuses("default")
        refuses(connection)


@on_postgresql
def test_a_connection_to_another_kind_of_database_is_refused(windlass):
    with closing(sqlite3.connect(":memory:")) as connection:
        with pytest.raises(TransactionUnsupported) as refused:
            windlass.enqueue_in(connection, new_job())

        assert not connection.in_transaction
    assert str(refused.value).startswith(
        "a sqlite3 connection cannot be used as tx. It leads to SQLite, "
        "but the database of Windlass is PostgreSQL."
    )


@on_postgresql
def test_a_session_on_another_kind_of_database_is_refused(windlass):
    with Session(sa.create_engine("sqlite://")) as session:
        with pytest.raises(TransactionUnsupported, match=r"SQLAlchemy Session .* leads to SQLite"):
            windlass.enqueue_in(session, new_job())


@pytest.mark.parametrize("tx", [object(), 7, b"default", asyncio.Lock()])
def test_another_object_is_refused_with_a_list_of_connections(tx):
    with pytest.raises(TransactionUnsupported, match="SQLAlchemy, psycopg, asyncpg, PyMySQL"):
        caller_session(tx, database=None)


def test_a_text_means_a_django_database_only_where_django_is_loaded(monkeypatch):
    monkeypatch.delitem(sys.modules, "django.db")

    with pytest.raises(TransactionUnsupported, match="Django is not loaded"):
        caller_session("postgresql://ada:secret@host/name", database=None)


@on_postgresql
def test_a_closed_connection_raises_its_drivers_error(windlass):
    closed = psycopg.connect(windlass.url)
    closed.close()

    with pytest.raises(psycopg.OperationalError, match="closed"):
        windlass.enqueue_in(closed, new_job())


def test_a_coroutine_that_waits_cannot_be_driven():
    with pytest.raises(RuntimeError, match="event loop"):
        drive(asyncio.sleep(0))


def test_an_error_of_a_driven_coroutine_is_raised():
    async def fails():
        raise LookupError("gone")

    with pytest.raises(LookupError, match="gone"):
        drive(fails())
