"""A storage on each database, with a clock the test owns; at the end everything must add up."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from tests.support.invariants import check_invariants
from tests.support.job_builders import DEFINITIONS, World
from tests.support.warm_pools import WarmPools
from windlass.storage.connection.virtual_clock import NOW, VirtualClock
from windlass.storage.storage import Storage, open_storage


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    # One event loop, so that connections may outlive a test.
    here = Path(__file__).parent
    for item in items:
        if item.path.is_relative_to(here) and pytest_asyncio.is_async_test(item):
            item.add_marker(pytest.mark.asyncio(loop_scope="session"), append=False)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def warm_pools() -> AsyncIterator[WarmPools]:
    """The PostgreSQL connections of this process's worlds."""
    pools = WarmPools()
    yield pools
    await pools.close_all()


@pytest_asyncio.fixture(loop_scope="session")
async def world(database, databases, warm_pools, request) -> AsyncIterator[World]:
    """An empty, migrated database with a few definitions, its storage and its clock."""
    others = asyncio.all_tasks()
    storage = open_storage(database.url, now=NOW)
    warm_pools.lend(storage, database.url)
    try:
        clock = VirtualClock(storage)
        await clock.install()
        await storage.definitions.sync_definitions(DEFINITIONS)
        yield World(storage, clock, database)
        await end_tasks(others)
        if not getattr(request.node, "failed_in_call", False):
            await check_invariants(storage, clock)
    finally:
        await warm_pools.close(storage, database.url)
        if database.kind == "postgresql":
            warm_pools.spare(databases.supply(database.kind))


async def end_tasks(others: set[asyncio.Task[Any]]) -> None:
    """Cancel what the test left running, as the end of its own event loop would. The `others` are of
    those who share the loop, such as a browser."""
    left = asyncio.all_tasks() - others - {asyncio.current_task()}
    for task in left:
        task.cancel()
    await asyncio.gather(*left, return_exceptions=True)


@pytest.fixture
def storage(world: World) -> Storage:
    return world.storage


@pytest.fixture
def clock(world: World) -> VirtualClock:
    return world.clock


@pytest_asyncio.fixture(loop_scope="session")
async def twin(world: World, warm_pools: WarmPools) -> AsyncIterator[Storage]:
    """A second storage on the same database: another process, as far as it can tell."""
    storage = open_storage(world.database.url, now=NOW)
    warm_pools.lend(storage, world.database.url)
    try:
        yield storage
    finally:
        await warm_pools.close(storage, world.database.url)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    # After a failed test the leftovers prove nothing; its own message should be read first.
    report = yield
    if report.when == "call":
        item.failed_in_call = report.failed
    return report
