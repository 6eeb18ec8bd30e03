"""Runs an app's worker, scheduler and upkeep in this process."""

import importlib
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from windlass.app.declare import declare, declare_in
from windlass.app.declared import Declared
from windlass.app.file_commands import command_handler
from windlass.app.system_jobs import SystemJobs
from windlass.core.definitions.definition import Definition
from windlass.core.definitions.handler_path import check_path, has_prefix
from windlass.engine.engine import Engine
from windlass.engine.startup_wait import wait_until_ready
from windlass.errors import DefinitionInvalid
from windlass.settings import Settings
from windlass.tasks import start_task
from windlass.upkeep.upkeep import Upkeep
from windlass.worker.backend import Backend
from windlass.worker.handlers import Handler, Handlers
from windlass.worker.isolation.run_as import check_run_as
from windlass.worker.isolation.threads import ThreadPool
from windlass.worker.options import WorkerOptions
from windlass.worker.worker import Worker

if TYPE_CHECKING:
    from windlass.app.windlass import Windlass


class Running:
    """Runs an app's worker and upkeep, and closes the engine it opened."""

    def __init__(self, app: "Windlass") -> None:
        self._app = app

    @asynccontextmanager
    async def running(self, options: WorkerOptions) -> AsyncIterator[Worker | None]:
        """Run worker and upkeep while the block lasts; leaving it drains."""
        async with self._engine_with_upkeep(options) as engine:
            if not self._app.settings.worker.enabled:
                yield None
                return
            async with self.worker(engine, options) as worker:
                working = start_task(worker.run(), name="windlass worker")
                try:
                    yield worker
                finally:
                    worker.drain()
                    await working

    @asynccontextmanager
    async def upkeep(self, *, scheduling: bool | None) -> AsyncIterator[None]:
        """Run upkeep without a worker while the block lasts."""
        options = WorkerOptions.of(self._app.settings)
        async with self._engine_with_upkeep(
            options, scheduling=scheduling, runs=scheduling is not False
        ):
            yield

    async def upkeep_once(self) -> None:
        """Do one round of scheduling and upkeep."""
        options = WorkerOptions.of(self._app.settings)
        try:
            engine = await self._ready_to_run()
            await Upkeep(engine, lease_time=options.lease_time).tick()
        finally:
            await self._app.close()

    async def work(
        self,
        options: WorkerOptions,
        started: Callable[[Worker], object],
        *,
        scheduling: bool | None,
    ) -> int:
        """Run worker and upkeep until the worker has ended; returns the number of jobs it could
        neither finish nor release."""
        async with (
            self._engine_with_upkeep(options, scheduling=scheduling) as engine,
            self.worker(engine, options) as worker,
        ):
            started(worker)
            return await worker.run()

    @asynccontextmanager
    async def worker(
        self,
        engine: Backend,
        options: WorkerOptions,
        *,
        handlers: Handlers | None = None,
        threads: ThreadPool | None = None,
    ) -> AsyncIterator[Worker]:
        """Create a worker inside the app's lifespans, without starting it. RunAsUnavailable if a
        command cannot run as its user here."""
        known = self._runnable_handlers() if handlers is None else handlers
        check_run_as(known.values())
        async with AsyncExitStack() as stack:
            for span in self._app.lifespans:
                await stack.enter_async_context(span())
            worker = Worker(
                engine,
                known,
                options,
                around=self._app.around_attempts,
                threads=threads,
                resolve=partial(row_handler, settings=self._app.settings),
            )
            try:
                yield worker
            finally:
                worker.close()  # a handler in a thread may end after the database is closed

    @asynccontextmanager
    async def _engine_with_upkeep(
        self, options: WorkerOptions, *, scheduling: bool | None = None, runs: bool = True
    ) -> AsyncIterator[Engine]:
        """A ready engine with upkeep running, closed at the end. Waits for a database that is
        reachable but not ready."""
        try:
            ready = self._ready_to_run if runs else self._app.ready
            engine = await wait_until_ready(ready, self._app.telemetry)
            upkeep = Upkeep(engine, lease_time=options.lease_time, scheduling=scheduling)
            upkeep.start()
            try:
                yield engine
            finally:
                await upkeep.stop()
        finally:
            await self._app.close()

    async def _ready_to_run(self) -> Engine:
        """The app's engine, with Windlass's own jobs registered. Only processes that run jobs or
        schedules do that, so that others do not change the rows of these jobs."""
        for handler in self._runnable_handlers().values():
            if handler.is_builtin:
                declare_in(self._app.engine, handler)
        return await self._app.ready()

    def _runnable_handlers(self) -> Handlers:
        """The handlers that a worker of this app can run."""
        known = Handlers(parent=self._app.handlers)
        if self._app.runs_system_jobs:
            for handler in SystemJobs(lambda: self._app.engine).handlers(self._app.settings):
                known.add(handler)
        return known


def row_handler(row: Definition, settings: Settings) -> Handler:
    """The handler of a definition created by an operator: a path or the name of a command."""
    create = command_handler if row.kind == "command" else path_handler
    return create(row, settings)


def path_handler(row: Definition, settings: Settings) -> Handler:
    """Import the handler that a row names, only from the allowed prefixes."""
    allowed = settings.worker.handler_paths
    handler = _import_handler(check_path(row.key, row.handler, allowed))
    function = handler.handler.call if isinstance(handler, Declared) else handler
    if not callable(function):
        raise DefinitionInvalid(row.key, f"{row.handler} is no function")
    home = getattr(function, "__module__", None) or ""
    if not has_prefix(f"{home}.", allowed):
        raise DefinitionInvalid(
            row.key,
            f"{row.handler} is only imported there and is defined in {home or 'no module'}, which"
            " is under none of the prefixes that this worker allows",
            hint="Name a function by the module that defines it.",
        )
    return (
        handler.handler
        if isinstance(handler, Declared)
        else declare(handler, row.key, {}, settings)
    )


def _import_handler(path: str) -> Any:
    module, _, name = path.rpartition(".")
    try:
        return getattr(importlib.import_module(module), name)
    except AttributeError as error:
        raise ImportError(f"there is no {name} in {module}") from error
