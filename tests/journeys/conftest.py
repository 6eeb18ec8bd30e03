"""A journey: a database, processes around it, a ledger, and the test's own view of the jobs."""

import fcntl
import os
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from pathlib import Path

import pytest

from tests.journeys.journey import Journey
from tests.support.processes.ledger import Ledger
from tests.support.processes.processes import Processes
from windlass import Windlass

#: Journeys under way at once, in all test processes: more would only make each other late.
_AT_ONCE = max(2, os.cpu_count() or 2)

Start = Callable[[str], AbstractAsyncContextManager[Journey]]


@pytest.fixture
async def start_journey(tmp_path: Path) -> AsyncIterator[Start]:
    """Begins a journey on the database at a URL."""

    @asynccontextmanager
    async def start(url: str) -> AsyncIterator[Journey]:
        ledger = Ledger(tmp_path / "ledger")
        with Processes(url, ledger, tmp_path) as processes:
            async with Windlass(url) as wl:
                yield Journey(url, wl, ledger, processes)

    with a_turn():
        yield start


@pytest.fixture
async def journey(database, start_journey: Start) -> AsyncIterator[Journey]:
    """A journey on each database; at its end the records must agree with each other."""
    async with start_journey(database.url) as journey:
        yield journey
        await journey.check_records()


@contextmanager
def a_turn(of: str = "journey", *, at_once: int = _AT_ONCE) -> Iterator[None]:
    """Wait until there is room for one more journey, or something else, on this machine."""
    files = [
        os.open(Path(tempfile.gettempdir()) / f"windlass-{of}-{os.getuid()}-{place}", os.O_CREAT)
        for place in range(at_once)
    ]
    try:
        while not any(map(_locked, files)):
            time.sleep(0.05)
        yield
    finally:
        for file in files:
            os.close(file)


def _locked(file: int) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
