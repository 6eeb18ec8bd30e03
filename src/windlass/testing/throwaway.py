"""A SQLite file for one test, with a clock that stands still."""

from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from windlass import clock
from windlass.engine.engine import Engine
from windlass.settings import Settings
from windlass.storage.open import open_storage
from windlass.storage.virtual_clock import NOW, VirtualClock
from windlass.testing.summary import Tally


class ThrowAway:
    """The file and its time. `now` may be set at will; engines tell the database before they
    do anything else."""

    def __init__(self, at: datetime | None) -> None:
        self._folder = TemporaryDirectory(prefix="windlass-test-")
        self.url = f"sqlite:///{Path(self._folder.name) / 'windlass.db'}"
        self.now = at or clock.utcnow().replace(microsecond=0)
        self.told: datetime | None = None

    def engine(self, settings: Settings) -> "TestEngine":
        return TestEngine(self, settings)

    def remove(self) -> None:
        self._folder.cleanup()


class TestEngine(Engine):
    """An engine on a throw-away file."""

    __test__ = False  # to pytest, "Test" in front of a name means tests inside
    telemetry: Tally

    def __init__(self, place: ThrowAway, settings: Settings) -> None:
        super().__init__(open_storage(place.url, now=NOW), settings, Tally())
        self._place = place

    def join(self, tx: object) -> None:
        """Never: a caller's transaction leads to the caller's own database, not to this one."""

    async def ready(self) -> None:
        """Make it the time it should be, then as always."""
        now = self._place.now
        if now != self._place.told:
            await VirtualClock(self.storage).install(now)
            self._place.told = now
        await super().ready()
