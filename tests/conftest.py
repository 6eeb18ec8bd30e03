"""What every test may use."""

import gc
from pathlib import Path

import pytest
from hypothesis import settings

from tests.databases.scratch import use_memory
from tests.support.principals import cheap_hasher
from windlass.engine.access.passwords import Passwords
from windlass.storage.connection import deadlines

use_memory()

# How long an example takes is the machine's business, not a test's.
settings.register_profile("unhurried", settings(deadline=None))
settings.load_profile("unhurried")
# So is how long a server takes for a connection; tests about silent links set their own.
deadlines.CONNECT = 30.0
# The product's cost of a password, 64 MiB and 50 ms of each core, is tested in
# engine/access/test_passwords.py.
PRODUCT_HASHER = Passwords.default_hasher
Passwords.default_hasher = staticmethod(cheap_hasher)

_TESTS = Path(__file__).parent

pytest_plugins = ["tests.support.app_fixtures", "tests.databases.plugin", "tests.databases.report"]


def pytest_collection_finish(session: pytest.Session) -> None:
    # Thousands of tests stay to the end: to look through them again and again costs minutes.
    gc.collect()
    gc.freeze()
    # What a test allocates goes with it: looking for cycles every 700 objects finds few.
    gc.set_threshold(20_000, 20, 20)


#: These wait more than they compute: they run beside the many others, from the beginning on.
_FIRST = ("chaos", "journeys", "benchmarks", "cli", "worker")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    order = {name: place for place, name in enumerate(_FIRST)}
    items.sort(key=lambda item: order.get(item.path.relative_to(_TESTS).parts[0], len(order)))
