"""Apps under test: one on each database, and connections of their owners' own."""

import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from typing import Any

import psycopg
import pytest
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from tests.databases.connect import connect_mariadb
from tests.databases.kinds import Database
from windlass import JobFailed, Receipt, Settings, Windlass
from windlass.core.jobs.models import Job


@pytest.fixture
async def wl(database: Database) -> AsyncIterator[Windlass]:
    """An app on an empty, migrated database; the test runs once on each kind."""
    app = Windlass(database.url, settings=Settings())
    yield app
    await app.close()


@pytest.fixture
def stored(wl: Windlass) -> Callable[[], Any]:
    """All jobs there are, the oldest first."""

    async def look() -> list[Job]:
        jobs = (await wl.jobs.list(limit=500)).jobs
        return [await wl.jobs.get(job.id) for job in reversed(jobs)]

    return look


@pytest.fixture
def ended(wl: Windlass) -> Callable[[Receipt[Any]], Any]:
    """Run one job and give it as it ended, well or not."""

    async def end(receipt: Receipt[Any]) -> Job:
        async with wl.running():
            with suppress(JobFailed):
                await wl.jobs.wait(receipt.job_id, "30s")
            return await wl.jobs.get(receipt.job_id)

    return end


def connect(database: Database) -> Any:
    """A blocking connection of an application's own, with a transaction to come."""
    match database.kind:
        case "sqlite":
            return sqlite3.connect(database.url.removeprefix("sqlite:///"))
        case "postgresql":
            return psycopg.connect(database.url)
        case "mariadb":
            return connect_mariadb(database.url)


def async_engine(database: Database) -> AsyncEngine:
    """SQLAlchemy on the same database, awaited."""
    driver = {"sqlite": "aiosqlite", "postgresql": "asyncpg", "mariadb": "asyncmy"}[database.kind]
    scheme, _, rest = database.url.partition("://")
    dialect = "mysql" if database.kind == "mariadb" else scheme
    return create_async_engine(f"{dialect}+{driver}://{rest}")
