"""Applications' transactions of every kind, each opened on a database of the test.

No event loop runs while blocking code does, as in the programs that are written so.
"""

import asyncio
import sqlite3
from collections.abc import Callable, Coroutine, Iterator
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import aiosqlite
import asyncmy
import asyncpg
import django
import django.conf
import django.db
import psycopg
import psycopg2
import pymysql
import sqlalchemy as sa
from django.db import transaction
from django.db.utils import ConnectionHandler
from sqlalchemy import orm
from sqlalchemy.ext import asyncio as sa_asyncio

from tests.databases import Kind
from tests.databases.connect import connect_mariadb
from windlass.storage.callers import drive


@dataclass(frozen=True)
class Caller:
    """An open transaction, and its owner's ways to end it. `run` drives what Windlass does."""

    tx: Any
    run: Callable[[Coroutine[Any, Any, Any]], Any]
    commit: Callable[[], Any]
    rollback: Callable[[], Any]


Opened = Callable[[str, asyncio.Runner], AbstractContextManager[Caller]]


def blocking(tx: Any, owner: Any = None) -> Caller:
    owner = owner or tx
    return Caller(tx, drive, owner.commit, owner.rollback)


def awaiting(tx: Any, runner: asyncio.Runner, owner: Any = None) -> Caller:
    owner = owner or tx
    return Caller(
        tx,
        runner.run,
        lambda: runner.run(_awaited(owner.commit)),
        lambda: runner.run(_awaited(owner.rollback)),
    )


async def _awaited(call: Callable[[], Any]) -> Any:
    return await call()


@contextmanager
def by_sqlite3(url: str, runner: asyncio.Runner) -> Iterator[Caller]:
    with closing(sqlite3.connect(file_of(url))) as connection:
        yield blocking(connection)


@contextmanager
def by_aiosqlite(url: str, runner: asyncio.Runner) -> Iterator[Caller]:
    connection = runner.run(_awaited(lambda: aiosqlite.connect(file_of(url))))
    yield awaiting(connection, runner)
    runner.run(connection.close())


@contextmanager
def by_psycopg(url: str, runner: asyncio.Runner) -> Iterator[Caller]:
    with closing(psycopg.connect(url)) as connection:
        yield blocking(connection)


@contextmanager
def by_psycopg_async(url: str, runner: asyncio.Runner) -> Iterator[Caller]:
    connection = runner.run(psycopg.AsyncConnection.connect(url))
    yield awaiting(connection, runner)
    runner.run(connection.close())


@contextmanager
def by_psycopg2(url: str, runner: asyncio.Runner) -> Iterator[Caller]:
    with closing(psycopg2.connect(url)) as connection:
        yield blocking(connection)


@contextmanager
def by_asyncpg(url: str, runner: asyncio.Runner) -> Iterator[Caller]:
    connection = runner.run(asyncpg.connect(url))
    owner = connection.transaction()
    runner.run(owner.start())
    yield awaiting(connection, runner, owner)
    runner.run(connection.close())


@contextmanager
def by_asyncpg_pool(url: str, runner: asyncio.Runner) -> Iterator[Caller]:
    pool = runner.run(_awaited(lambda: asyncpg.create_pool(url, min_size=1)))
    connection = runner.run(_awaited(pool.acquire))
    owner = connection.transaction()
    runner.run(owner.start())
    yield awaiting(connection, runner, owner)
    runner.run(pool.release(connection))
    runner.run(pool.close())


@contextmanager
def by_pymysql(url: str, runner: asyncio.Runner) -> Iterator[Caller]:
    with closing(connect_mariadb(url)) as connection:
        yield blocking(connection)


@contextmanager
def by_asyncmy(url: str, runner: asyncio.Runner) -> Iterator[Caller]:
    connection = runner.run(connect_asyncmy(url))
    yield awaiting(connection, runner)
    runner.run(connection.ensure_closed())


async def connect_asyncmy(url: str, **options: Any) -> Any:
    parts = urlsplit(url)
    return await asyncmy.connect(
        host=parts.hostname,
        port=parts.port,
        user=parts.username,
        password=parts.password,
        db=parts.path.removeprefix("/"),
        **options,
    )


def authenticate_session(driver: str) -> Opened:
    @contextmanager
    def opened(url: str, runner: asyncio.Runner) -> Iterator[Caller]:
        with engine(url, driver) as made, orm.Session(made) as session:
            yield blocking(session)

    return opened


def by_scoped_session(driver: str) -> Opened:
    @contextmanager
    def opened(url: str, runner: asyncio.Runner) -> Iterator[Caller]:
        with engine(url, driver) as made:
            session = orm.scoped_session(orm.sessionmaker(made))
            yield blocking(session)
            session.remove()

    return opened


def by_connection(driver: str) -> Opened:
    @contextmanager
    def opened(url: str, runner: asyncio.Runner) -> Iterator[Caller]:
        with engine(url, driver) as made, made.connect() as connection:
            yield blocking(connection)

    return opened


def by_async_session(driver: str) -> Opened:
    @contextmanager
    def opened(url: str, runner: asyncio.Runner) -> Iterator[Caller]:
        with async_engine(url, driver, runner) as made:
            session = sa_asyncio.AsyncSession(made)
            yield awaiting(session, runner)
            runner.run(session.close())

    return opened


