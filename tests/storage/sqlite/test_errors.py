"""Errors of a SQLite file as Windlass reports them."""

import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import closing
from pathlib import Path

import pytest

from tests.support.job_builders import DEFINITIONS, enqueue, new_jobs
from windlass.errors import DatabaseTimeout, DatabaseUnreachable, SchemaOutdated
from windlass.storage.connection.address import Address
from windlass.storage.migrate import migrate
from windlass.storage.sqlite.database import SqliteDatabase
from windlass.storage.sqlite.writer import FileLock
from windlass.storage.storage import Storage

pytestmark = pytest.mark.database("sqlite")

Open = Callable[[Path], Storage]


@pytest.fixture
async def opened() -> AsyncIterator[Open]:
    """Opens storages that wait no longer than a second, and closes them."""
    storages: list[Storage] = []

    def open_(path: Path) -> Storage:
        address = Address.parse(f"sqlite:///{path}")
        storages.append(Storage(SqliteDatabase(address, deadline=1.0)))
        return storages[-1]

    yield open_
    for storage in storages:
        await storage.close()


@pytest.fixture
def path(databases) -> Path:
    return Path(databases.supply("sqlite").migrated().removeprefix("sqlite:///"))


async def test_a_missing_folder(opened, tmp_path):
    with pytest.raises(DatabaseUnreachable, match="No such file"):
        await opened(tmp_path / "none" / "windlass.db").jobs.enqueue(new_jobs(1))
    with pytest.raises(DatabaseUnreachable, match="No such file"):
        await opened(tmp_path / "none" / "windlass.db").definitions.definitions()
    with pytest.raises(DatabaseUnreachable, match="No such file"):
        await migrate(opened(tmp_path / "none" / "windlass.db"))


async def test_a_file_that_is_not_a_database(opened, tmp_path):
    path = tmp_path / "windlass.db"
    path.write_text("a letter to a friend, long enough to be read as the head of a file\n" * 20)

    with pytest.raises(DatabaseUnreachable, match="ile is not a database"):
        await opened(path).definitions.definitions()
    with pytest.raises(DatabaseUnreachable, match="ile is not a database"):
        await opened(path).jobs.enqueue(new_jobs(1))


async def test_a_file_without_tables(opened, tmp_path):
    with pytest.raises(SchemaOutdated) as caught:
        await opened(tmp_path / "windlass.db").definitions.definitions()

    assert (caught.value.found, caught.value.needed) == (0, 1)


async def test_another_process_with_an_endless_transaction(opened, path):
    storage = opened(path)
    await storage.definitions.sync_definitions(DEFINITIONS)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("begin immediate")
        with pytest.raises(DatabaseTimeout):
            await storage.jobs.enqueue(new_jobs(1))
        other.execute("rollback")

    await enqueue(storage)


async def test_a_process_that_does_not_release_the_lock(opened, path):
    storage = opened(path)
    await storage.definitions.sync_definitions(DEFINITIONS)
    lock = FileLock(str(path), deadline=1)
    with lock.held(), pytest.raises(DatabaseTimeout):
        await storage.jobs.enqueue(new_jobs(1))

    await enqueue(storage)
    lock.close()


async def test_a_disk_that_is_full_and_is_then_given_room(opened, path):
    storage = opened(path)
    await storage.definitions.sync_definitions(DEFINITIONS)
    await storage.database.script("pragma max_page_count = 1")  # it never shrinks the file

    with pytest.raises(DatabaseUnreachable, match="full"):
        await storage.jobs.enqueue(new_jobs(500))

    await storage.database.script("pragma max_page_count = 1000000")
    await enqueue(storage)
