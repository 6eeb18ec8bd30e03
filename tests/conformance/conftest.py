"""A storage on each database, with a clock the test owns; at the end everything must add up."""

from collections.abc import AsyncIterator

import pytest

from tests.support.invariants import check_invariants
from tests.support.job_builders import DEFINITIONS, World
from windlass.storage.connection.virtual_clock import NOW, VirtualClock
from windlass.storage.storage import Storage, open_storage


@pytest.fixture
async def world(database, request) -> AsyncIterator[World]:
    """An empty, migrated database with a few definitions, its storage and its clock."""
    storage = open_storage(database.url, now=NOW)
    try:
        clock = VirtualClock(storage)
        await clock.install()
        await storage.definitions.sync_definitions(DEFINITIONS)
        yield World(storage, clock, database)
        if not getattr(request.node, "failed_in_call", False):
            await check_invariants(storage, clock)
    finally:
        await storage.close()


@pytest.fixture
def storage(world: World) -> Storage:
    return world.storage


@pytest.fixture
def clock(world: World) -> VirtualClock:
    return world.clock


@pytest.fixture
async def twin(world: World) -> AsyncIterator[Storage]:
    """A second storage on the same database: another process, as far as it can tell."""
    storage = open_storage(world.database.url, now=NOW)
    try:
        yield storage
    finally:
        await storage.close()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    # After a failed test the leftovers prove nothing; its own message should be read first.
    report = yield
    if report.when == "call":
        item.failed_in_call = report.failed
    return report
