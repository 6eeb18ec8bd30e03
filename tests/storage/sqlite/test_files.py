"""The files of a SQLite database: new ones are read by their owner alone, old ones stay as they are."""

import os
import sqlite3
import stat
from contextlib import contextmanager

import pytest

from windlass import Settings, Windlass


@contextmanager
def umask(mask):
    before = os.umask(mask)
    try:
        yield
    finally:
        os.umask(before)


def modes(folder):
    return {
        path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir() if path.is_file()
    }


async def use(path):
    """Write to a database, and say which modes its files have while it is open."""
    wl = Windlass(f"sqlite:///{path}", settings=Settings())
    engine = await wl.ready()
    await wl.tenants.create("acme")
    found = modes(path.parent)
    exposed = await engine.storage.database.readable_files()
    await wl.close()
    return found, exposed


@pytest.mark.parametrize("mask", [0o000, 0o022, 0o077])
async def test_new_files_are_for_their_owner_whatever_the_umask(tmp_path, mask):
    with umask(mask):
        found, exposed = await use(tmp_path / "jobs.db")

    assert {"jobs.db", "jobs.db-lock", "jobs.db-next", "jobs.db-wal", "jobs.db-shm"} <= set(found)
    assert set(found.values()) == {0o600}
    assert exposed == []


async def test_a_database_that_a_group_shares_stays_shared(tmp_path):
    path = tmp_path / "jobs.db"
    path.touch()
    path.chmod(0o660)

    with umask(0o002):
        found, exposed = await use(path)

    assert set(found.values()) == {0o660}
    assert str(path) in exposed


async def test_a_rollback_journal_is_for_its_owner_too(tmp_path):
    path = tmp_path / "jobs.db"
    with umask(0):
        await use(path)
        other = sqlite3.connect(path)
        other.execute("pragma journal_mode = persist")
        other.execute("create table mine (id)")
        other.commit()
        other.close()

    assert modes(tmp_path)["jobs.db-journal"] == 0o600
