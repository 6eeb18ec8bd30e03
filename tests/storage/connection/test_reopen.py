"""The same database over connections of its own, in a thread with its own event loop."""

import asyncio
import os
from datetime import timedelta

import pytest

from tests.support.job_builders import DEFINITIONS, enqueue, held, job, started
from windlass.storage.storage import open_storage
from windlass.worker.leases.loop_thread import LoopThread

LEASE_TIME = timedelta(seconds=90)


@pytest.fixture
def file(databases):
    """The path of an empty, migrated file."""
    return databases.supply("sqlite").migrated().removeprefix("sqlite:///")


async def test_leases_are_renewed_from_another_thread(database):
    storage = open_storage(database.url)
    await storage.definitions.sync_definitions(DEFINITIONS)
    lease = await started(storage)
    again = storage.reopen(lease_time=LEASE_TIME)
    thread = LoopThread("renews")
    thread.start(asyncio.Event().wait)

    async def renew():
        renewed = await again.leases.renew(lease.worker, [held(lease)], lease_time=LEASE_TIME)
        await again.close()
        return renewed

    [renewal] = await asyncio.wrap_future(thread.submit(renew()))

    assert held(renewal) == held(lease)
    assert (await job(storage, lease.job_id)).lease_expires_at > lease.started_at + LEASE_TIME / 2
    assert await thread.stop(within=30)
    await storage.close()


async def test_a_file_path_survives_a_change_of_directory(file, tmp_path, monkeypatch):
    monkeypatch.chdir(os.path.dirname(file))
    storage = open_storage(f"sqlite:///{os.path.basename(file)}")
    await storage.definitions.sync_definitions(DEFINITIONS)
    id = await enqueue(storage)
    monkeypatch.chdir(tmp_path)

    again = storage.reopen(lease_time=LEASE_TIME)

    assert (await job(again, id)).id == id
    await again.close()
    await storage.close()


async def test_a_database_in_memory_is_shared_and_closed_once():
    storage = open_storage("sqlite:///:memory:")
    again = storage.reopen(lease_time=LEASE_TIME)

    await again.close()

    assert again.database is storage.database
    await storage.close()
