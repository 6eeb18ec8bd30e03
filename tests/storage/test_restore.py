"""Backup and restore of a live installation: nothing of the time after the backup counts."""

import asyncio

import pytest

from tests.storage.backups import Backup
from tests.support.job_builders import (
    ALDER,
    DEFINITIONS,
    LEASE_TIME,
    claim,
    finish,
    held,
    ids_in,
    new_jobs,
    started,
)
from windlass.core.jobs.states import ENDED
from windlass.engine.monitoring.counts import Counts
from windlass.engine.monitoring.integrity import Integrity
from windlass.ids import WorkerId
from windlass.storage.monitoring.installation import TOKEN_STEP
from windlass.storage.storage import open_storage

BIRCH = WorkerId("birch")


@pytest.fixture
async def storage(database):
    storage = open_storage(database.url)
    await storage.definitions.sync_definitions(DEFINITIONS)
    yield storage
    await storage.close()


async def work(storage, worker, until):
    """Claim and finish jobs as a worker does, as long as `until` is not set."""
    while not until.is_set():
        leases = await claim(storage, 3, worker=worker, queues=["default"])
        await storage.leases.finish(worker, [finish(lease) for lease in leases])
        await storage.jobs.enqueue(new_jobs(3))


async def test_a_restored_installation_continues_and_refuses_earlier_leases(
    storage, database, tmp_path
):
    await storage.jobs.enqueue(new_jobs(30))
    running = [await started(storage, by=worker) for worker in (ALDER, BIRCH)]
    done = asyncio.Event()
    working = asyncio.create_task(work(storage, WorkerId("cedar"), done))
    backup = Backup(database, tmp_path)
    await asyncio.to_thread(backup.take)
    done.set()
    await working
    # After the backup: what the restored database will know nothing of.
    await storage.jobs.enqueue(new_jobs(5))
    later = await claim(storage, 20)
    await storage.leases.finish(BIRCH, [finish(running[1])])

    with backup.restored() as restored:
        new = open_storage(restored.url)
        try:
            await new.monitoring.begin_epoch(server=None)

            # Old workers that are pointed at the restored database are refused.
            for lease in [*running, *later]:
                worker = lease.worker or ALDER
                assert await new.leases.finish(worker, [finish(lease)]) == {}
                assert await new.leases.renew(worker, [held(lease)], lease_time=LEASE_TIME) == []
            assert await Integrity(new).check() == []
            assert await Counts(new).check() == []

            tokens = await rerun(new)

            assert {lease.job_id for lease in running} <= tokens.keys()
            assert min(tokens.values()) > TOKEN_STEP
            assert not await ids_in(new, "pending", "queued", "running")
            assert set(tokens) <= await ids_in(new, *ENDED)
            assert await Integrity(new).check() == []
            assert await Counts(new).check() == []
        finally:
            await new.close()


async def rerun(storage):
    """Run every job to its end; the lease token each ran under."""
    tokens = {}
    while True:
        await storage.leases.promote()
        leases = await claim(storage, 100)
        if not leases:
            return tokens
        tokens |= {lease.job_id: lease.token for lease in leases}
        await storage.leases.finish(ALDER, [finish(lease) for lease in leases])
