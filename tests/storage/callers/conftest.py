"""Windlass on a database, and an application's transaction on the same one."""

import asyncio

import pytest

from tests.storage.callers.harness import Windlass
from tests.support.caller_transactions import CALLERS
from tests.support.job_builders import DEFINITIONS
from windlass.storage.storage import open_storage


@pytest.fixture
def windlass(database):
    with asyncio.Runner() as runner:
        storage = open_storage(database.url)
        runner.run(storage.definitions.sync_definitions(DEFINITIONS))
        yield Windlass(storage, runner, database.url)
        runner.run(storage.close())


@pytest.fixture
def caller(windlass, database, kind):
    with CALLERS[database.kind][kind](windlass.url, windlass.runner) as caller:
        yield caller
