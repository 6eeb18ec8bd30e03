"""Windlass for blocking programs: the same names as the async API, without logic of its own.

The verbs run in the event loop of a background thread; the caller waits for them. Forking after
use, as `gunicorn --preload` does, is safe: each process starts its own thread and connections.
"""

from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Concatenate, Self, Unpack, overload

from windlass.app.blocking_nouns import (
    Audit,
    Dead,
    Definitions,
    Events,
    Jobs,
    Logs,
    Queues,
    Schedules,
    Tenants,
    Triggers,
    Workers,
)
from windlass.app.commands import CommandOptions
from windlass.app.declare import JobOptions
from windlass.app.declared import BlockingDecorator, BlockingJob, P, R, T
from windlass.app.enqueue import with_inherited_options
from windlass.app.job_groups import JobGroup
from windlass.app.portal import Portal
from windlass.app.receipts import BlockingReceipt
from windlass.app.verbs import BlockingVerb
from windlass.app.windlass import Lifespan
from windlass.app.windlass import Windlass as Awaited
from windlass.core.access.roles import ROLES, RoleTable
from windlass.core.definitions.definition import Definition
from windlass.core.jobs.models import NewJob, OnDuplicate, Receipt
from windlass.core.jobs.options import EnqueueOptions, OptionSet, PreparedJob
from windlass.core.triggers.declared_trigger import EventTriggerOptions, event_trigger
from windlass.core.triggers.trigger import Event
from windlass.engine.engine import Engine
from windlass.engine.jobs.enqueue import EnqueueHook
from windlass.engine.triggers.events import EventOptions
from windlass.errors import TransactionUnsupported
from windlass.settings import Settings
from windlass.storage.callers import CallerSession, drive
from windlass.worker.attempt import Around
from windlass.worker.context import JobContext


