"""A command's database: its engine, and the API called in this process."""

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import ExitStack, asynccontextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any

from windlass.cli.connect.api_client import Client
from windlass.core.jobs.models import ALL_TENANTS
from windlass.engine.engine import Engine
from windlass.errors import RequestRefused
from windlass.settings import Settings
from windlass.telemetry import Telemetry

if TYPE_CHECKING:
    from windlass.app.enqueue import Deliveries
    from windlass.app.windlass import Windlass


class SilentTelemetry(Telemetry):
    """Telemetry without the worker's database messages: a command performs one action."""

    def note(self, event: str, **about: object) -> None:
        """Not logged."""

    def warn(self, event: str, **about: object) -> None:
        """Not logged."""


class LocalApp:
    """The engine on a database, and the Python API over it where a command needs that. Connects on
    first use. With `only_reads` it creates no database file."""

    def __init__(self, settings: Settings, *, only_reads: bool = False) -> None:
        self.settings = settings
        self._only_reads = only_reads
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
        """Enqueues jobs into the database."""
        return self.windlass.deliveries

    @property
    def engine(self) -> Engine:
        if self.settings.commands or "windlass" in vars(self):
            return self.windlass.engine  # it declares the settings' commands as definitions
        if self._engine is None:
            self._engine = Engine.open(self.settings.database.url, self.settings, self.telemetry)
        return self._engine

    async def ready(self) -> Engine:
        """Connect, check the schema, register declared definitions."""
        engine = self.engine
        await engine.ready()
        return engine

    async def ready_to_read(self) -> Engine:
        """The same for a call that changes nothing; DatabaseNotFound in a command that only reads."""
        engine = self.engine
        await engine.ready_to_read(creates=not self._only_reads)
        return engine

    async def learn(self, modules: Sequence[str]) -> None:
        """Register the definitions of modules, as a worker that runs them would."""
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


def in_process_client(app: LocalApp, actor: str | None, tenant: str | None) -> Client:
    """A client of a database. The caller has direct access to it, and so every right."""
    from windlass.api.access.callers import Caller
    from windlass.api.local_calls import LocalApi

    api = LocalApi(app, Caller(actor, ALL_TENANTS))

    async def send(method: str, path: str, query: Sequence[tuple[str, str]], body: object) -> Any:
        response = await api.send(method, path, query, body)
        if response.status_code >= 400:
            raise RequestRefused(response.status_code, said="it says no more")
        return json.loads(response.body) if response.body else {}

    @asynccontextmanager
    async def operating() -> AsyncIterator[None]:
        """Work on bulk operations while this is open: there may be no other process to do it."""
        from windlass.upkeep.bulk_operations import OperationRunner

        work = OperationRunner(await app.ready())
        work.start()
        try:
            yield
        finally:
            await work.stop()

    return Client(send, tenant=tenant, learn=app.learn, operating=operating)
