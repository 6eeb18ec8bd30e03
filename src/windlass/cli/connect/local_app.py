"""The engine on a command's database, and the Python API over it for commands that need that."""

from collections.abc import Sequence
from contextlib import ExitStack
from functools import cached_property
from typing import TYPE_CHECKING

from windlass.cli.framework.silent_telemetry import SilentTelemetry
from windlass.engine.connect import connect
from windlass.engine.engine import Engine
from windlass.settings import Settings

if TYPE_CHECKING:
    from windlass.app.enqueue import Deliveries
    from windlass.app.windlass import Windlass


class LocalApp:
    """Connects when it is first used."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.telemetry = SilentTelemetry()
        self._engine: Engine | None = None
        self._shared = ExitStack()

    @cached_property
    def windlass(self) -> "Windlass":
        """The Python API, on the same engine."""
        from windlass.app.windlass import Windlass

        app = Windlass(settings=self.settings)
        app.telemetry = self.telemetry
        if (engine := self._engine) is not None:
            self._shared.enter_context(app.using_engine(lambda: engine))
        return app

    @property
    def deliveries(self) -> "Deliveries":
        """The way of jobs into the database."""
        return self.windlass.deliveries

    @property
    def engine(self) -> Engine:
        if self.settings.commands or "windlass" in vars(self):
            return self.windlass.engine  # the settings' commands are definitions that it declares
        if self._engine is None:
            self._engine = connect(self.settings, self.telemetry)
        return self._engine

    async def ready(self) -> Engine:
        """Connect, check the schema, register declared definitions."""
        engine = self.engine
        await engine.ready()
        return engine

    async def learn(self, modules: Sequence[str]) -> None:
        """Register what modules declare, as a worker that runs them would."""
        from windlass.cli.run import load_modules

        apps = load_modules.load_apps(modules)
        await self.close()
        await load_modules.learn(self.windlass, apps)

    async def close(self) -> None:
        if "windlass" in vars(self):
            await self.windlass.close()
            self._shared.close()
            del self.windlass
        elif self._engine is not None:
            await self._engine.close()
        self._engine = None
