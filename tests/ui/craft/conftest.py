"""How a screen is made does not depend on the database: these tests run on the first that is asked for."""

import pytest

from tests.databases.kinds import Database, requested_kinds
from tests.databases.plugin import Databases


@pytest.fixture(scope="module", params=requested_kinds()[:1])
def database(request: pytest.FixtureRequest, databases: Databases) -> Database:
    """A migrated database for the tests of a module."""
    return Database(request.param, databases.supply(request.param).migrated())
