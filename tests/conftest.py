"""What every test may use."""

import gc

import pytest
from hypothesis import settings

from windlass.storage.connection import deadlines

# How long an example takes is the machine's business, not a test's.
settings.register_profile("unhurried", settings(deadline=None))
settings.load_profile("unhurried")
# So is how long a server takes for a connection; tests about silent links set their own.
deadlines.CONNECT = 30.0

pytest_plugins = ["tests.support.app_fixtures", "tests.databases.plugin", "tests.databases.report"]


def pytest_collection_finish(session: pytest.Session) -> None:
    # Thousands of tests stay to the end: to look through them again and again costs minutes.
    gc.collect()
    gc.freeze()
