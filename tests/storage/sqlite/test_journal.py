"""A SQLite file: its journal mode, its lock file, and warnings."""

import sqlite3
import threading
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.support.job_builders import DEFINITIONS, enqueue
from windlass.storage.migrate import migrate
from windlass.storage.sqlite.writer import FileLock
from windlass.storage.storage import Storage, open_storage

pytestmark = pytest.mark.database("sqlite")

OLD, NEW = (3, 40, 1), (3, 51, 3)


@pytest.fixture
def path(tmp_path) -> Path:
    return tmp_path / "windlass.db"


@pytest.fixture
async def storage(path) -> AsyncIterator[Storage]:
    storage = open_storage(f"sqlite:///{path}")
    yield storage
    await storage.close()


async def test_a_local_file_has_a_write_ahead_log(storage, path, monkeypatch):
    monkeypatch.setattr(sqlite3, "sqlite_version_info", OLD)

    await work(storage)

    assert journal(path) == "wal"
    assert await storage.database.warnings() == []


@pytest.mark.parametrize("version", [NEW, (3, 50, 7), (3, 44, 6)])
async def test_a_shared_file_gets_a_write_ahead_log_if_sqlite_has_the_fix(
    storage, path, monkeypatch, version
):
    monkeypatch.setattr(sqlite3, "sqlite_version_info", version)
    of_an_application(path)

    await work(storage)

    assert journal(path) == "wal"
    assert await storage.database.warnings() == []


@pytest.mark.parametrize("version", [OLD, (3, 51, 2), (3, 50, 6)])
async def test_a_shared_file_keeps_its_rollback_journal_otherwise(
    storage, path, monkeypatch, version
):
    monkeypatch.setattr(sqlite3, "sqlite_version_info", version)
    of_an_application(path)

    await work(storage)

    assert journal(path) == "delete"
    assert await storage.database.warnings() == []


async def test_an_application_that_chose_the_log_itself_is_warned(storage, path, monkeypatch):
    monkeypatch.setattr(sqlite3, "sqlite_version_info", OLD)
    of_an_application(path, "pragma journal_mode = wal")

    await work(storage)
    [warning] = await storage.database.warnings()

    assert "can corrupt a file" in warning
    assert "3.51.3" in warning


async def test_a_database_in_memory_works_with_a_warning():
    storage = open_storage("sqlite://")
    await work(storage)
    [warning] = await storage.database.warnings()
    await storage.close()

    assert "lost when the process ends" in warning


async def test_a_removed_lock_file_is_created_again(storage, path):
    await work(storage)
    path.with_name("windlass.db-lock").unlink()
    other = open_storage(f"sqlite:///{path}")

    await enqueue(other)
    await enqueue(storage)
    await other.close()

    assert path.with_name("windlass.db-lock").exists()


def test_a_process_that_writes_without_pause_lets_others_in(path):
    mine, theirs = FileLock(str(path), deadline=30), FileLock(str(path), deadline=30)
    turns, stopped = [0], threading.Event()

    def write_without_pause() -> None:
        while not stopped.is_set():
            with theirs.held():
                turns[0] += 1
                stopped.wait(0.002)  # as long as a write takes

    writer = threading.Thread(target=write_without_pause)
    writer.start()
    waited = []
    for _ in range(50):
        before = turns[0]
        with mine.held():
            waited.append(turns[0] - before)
    stopped.set()
    writer.join()
    mine.close()
    theirs.close()

    assert max(waited) <= 3


async def test_a_closed_storage_leaves_no_log_behind_and_may_be_used_again(storage, path):
    await work(storage)
    await storage.close()

    assert not path.with_name("windlass.db-wal").exists()

    await enqueue(storage)
    assert len(await storage.definitions.definitions()) == len(DEFINITIONS)


async def work(storage: Storage) -> None:
    await migrate(storage)
    await storage.definitions.sync_definitions(DEFINITIONS)
    await enqueue(storage)


def of_an_application(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path)) as connection:
        for statement in (*statements, "create table orders (id integer primary key)"):
            connection.execute(statement)


def journal(path: Path) -> str:
    with closing(sqlite3.connect(path)) as connection:
        return str(connection.execute("pragma journal_mode").fetchone()[0])
