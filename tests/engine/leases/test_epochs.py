"""Epochs: a worker must stop when a new one begins."""

from dataclasses import replace

import pytest

from tests.support.job_builders import ALDER, DEFINITIONS, enqueue, lease_of, started
from windlass.core.jobs.models import WorkerRow
from windlass.core.leases.worker_orders import WorkerOrder
from windlass.engine.engine import Engine
from windlass.errors import EpochChanged
from windlass.ids import WorkerId
from windlass.settings import Settings
from windlass.storage.monitoring.installation import TOKEN_STEP
from windlass.storage.storage import open_storage
from windlass.telemetry import Telemetry

ROW = WorkerRow(id=ALDER, hostname="alder", pid=1, version="0", queues=(), definitions=(), slots=1)
BIRCH = replace(ROW, id=WorkerId("birch"))


@pytest.fixture
async def on_any(database):
    """An engine on each database."""
    engine = Engine(open_storage(database.url), Settings(), Telemetry())
    await engine.storage.definitions.sync_definitions(DEFINITIONS)
    yield engine
    await engine.close()


async def test_a_heartbeat_reports_a_new_epoch(on_any):
    assert await on_any.workers.beat(ROW) is WorkerOrder.RUN
    await started(on_any.storage)

    assert await on_any.epochs.begin() == 1

    with pytest.raises(EpochChanged):
        await on_any.workers.beat(ROW)
    assert await on_any.workers.beat(BIRCH) is WorkerOrder.RUN, "it started afterwards"
    assert await on_any.workers.heartbeat_remote(ROW) is WorkerOrder.RUN, (
        "its server keeps it from harm"
    )


async def test_a_heartbeat_from_another_server_begins_an_epoch(on_any):
    lease = await started(on_any.storage)
    await on_any.workers.beat(ROW)
    if await on_any.epochs.server() is None:
        return  # this database cannot say which server it is
    noted = (await on_any.epochs.current()).server
    await on_any.storage.database.script("update windlass_installation set server = '1/00000001/1'")
    other = Engine(on_any.storage, Settings(), Telemetry())

    assert await other.workers.beat(BIRCH) is WorkerOrder.RUN
    await other.workers.beat(BIRCH)

    assert (await other.epochs.current()).server == noted
    assert (await lease_of(on_any.storage, lease.job_id)).token == TOKEN_STEP + 1
    with pytest.raises(EpochChanged):
        await on_any.workers.beat(ROW)


async def test_a_stopped_worker_may_return_after_an_epoch_began(on_any):
    await on_any.workers.beat(ROW)
    await on_any.workers.leave(ALDER)
    await on_any.epochs.begin()

    assert await on_any.workers.beat(ROW) is WorkerOrder.RUN
    await enqueue(on_any.storage)