def by_async_connection(driver: str) -> Opened:
    @contextmanager
    def opened(url: str, runner: asyncio.Runner) -> Iterator[Caller]:
        with async_engine(url, driver, runner) as made:
            connection = runner.run(_awaited(made.connect))
            yield awaiting(connection, runner)
            runner.run(connection.close())

    return opened


@contextmanager
def engine(url: str, driver: str, **options: Any) -> Iterator[sa.Engine]:
    made = sa.create_engine(_with_driver(url, driver), **options)
    yield made
    made.dispose()


@contextmanager
def async_engine(
    url: str, driver: str, runner: asyncio.Runner, **options: Any
) -> Iterator[sa_asyncio.AsyncEngine]:
    made = sa_asyncio.create_async_engine(_with_driver(url, driver), **options)
    yield made
    runner.run(made.dispose())


@contextmanager
def by_django_alias(url: str, runner: asyncio.Runner) -> Iterator[Caller]:
    with django_database(url), atomic() as (commit, rollback):
        yield Caller("default", drive, commit, rollback)


@contextmanager
def by_django_connection(url: str, runner: asyncio.Runner) -> Iterator[Caller]:
    with django_database(url), atomic() as (commit, rollback):
        yield Caller(django.db.connection, drive, commit, rollback)


@contextmanager
def django_database(url: str) -> Iterator[Any]:
    """Django's default database is the one at `url`."""
    if not django.conf.settings.configured:
        pymysql.install_as_MySQLdb()  # what Django knows mysqlclient by
        django.conf.settings.configure(LOGGING_CONFIG=None)
        django.setup()
    parts = urlsplit(url)
    engine, name = {
        "sqlite": ("sqlite3", file_of(url)),
        "postgresql": ("postgresql", parts.path.removeprefix("/")),
        "mysql": ("mysql", parts.path.removeprefix("/")),
        "mariadb": ("mysql", parts.path.removeprefix("/")),
    }[parts.scheme]
    settings = {
        "ENGINE": f"django.db.backends.{engine}",
        "NAME": name,
        "USER": parts.username or "",
        "PASSWORD": parts.password or "",
        "HOST": parts.hostname or "",
        "PORT": parts.port or "",
    }
    connection = ConnectionHandler({"default": settings}).create_connection("default")
    django.db.connections["default"] = connection
    yield connection
    connection.close()
    del django.db.connections["default"]


@contextmanager
def atomic() -> Iterator[tuple[Callable[[], None], Callable[[], None]]]:
    """Inside `transaction.atomic()`; how to leave it for good, and how to give it up."""
    with ExitStack() as block:
        block.enter_context(transaction.atomic())

        def rollback() -> None:
            transaction.set_rollback(True)
            block.close()

        yield block.close, rollback


def file_of(url: str) -> str:
    return url.removeprefix("sqlite:///")


def _with_driver(url: str, driver: str) -> str:
    return f"{driver}://{url.partition('://')[2]}"


#: Every kind of transaction, by the database it leads to.
CALLERS: dict[Kind, dict[str, Opened]] = {
    "sqlite": {
        "sqlite3": by_sqlite3,
        "aiosqlite": by_aiosqlite,
        "Session": authenticate_session("sqlite+pysqlite"),
        "scoped_session": by_scoped_session("sqlite+pysqlite"),
        "Connection": by_connection("sqlite+pysqlite"),
        "AsyncSession": by_async_session("sqlite+aiosqlite"),
        "AsyncConnection": by_async_connection("sqlite+aiosqlite"),
        "Django alias": by_django_alias,
        "Django connection": by_django_connection,
    },
    "postgresql": {
        "psycopg": by_psycopg,
        "psycopg async": by_psycopg_async,
        "psycopg2": by_psycopg2,
        "asyncpg": by_asyncpg,
        "asyncpg pool": by_asyncpg_pool,
        "Session, psycopg": authenticate_session("postgresql+psycopg"),
        "Session, psycopg2": authenticate_session("postgresql+psycopg2"),
        "scoped_session": by_scoped_session("postgresql+psycopg"),
        "Connection, psycopg": by_connection("postgresql+psycopg"),
        "Connection, psycopg2": by_connection("postgresql+psycopg2"),
        "AsyncSession, asyncpg": by_async_session("postgresql+asyncpg"),
        "AsyncSession, psycopg": by_async_session("postgresql+psycopg"),
        "AsyncConnection, asyncpg": by_async_connection("postgresql+asyncpg"),
        "AsyncConnection, psycopg": by_async_connection("postgresql+psycopg"),
        "Django alias": by_django_alias,
        "Django connection": by_django_connection,
    },
    "mariadb": {
        "PyMySQL": by_pymysql,
        "asyncmy": by_asyncmy,
        "Session": authenticate_session("mysql+pymysql"),
        "Connection": by_connection("mariadb+pymysql"),
        "AsyncSession": by_async_session("mysql+asyncmy"),
        "AsyncConnection": by_async_connection("mariadb+asyncmy"),
        "Django alias": by_django_alias,
    },
}
