"""Windlass: the main object of a program. It wires the layers together and delegates."""

import asyncio
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import (
    AbstractAsyncContextManager,
    contextmanager,
)
from functools import cached_property
from typing import TYPE_CHECKING, Any, Concatenate, Unpack, overload
from weakref import WeakKeyDictionary, ref

from windlass.app.declare import JobOptions, declare, declare_in
from windlass.app.declared import Declared, DeclaredJob, JobDecorator, P, R, T
from windlass.app.job_groups import JobGroup, groups_of
from windlass.app.receipts import JobReceipt, Results
from windlass.core.access.roles import ROLES, RoleTable, freeze_roles
from windlass.core.definitions.definition import Definition
from windlass.core.jobs.models import ALL_TENANTS, NewJob, OnDuplicate, Scope
from windlass.core.jobs.options import EnqueueOptions, OptionSet
from windlass.core.triggers.declared_trigger import (
    DeclaredTrigger,
    EventTriggerOptions,
    event_trigger,
)
from windlass.core.triggers.trigger import Event
from windlass.engine.engine import Engine
from windlass.settings import Settings
from windlass.telemetry import Telemetry
from windlass.worker.context import JobContext
from windlass.worker.handlers import Handler, Handlers
from windlass.worker.isolation.import_guard import imports
from windlass.worker.options import WorkerOptions

# Most programs only declare and enqueue: what runs jobs and reads them is imported on use.
if TYPE_CHECKING:
    from windlass.app import nouns, sync
    from windlass.app.commands import CommandOptions
    from windlass.app.enqueue import Deliveries
    from windlass.app.running import Running
    from windlass.core.monitoring.summary import Stats
    from windlass.engine.jobs.enqueue import EnqueueHook
    from windlass.engine.triggers.events import EventOptions
    from windlass.worker.attempt import Around
    from windlass.worker.backend import Backend
    from windlass.worker.isolation.threads import ThreadPool
    from windlass.worker.worker import Worker

Lifespan = Callable[[], AbstractAsyncContextManager[Any]]
Engines = WeakKeyDictionary[asyncio.AbstractEventLoop, Engine]


