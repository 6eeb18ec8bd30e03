"""Pytest fixture for one app."""

from collections.abc import AsyncIterator, Iterator
from importlib.util import find_spec
from typing import Any

from windlass.app import sync
from windlass.app.windlass import Windlass
from windlass.testing.blocking import BlockingTestWindlass
from windlass.testing.windlass import TestWindlass


def fixture(app: Windlass | sync.Windlass) -> Any:
    """Create a pytest fixture that yields a `TestWindlass` of this app, or a `BlockingTestWindlass`
    of a blocking one: `wl_test = windlass.testing.fixture(wl)` in `conftest.py`.

    Async tests need pytest-asyncio or anyio, as they do anyway.
    """
    import pytest

    if isinstance(app, sync.Windlass):

        @pytest.fixture
        def blocking() -> Iterator[BlockingTestWindlass]:
            with BlockingTestWindlass(app) as test:
                yield test

        return blocking

    async def awaited() -> AsyncIterator[TestWindlass]:
        async with TestWindlass(app) as test:
            yield test

    if find_spec("pytest_asyncio"):
        import pytest_asyncio

        return pytest_asyncio.fixture(awaited)
    return pytest.fixture(awaited)
