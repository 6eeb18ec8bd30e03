"""An app at work in this process: its worker, scheduler and upkeep."""

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING

from windlass.engine.engine import Engine
from windlass.engine.waiting import when_ready
from windlass.face.declare import declare_in
from windlass.face.path_handlers import row_handler
from windlass.tasks import start_task
from windlass.upkeep.upkeep import Upkeep
from windlass.worker.handlers import Handlers
from windlass.worker.options import WorkerOptions
from windlass.worker.run_as import check_run_as
from windlass.worker.side import Side
from windlass.worker.threads import Threads
from windlass.worker.worker import Worker

if TYPE_CHECKING:
    from windlass.app import Windlass


class Running:
    """What an app does to get jobs run; the engine it opens is closed when it ends."""

    def __init__(self, app: "Windlass") -> None:
        self._app = app

    @asynccontextmanager
    async def running(self, options: WorkerOptions) -> AsyncIterator[Worker | None]:
        """Run worker and upkeep while the block lasts; leaving it drains."""
        async with self._upheld(options) as engine:
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
        """Run upkeep, and no job, while the block lasts."""
        options = WorkerOptions.of(self._app.settings)
        async with self._upheld(options, scheduling=scheduling, runs=scheduling is not False):
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
        """Run worker and upkeep until the worker has ended; how many jobs it could neither finish
        nor hand back."""
        async with (
            self._upheld(options, scheduling=scheduling) as engine,
            self.worker(engine, options) as worker,
        ):
            started(worker)
            return await worker.run()

    @asynccontextmanager
    async def worker(
        self,
        engine: Side,
        options: WorkerOptions,
        *,
        handlers: Handlers | None = None,
        threads: Threads | None = None,
    ) -> AsyncIterator[Worker]:
        """A worker that does not run yet, inside the app's lifespans. RunAsUnavailable if a command
        cannot run here as the user it should."""
        known = self._known() if handlers is None else handlers
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
                worker.close()  # a handler in a thread may end when the database is gone

    @asynccontextmanager
    async def _upheld(
        self, options: WorkerOptions, *, scheduling: bool | None = None, runs: bool = True
    ) -> AsyncIterator[Engine]:
        """An engine that is ready and kept up, closed at the end. Waits for a database that answers
        and cannot do its work yet."""
        try:
            ready = self._ready_to_run if runs else self._app.ready
            engine = await when_ready(ready, self._app.telemetry)
            upkeep = Upkeep(engine, lease_time=options.lease_time, scheduling=scheduling)
            upkeep.start()
            try:
                yield engine
            finally:
                await upkeep.stop()
        finally:
            await self._app.close()

    async def _ready_to_run(self) -> Engine:
        """The app's engine, Windlass's own jobs made known too: only by those who run jobs or
        schedules, so that to enqueue or to look changes no row of theirs."""
        for handler in self._known().values():
            if handler.own:
                declare_in(self._app.engine, handler)
        return await self._app.ready()

    def _known(self) -> Handlers:
        """What a worker of this app can run."""
        known = Handlers(beneath=self._app.handlers)
        system_jobs = self._app.system_jobs
        for handler in system_jobs.handlers(self._app.settings) if system_jobs else ():
            known.add(handler)
        return known
