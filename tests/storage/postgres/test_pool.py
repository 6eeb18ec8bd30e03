"""Connections of PostgreSQL's pool, given up before they are there."""

import asyncio
import contextlib
import gc

import pytest

from windlass.storage.storage import open_storage

pytestmark = pytest.mark.parametrize("database", ["postgresql"], indirect=True)


@pytest.mark.parametrize("steps", range(24))
async def test_a_cancellation_while_connecting_logs_no_error(database, steps):
    complaints = []
    asyncio.get_running_loop().set_exception_handler(lambda _, about: complaints.append(about))
    storage = open_storage(database.url)
    asking = asyncio.create_task(storage.now())
    for _ in range(steps):
        await asyncio.sleep(0)

    asking.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await asking
    pools = list(storage.database._pools.values())
    await storage.close()
    await asyncio.sleep(0.01)
    gc.collect()  # an exception nobody retrieved is logged when its task is collected

    assert complaints == []
    assert [pool._making for pool in pools if pool._making] == []
