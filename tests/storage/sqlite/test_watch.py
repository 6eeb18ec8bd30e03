"""Nudges between processes that share a SQLite file."""

import asyncio
import os
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from windlass.storage.storage import Storage, open_storage

pytestmark = pytest.mark.database("sqlite")

_ROOT = Path(__file__).parents[3]
_NUDGE = """
import asyncio, sys
from windlass.storage.storage import open_storage
asyncio.run(open_storage(sys.argv[1]).database.nudge(sys.argv[2:]))
"""


@pytest.fixture
def url(tmp_path) -> str:
    return f"sqlite:///{tmp_path / 'windlass.db'}"


@pytest.fixture
async def storage(url) -> AsyncIterator[Storage]:
    storage = open_storage(url)
    yield storage
    await storage.close()


async def test_a_nudge_of_another_process_arrives(storage, url):
    watch = await storage.database.watch(["mail"])

    await nudge_from_outside(url, "mail")

    assert await watch.wait(10)
    await watch.close()


async def test_only_nudges_of_watched_queues_arrive(storage, url):
    mail, all_queues = await storage.database.watch(["mail"]), await storage.database.watch(None)

    await nudge_from_outside(url, "reports")

    assert await all_queues.wait(10) == {"reports"}
    assert not await mail.wait(0)
    await mail.close()
    await all_queues.close()


async def test_a_nudge_of_many_queues_reaches_every_watch(storage, url):
    watch = await storage.database.watch(["mail"])
    other = open_storage(url)

    await other.database.nudge([f"queue-{number}" for number in range(2000)])

    assert await watch.wait(10)
    await watch.close()
    await other.close()


async def test_two_storages_of_one_process_nudge_each_other(storage, url):
    watch = await storage.database.watch(None)
    other = open_storage(url)

    await other.database.nudge(["mail"])

    assert await watch.wait(10)
    await watch.close()
    await other.close()


async def test_a_nudge_wakes_once(storage):
    watch = await storage.database.watch(None)

    await storage.database.nudge(["mail"])
    await storage.database.nudge(["mail"])

    assert await watch.wait(0)
    assert not await watch.wait(0)
    await watch.close()


async def test_in_memory_a_process_nudges_itself():
    storage = open_storage("sqlite://")
    watch = await storage.database.watch(["mail"])

    await storage.database.nudge(["mail"])

    assert await watch.wait(0)
    await watch.close()
    await storage.close()


async def test_the_socket_of_a_dead_process_is_removed(storage):
    watch = await storage.database.watch(None)
    stale = watch.path.with_name("1-dead")
    left = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    left.bind(str(stale))
    left.close()

    await storage.database.nudge(["mail"])

    assert not stale.exists()
    assert watch.path.exists()
    await watch.close()


async def test_a_closed_watch_leaves_nothing_behind(storage):
    watch = await storage.database.watch(None)
    folder = watch.path.parent
    await watch.close()

    assert not folder.exists()
    await storage.database.nudge(["mail"])


async def test_a_folder_that_others_can_enter_is_not_used(storage, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    (tmp_path / f"windlass-{os.getuid()}").mkdir(mode=0o755)

    watch = await storage.database.watch(None)
    await storage.database.nudge(["mail"])

    assert watch.path is None
    assert await watch.wait(0)
    await watch.close()


async def nudge_from_outside(url: str, *queues: str) -> None:
    process = await asyncio.to_thread(
        subprocess.run, [sys.executable, "-c", _NUDGE, url, *queues], cwd=_ROOT, timeout=60
    )
    assert process.returncode == 0