class Windlass:
    """Jobs on the database a program already has.

    `url` is a database URL; by default WINDLASS_DATABASE_URL, the settings file's, or
    `sqlite:///windlass.db`. The constructor does not connect. `roles` replaces the role table
    `windlass.core.access.roles.ROLES`.
    """

    def __init__(
        self,
        url: str | None = None,
        *,
        settings: Settings | None = None,
        roles: RoleTable = ROLES,
    ) -> None:
        self._url = url
        self.roles = freeze_roles(roles)
        self._given_settings = settings
        self.telemetry = Telemetry()
        self.around_attempts: list[Around] = []
        self.around_enqueues: list[EnqueueHook] = []
        self.lifespans: list[Lifespan] = []
        self._connect: Callable[[], Engine] = self._engine
        #: A worker runs the jobs of Windlass itself too.
        self.runs_system_jobs = True
        # A driver's connections belong to the loop that created them.
        self._engines: Engines = WeakKeyDictionary()
        self._newest: Callable[[], Engine | None] = lambda: None

    @overload
    def job(
        self, function: Callable[Concatenate[JobContext, P], Coroutine[Any, Any, T]], /
    ) -> DeclaredJob[P, Coroutine[Any, Any, T], T]: ...
    @overload
    def job(
        self, function: Callable[P, Coroutine[Any, Any, T]], /
    ) -> DeclaredJob[P, Coroutine[Any, Any, T], T]: ...
    @overload
    def job(self, function: Callable[Concatenate[JobContext, P], R], /) -> DeclaredJob[P, R, R]: ...
    @overload
    def job(self, function: Callable[P, R], /) -> DeclaredJob[P, R, R]: ...
    @overload
    def job(self, key: str | None = None, /, **options: Unpack[JobOptions]) -> JobDecorator: ...
    def job(self, key: Any = None, /, **options: Unpack[JobOptions]) -> Any:
        """Declare a job: `@wl.job`, or `@wl.job("mail.send", queue="mail", …)`.

        This one place defines key, payload schema, handler and options.
        """
        if callable(key):
            return DeclaredJob(self, self.declare(key, None, {}))
        return lambda function: DeclaredJob(self, self.declare(function, key, options))

    def on(self, event: str, /, **options: Unpack[EventTriggerOptions]) -> JobDecorator:
        """Declare a job, unless it is declared already, and a trigger of the tenant `default` that
        creates it for each event:
        `@wl.on("folder.changed", payload={"folder": "{{event.path}}"})`."""
        trigger = event_trigger(event, options)
        return lambda function: DeclaredJob(self, self.declare_on(function, trigger))

    def declare(
        self, function: Callable[..., Any], key: str | None, options: JobOptions
    ) -> Handler:
        """Register a function as a handler; shared by the async and the blocking `@wl.job`."""
        if not isinstance(function, Declared):
            return self._register_handler(declare(function, key, options, self.settings))
        before = function.handler  # `@wl.on` below `@wl.job`, whose options replace it
        self.handlers.forget(before.definition.key)
        handler = declare(before.call, key, options, self.settings)
        return self._register_handler(handler.with_triggers(before.triggers))

    def declare_on(self, function: Callable[..., Any], trigger: DeclaredTrigger) -> Handler:
        """Register a handler with a trigger; shared by the async and the blocking `@wl.on`."""
        if isinstance(function, Declared):
            return self._register_handler(function.handler.with_triggers([trigger]))
        return self._register_handler(
            declare(function, None, {}, self.settings).with_triggers([trigger])
        )

    def command(
        self, key: str, argv: Sequence[str], /, **options: "Unpack[CommandOptions]"
    ) -> DeclaredJob[..., Any, Any]:
        """Declare a command as a job: `wl.command("sync", ["tool", "sync", "{folder}"], …)`.

        No shell is involved. `{folder}` is replaced by a required field of the payload; its schema
        is `payload_schema`; the job's tenant is passed as `--tenant-id`.
        """
        return DeclaredJob(self, self.declare_command(key, argv, options))

    def declare_command(self, key: str, argv: Sequence[str], options: "CommandOptions") -> Handler:
        """Register a command; shared by the async and the blocking `wl.command`."""
        from windlass.app.commands import declare_command

        return self._register_handler(declare_command(key, argv, options, self.settings))

    def install(self, group: JobGroup, /, *, source: object = None) -> None:
        """Declare the jobs of a group, such as `windlass.library.accounts`. `source` is the database
        with the application's tables: a SQLAlchemy engine, a function that opens a connection, or a
        URL; by default library.database_url of the settings, else Windlass's own."""
        for handler in group.handlers(self, source):
            self._register_handler(handler)

    def around(self, wrap: "Around") -> "Around":
        """Run every attempt inside the async context manager that `wrap(ctx)` returns."""
        self.around_attempts.append(wrap)
        return wrap

    def around_enqueue(self, wrap: "EnqueueHook") -> "EnqueueHook":
        """Store jobs inside the context manager that `wrap(jobs)` returns, once per call. It yields
        the jobs to store, changed or not."""
        self.around_enqueues.append(wrap)
        return wrap

    def lifespan(self, span: Lifespan) -> Lifespan:
        """Enter an async context manager once per worker process, before its first claim."""
        self.lifespans.append(span)
        return span

    @cached_property
    def handlers(self) -> Handlers:
        """Handlers that this process can run: declared in code, and the settings' commands and
        groups."""
        known = Handlers()
        if self.settings.commands:
            from windlass.app.file_commands import commands_of

            for handler in commands_of(self.settings):
                known.add(handler)
        for group in groups_of(self.settings):
            for handler in group.handlers(self, None):
                known.add(handler)
        return known

    @cached_property
    def settings(self) -> Settings:
        """The effective settings, read on first use."""
        return self._given_settings or Settings.load()

    @property
    def url(self) -> str:
        """The database's URL, secrets included."""
        return self._url or self.settings.database.url

    def use_database(self, url: str) -> None:
        """Use another database than the code names, as `--db` does. Only before any connection."""
        self._url = url

    @property
    def jobs(self) -> "nouns.AsyncJobs":
        """Find, cancel, retry and explain jobs."""
        from windlass.app import nouns

        return nouns.AsyncJobs(self)

    @property
    def dead(self) -> "nouns.AsyncDead":
        """Dead-lettered jobs by cause: retry, edit, discard."""
        from windlass.app import nouns

        return nouns.AsyncDead(self)

    @property
    def definitions(self) -> "nouns.AsyncDefinitions":
        """List, enable and disable definitions."""
        from windlass.app import nouns

        return nouns.AsyncDefinitions(self)

    @property
    def queues(self) -> "nouns.AsyncQueues":
        """List, pause, resume and limit queues."""
        from windlass.app import nouns

        return nouns.AsyncQueues(self)

    @property
    def audit(self) -> "nouns.AsyncAudit":
        """Verify the audit."""
        from windlass.app import nouns

        return nouns.AsyncAudit(self)

    @property
    def tenants(self) -> "nouns.AsyncTenants":
        """Create, change, list, suspend and delete tenants."""
        from windlass.app import nouns

        return nouns.AsyncTenants(self)

    @property
    def triggers(self) -> "nouns.AsyncTriggers":
        """Triggers, by time and by event."""
        from windlass.app import nouns

        return nouns.AsyncTriggers(self)

    @property
    def schedules(self) -> "nouns.AsyncSchedules":
        """Triggers by time."""
        from windlass.app import nouns

        return nouns.AsyncSchedules(self)

    @property
    def events(self) -> "nouns.AsyncEvents":
        """Emitted events."""
        from windlass.app import nouns

        return nouns.AsyncEvents(self)

    @property
    def logs(self) -> "nouns.AsyncLogs":
        """Find log lines by their words."""
        from windlass.app import nouns

        return nouns.AsyncLogs(self)

    @property
    def workers(self) -> "nouns.AsyncWorkers":
        """List, drain, resume and stop workers."""
        from windlass.app import nouns

        return nouns.AsyncWorkers(self)

    @property
    def deliveries(self) -> "Deliveries":
        """Stores jobs and events."""
        from windlass.app.enqueue import Deliveries

        return Deliveries(self)

    @cached_property
    def results(self) -> Results:
        """Results of jobs, typed by this program's handlers."""
        return Results(self)

    @cached_property
    def blocking(self) -> "sync.Windlass":
        """The same app for blocking code."""
        from windlass.app import sync

        return sync.Windlass.of(self)

    @property
    def engine(self) -> Engine:
        """The engine of the running loop."""
        loop = asyncio.get_running_loop()
        engine = self._engines.get(loop)
        if engine is None:
            imports.refuse()
            engine = self._connect()
            engine.enqueue_hooks = self.around_enqueues
            for handler in self.handlers.values():
                declare_in(engine, handler)
            self._engines[loop] = engine
            self._newest = ref(engine)
        return engine

    def effective(self, declared: Definition) -> Definition:
        """A definition from code with operators' edits, at most some seconds old."""
        engine = self._newest()
        return declared if engine is None else engine.definitions.effective(declared)

    async def ready(self) -> Engine:
        """Connect, check the schema, and register declared definitions."""
        engine = self.engine
        await engine.ready()
        return engine

    async def enqueue(
        self,
        key: str,
        payload: Mapping[str, Any] | None = None,
        /,
        **options: Unpack[EnqueueOptions],
    ) -> JobReceipt[Any]:
        """Enqueue by key, without importing the handler; validates against the definition's row."""
        chosen = OptionSet({}).merged_with(options)
        prepared = await self.deliveries.prepare(key, payload, chosen)
        return JobReceipt.of(await self.deliveries.deliver(prepared, chosen.tx), self)

    async def make(
        self,
        key: str,
        payload: Mapping[str, Any] | None = None,
        /,
        **options: Unpack[EnqueueOptions],
    ) -> NewJob:
        """Create a validated job by its definition's key, without storing it."""
        chosen = OptionSet({}).merged_with(options)
        chosen.check_makeable()
        return (await self.deliveries.prepare(key, payload, chosen)).job

    async def enqueue_many(
        self,
        jobs: Sequence[NewJob],
        *,
        on_duplicate: OnDuplicate = "existing",
        progress: Callable[[int, int], None] | None = None,
        tx: object = None,
    ) -> list[JobReceipt[Any]]:
        """Store many jobs created by `make`, a few thousand per statement; returns their receipts.

        Calls `progress(stored, total)`. A job may wait for earlier ones. On an error, jobs stored
        before it stay; in a `tx` its owner has to roll back.
        """
        stored = await self.deliveries.store(
            jobs, on_duplicate=on_duplicate, progress=progress, tx=tx
        )
        return [JobReceipt.of(receipt, self) for receipt in stored]

    async def stats(
        self,
        window: str = "1h",
        *,
        definition: str | None = None,
        queue: str | None = None,
        scope: Scope = ALL_TENANTS,
    ) -> "Stats":
        """Counts of the last "5m", "1h", "24h" or "7d", for charts, of all jobs or some."""
        summaries = (await self.ready()).summaries
        return await summaries.stats(window, definition=definition, queue=queue, scope=scope)

    async def emit(
        self,
        name: str,
        data: Mapping[str, Any] | None = None,
        *,
        tx: object = None,
        **about: "Unpack[EventOptions]",
    ) -> Event:
        """Emit an event: the tenant's triggers for it create their jobs, once.

        With a `tx` it takes effect when that commits.
        """
        return await self.deliveries.emit(name, data, about, tx=tx)

    def running(
        self, *, concurrency: int | None = None, queues: Sequence[str] | None = None
    ) -> "AbstractAsyncContextManager[Worker | None]":
        """Run worker and upkeep in this process while the block lasts; leaving it drains."""
        options = WorkerOptions.of(self.settings, concurrency=concurrency, queues=queues)
        return self._running.running(options)

    def upkeep(self, *, scheduling: bool | None = None) -> AbstractAsyncContextManager[None]:
        """Run scheduler and upkeep without a worker in this process while the block lasts.
        `scheduling` overrides scheduler.enabled."""
        return self._running.upkeep(scheduling=scheduling)

    async def upkeep_once(self) -> None:
        """Do one round of scheduling and upkeep in this process."""
        await self._running.upkeep_once()

    async def work(
        self,
        options: WorkerOptions,
        started: "Callable[[Worker], object]",
        *,
        scheduling: bool | None = None,
    ) -> int:
        """Run worker and upkeep in this process until the worker ends by itself or is stopped:
        `started` receives the worker. Returns the number of jobs it could neither finish nor
        release."""
        return await self._running.work(options, started, scheduling=scheduling)

    def worker(
        self,
        engine: "Backend",
        options: WorkerOptions,
        *,
        handlers: Handlers | None = None,
        threads: "ThreadPool | None" = None,
    ) -> "AbstractAsyncContextManager[Worker]":
        """Create a worker inside this app's lifespans, without starting it."""
        return self._running.worker(engine, options, handlers=handlers, threads=threads)

    async def close(self) -> None:
        """Close this loop's connections. The next call opens new ones."""
        engine = self._engines.pop(asyncio.get_running_loop(), None)
        if engine is not None:
            await engine.close()

    @contextmanager
    def using_engine(self, connect: Callable[[], Engine]) -> Iterator[Engines]:
        """Create engines by `connect` while the block lasts, for tests; they lack Windlass's own
        jobs. Existing engines stay."""
        before = self._connect, self._engines, self._newest, self.runs_system_jobs
        self._connect, self._engines, self.runs_system_jobs = connect, WeakKeyDictionary(), False
        self._newest = lambda: None
        try:
            yield self._engines
        finally:
            self._connect, self._engines, self._newest, self.runs_system_jobs = before

    async def __aenter__(self) -> "Windlass":
        await self.ready()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def _register_handler(self, handler: Handler) -> Handler:
        self.handlers.add(handler)
        for engine in list(self._engines.values()):
            declare_in(engine, handler)
        return handler

    @property
    def _running(self) -> "Running":
        from windlass.app.running import Running

        return Running(self)

    def _engine(self) -> Engine:
        return Engine.open(self.url, self.settings, self.telemetry, roles=self.roles)
