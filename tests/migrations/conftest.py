"""A database without any tables."""

import pytest

from tests.databases.kinds import requested_kinds
from windlass.storage.storage import Storage, open_storage


@pytest.fixture(params=requested_kinds())
async def unmigrated(request, new_database):
    """A database without any tables, and a way to open storages on it."""
    database = new_database(request.param)
    opened: list[Storage] = []

    def open_one() -> Storage:
        opened.append(open_storage(database.url))
        return opened[-1]

    open_one.url = database.url
    yield open_one
    for storage in opened:
        await storage.close()