class Windlass:
    """Jobs on the database a program already has, for blocking code.

    `url` is as for `windlass.Windlass`. `close` ends the background thread; the next call starts
    another.
    """

    def __init__(
        self,
        url: str | None = None,
        *,
        settings: Settings | None = None,
        roles: RoleTable = ROLES,
    ) -> None:
        self._awaited = Awaited(url, settings=settings, roles=roles)
        self._portal = Portal()

    @classmethod
    def of(cls, awaited: Awaited) -> Self:
        """The blocking API of an async app."""
        blocking = cls.__new__(cls)
        blocking._awaited = awaited
        blocking._portal = Portal()
        return blocking

    @overload
    def job(
        self, function: Callable[Concatenate[JobContext, P], Coroutine[Any, Any, T]], /
    ) -> BlockingJob[P, Coroutine[Any, Any, T], T]: ...
    @overload
    def job(
        self, function: Callable[P, Coroutine[Any, Any, T]], /
    ) -> BlockingJob[P, Coroutine[Any, Any, T], T]: ...
    @overload
    def job(self, function: Callable[Concatenate[JobContext, P], R], /) -> BlockingJob[P, R, R]: ...
    @overload
    def job(self, function: Callable[P, R], /) -> BlockingJob[P, R, R]: ...
    @overload
    def job(
        self, key: str | None = None, /, **options: Unpack[JobOptions]
    ) -> BlockingDecorator: ...
    def job(self, key: Any = None, /, **options: Unpack[JobOptions]) -> Any:
        """Declare a job: `@wl.job`, or `@wl.job("mail.send", queue="mail", …)`."""
        if callable(key):
            return BlockingJob(self, self._awaited.declare(key, None, {}))
        return lambda function: BlockingJob(self, self._awaited.declare(function, key, options))

    def on(self, event: str, /, **options: Unpack[EventTriggerOptions]) -> BlockingDecorator:
        """Declare a job, unless it is declared already, and a trigger that creates it for each
        event."""
        trigger = event_trigger(event, options)
        return lambda function: BlockingJob(self, self._awaited.declare_on(function, trigger))

    def command(
        self, key: str, argv: Sequence[str], /, **options: Unpack[CommandOptions]
    ) -> BlockingJob[..., Any, Any]:
        """Declare a command as a job: `wl.command("sync", ["tool", "sync", "{folder}"], …)`."""
        handler = self._awaited.declare_command(key, argv, options)
        return BlockingJob(self, handler)

    def install(self, group: JobGroup, /, *, source: object = None) -> None:
        """Declare the jobs of a group, such as `windlass.library.accounts`, on `source`, the database
        with the application's tables."""
        self._awaited.install(group, source=source)

    def around(self, wrap: Around) -> Around:
        """Run every attempt inside the async context manager that `wrap(ctx)` returns."""
        return self._awaited.around(wrap)

    def around_enqueue(self, wrap: EnqueueHook) -> EnqueueHook:
        """Store jobs inside the context manager that `wrap(jobs)` returns, once per call."""
        return self._awaited.around_enqueue(wrap)

    def lifespan(self, span: Lifespan) -> Lifespan:
        """Enter an async context manager once per worker process, before its first claim."""
        return self._awaited.lifespan(span)

    @property
    def app(self) -> Awaited:
        """The same app for async code."""
        return self._awaited

    @property
    def settings(self) -> Settings:
        """The effective settings, read on first use."""
        return self._awaited.settings

    @property
    def jobs(self) -> Jobs:
        """Find, cancel, retry and explain jobs."""
        return Jobs(self._awaited.jobs, self._portal)

    @property
    def dead(self) -> Dead:
        """Dead-lettered jobs by cause: retry, edit, discard."""
        return Dead(self._awaited, self._portal)

    @property
    def definitions(self) -> Definitions:
        """List, enable and disable definitions."""
        return Definitions(self._awaited, self._portal)

    @property
    def queues(self) -> Queues:
        """List, pause, resume and limit queues."""
        return Queues(self._awaited, self._portal)

    @property
    def audit(self) -> Audit:
        """Verify the audit."""
        return Audit(self._awaited, self._portal)

    @property
    def tenants(self) -> Tenants:
        """Create, change, list, suspend and delete tenants."""
        return Tenants(self._awaited, self._portal)

    @property
    def triggers(self) -> Triggers:
        """Triggers, by time and by event."""
        return Triggers(self._awaited, self._portal)

    @property
    def schedules(self) -> Schedules:
        """Triggers by time."""
        return Schedules(self._awaited, self._portal)

    @property
    def events(self) -> Events:
        """Emitted events."""
        return Events(self._awaited, self._portal)

    @property
    def logs(self) -> Logs:
        """Find log lines by their words."""
        return Logs(self._awaited, self._portal)

    @property
    def workers(self) -> Workers:
        """List, drain, resume and stop workers."""
        return Workers(self._awaited, self._portal)

    make = BlockingVerb(Awaited.make)
    stats = BlockingVerb(Awaited.stats)

    def enqueue(
        self,
        key: str,
        payload: Mapping[str, Any] | None = None,
        /,
        **options: Unpack[EnqueueOptions],
    ) -> BlockingReceipt[Any]:
        """Enqueue by key, without importing the handler; validates against the definition's row."""
        chosen = OptionSet({}).merged_with(options)
        prepared = self._portal.run(self._awaited.deliveries.prepare(key, payload, chosen))
        return BlockingReceipt.of(self.deliver(prepared, chosen.tx), self)

    def enqueue_many(
        self,
        jobs: Sequence[NewJob],
        *,
        on_duplicate: OnDuplicate = "existing",
        progress: Callable[[int, int], None] | None = None,
        tx: object = None,
    ) -> list[BlockingReceipt[Any]]:
        """Store many jobs created by `make`, a few thousand per statement; returns their receipts.

        `progress(stored, total)` is called in the background thread.
        """
        stored = self._store(jobs, on_duplicate=on_duplicate, progress=progress, tx=tx)
        return [BlockingReceipt.of(receipt, self) for receipt in stored]

    def _store(
        self,
        jobs: Sequence[NewJob],
        *,
        on_duplicate: OnDuplicate,
        progress: Callable[[int, int], None] | None = None,
        tx: object = None,
    ) -> Sequence[Receipt]:
        run = self._portal.run
        engine, session, ready = self._join(tx)
        if session is None:
            return run(
                self._awaited.enqueue_many(jobs, on_duplicate=on_duplicate, progress=progress)
            )
        if not session.blocking:
            raise TransactionUnsupported(
                session.name, problem="It has to be awaited, and this code blocks."
            )
        # The caller's connection belongs to the caller's thread: its statements run here.
        if not ready:
            drive(engine.ready_in_transaction(session))
        with engine.jobs.hooked(jobs) as sent:
            run(engine.jobs.check(sent))
            over = run(engine.open_job_caps.over(sent))
            stored = drive(
                engine.jobs.enqueue_in(session, sent, on_duplicate=on_duplicate, over=over)
            )
            return run(engine.jobs.joined(sent, stored, on_duplicate))

    def emit(
        self,
        name: str,
        data: Mapping[str, Any] | None = None,
        *,
        tx: object = None,
        **about: Unpack[EventOptions],
    ) -> Event:
        """Emit an event: the tenant's triggers for it create their jobs, once.

        With a `tx` it takes effect when that commits.
        """
        run = self._portal.run
        engine, session, ready = self._join(tx)
        event = engine.events.make(name, dict(data or {}), **with_inherited_options(about))
        if session is None:
            return run(engine.events.emit(event))
        if not session.blocking:
            raise TransactionUnsupported(
                session.name, problem="It has to be awaited, and this code blocks."
            )
        if not ready:
            drive(engine.ready_in_transaction(session))
        drive(engine.events.emit_in(session, event))
        run(engine.events.match_after_commit(event.id))
        return event

    def _join(self, tx: object) -> tuple[Engine, CallerSession | None, bool]:
        deliveries = self._awaited.deliveries
        engine = self._portal.run(deliveries.engine())
        # In this thread: a Django alias or a scoped session means the calling thread's connection.
        session = engine.join(tx)
        return engine, session, self._portal.run(deliveries.ready(engine, session))

    def effective(self, declared: Definition) -> Definition:
        """A definition from code with operators' edits, at most some seconds old."""
        return self._awaited.effective(declared)

    def deliver(self, prepared: PreparedJob, tx: object) -> Receipt:
        """Store a job and return when it is durable, or part of the caller's transaction."""
        if tx is None:
            return self._portal.run(self._awaited.deliveries.deliver(prepared, None))
        [receipt] = self._store([prepared.job], on_duplicate=prepared.on_duplicate, tx=tx)
        return receipt

    @contextmanager
    def running(
        self, *, concurrency: int | None = None, queues: Sequence[str] | None = None
    ) -> Iterator[None]:
        """Run worker and upkeep in the background while the block lasts; leaving it drains."""
        # Not in the loop of the other verbs: an async handler may call those, and would deadlock.
        portal = Portal()
        try:
            with portal.inside(self._awaited.running(concurrency=concurrency, queues=queues)):
                yield
        finally:
            portal.close()

    @contextmanager
    def upkeep(self, *, scheduling: bool | None = None) -> Iterator[None]:
        """Run scheduler and upkeep without a worker in the background while the block lasts.
        `scheduling` overrides scheduler.enabled."""
        portal = Portal()
        try:
            with portal.inside(self._awaited.upkeep(scheduling=scheduling)):
                yield
        finally:
            portal.close()

    def close(self) -> None:
        """Close the connections and end the thread. The next call starts them again."""
        if self._portal.open:
            self._portal.run(self._awaited.close())
            self._portal.close()

    def __enter__(self) -> Self:
        self._portal.run(self._awaited.ready())
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
