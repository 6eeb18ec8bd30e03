"""Running jobs of the library."""

import pytest


@pytest.fixture
def run(wl, ended):
    """Run a job of the library and give it as it ended."""

    async def run(key, payload=None):
        return await ended(await wl.enqueue(key, payload))

    return run
