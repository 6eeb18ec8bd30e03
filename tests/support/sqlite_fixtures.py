"""A SQLite file with a clock that the test owns, for parts that do not depend on the database."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.databases.plugin import Databases
from tests.support.job_builders import DEFINITIONS
from windlass import Settings
from windlass.engine.engine import Engine
from windlass.storage.connection.virtual_clock import NOW, VirtualClock
from windlass.storage.storage import Storage, open_storage
from windlass.telemetry import Telemetry


@pytest.fixture
def file_url(databases: Databases) -> str:
    """An empty, migrated file."""
    return databases.supply("sqlite").migrated()


@pytest.fixture
async def storage(file_url: str) -> AsyncIterator[Storage]:
    """A file with a few definitions, at a time that stands still."""
    storage = open_storage(file_url, now=NOW)
    await VirtualClock(storage).install()
    await storage.definitions.sync_definitions(DEFINITIONS)
    yield storage
    await storage.close()


@pytest.fixture
def clock(storage: Storage) -> VirtualClock:
    return VirtualClock(storage)


@pytest.fixture
def heard() -> "Heard":
    """What telemetry is told."""
    return Heard()


@pytest.fixture
async def engine(storage: Storage, heard: "Heard") -> AsyncIterator[Engine]:
    engine = Engine(storage, Settings(), Telemetry(heard))
    yield engine
    await engine.events.close()
    await engine.nudges.close()


@dataclass
class Heard:
    """A logger that remembers."""

    said: list[tuple[str, str, dict[str, Any]]] = field(default_factory=list)

    def __getattr__(self, level: str) -> Any:
        return lambda event, **about: self.said.append((level, event, about))

    def events(self) -> list[str]:
        return [event for _, event, _ in self.said]


@pytest.fixture
def seconds(monkeypatch: pytest.MonkeyPatch) -> "Seconds":
    """The process's own monotonic clocks, in the test's hand."""
    seconds = Seconds()
    monkeypatch.setattr("windlass.clock.monotonic", lambda: seconds.now)
    monkeypatch.setattr("windlass.clock.boottime", lambda: seconds.now)
    return seconds


@dataclass
class Seconds:
    now: float = 1000.0

    def pass_by(self, seconds: float) -> None:
        self.now += seconds
