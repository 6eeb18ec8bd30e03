"""Windlass on a database, and an application's transaction on the same one."""

import asyncio

import pytest

from tests.conformance.builders import DEFINITIONS
from tests.storage.callers.kinds import CALLERS
from tests.storage.callers.windlass import Windlass
from windlass.storage.storage import open_storage


@pytest.fixture
def windlass(database):
    with asyncio.Runner() as runner:
        storage = open_storage(database.url)
        runner.run(storage.sync_definitions(DEFINITIONS))
        yield Windlass(storage, runner, database.url)
        runner.run(storage.close())


@pytest.fixture
def caller(windlass, database, kind):
    with CALLERS[database.kind][kind](windlass.url, windlass.runner) as caller:
        yield caller
