"""TestWindlass: an app on a temporary database, whose jobs the test runs."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Self

from windlass.app import sync
from windlass.app.declared import Declared
from windlass.app.windlass import Windlass
from windlass.core.durations import duration
from windlass.core.jobs.models import Job
from windlass.core.jobs.query import JobQuery
from windlass.core.payloads.json_text import dump_json
from windlass.engine.engine import Engine
from windlass.errors import PayloadInvalid
from windlass.testing.summary import Summary
from windlass.testing.temporary_database import TemporaryDatabase, TestEngine, To, destination
from windlass.upkeep.housekeeping import Housekeeping
from windlass.worker.handlers import Handlers
from windlass.worker.isolation.threads import ThreadPool
from windlass.worker.options import WorkerOptions
from windlass.worker.worker import Worker

_PAGE = 500
_MOST_LISTED = 20
_MOMENT = timedelta(microseconds=1)

Which = Declared[..., Any, Any] | str


class TestWindlass:
    """An app under test: its enqueued jobs, and a worker to run them; see `windlass.testing`.

    A real worker runs the handlers one after the other, the most urgent first: async ones in the
    test's loop, blocking ones in a thread, process-isolated ones in this process. A `tx` passed to
    enqueue or `ctx.complete` is ignored because it belongs to another database: the job exists at
    once.
    """

    __test__ = False  # to pytest, "Test" in front of a name means tests inside

    def __init__(
        self,
        app: Windlass | sync.Windlass,
        *,
        at: datetime | None = None,
        threads: ThreadPool | None = None,
    ) -> None:
        self._app = app.app if isinstance(app, sync.Windlass) else app
        self._at = at
        self._threads = threads
        self._stack = ExitStack()

    async def __aenter__(self) -> Self:
        self._database = TemporaryDatabase(self._at)
        self._stack.callback(self._database.remove)
        self._engines = self._stack.enter_context(
            self._app.using_engine(lambda: self._database.engine(self._app.settings))
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        with self._stack:
            for loop, engine in list(self._engines.items()):
                await _close(engine, loop)

    @property
    def now(self) -> datetime:
        """The current time of the database, and so of every job."""
        return self._database.now

    def travel(self, to: To, *, tz: str | None = None) -> None:
        """Move the time: `"2026-03-29 02:30"`, a datetime, a timedelta or `"+2h"`.

        A time without a zone is a local time in `tz`, by default UTC. Schedules that are due on the
        way fire, each at its due time, when the app or the test next uses the database. No job
        runs.
        """
        self._database.now = destination(to, now=self.now, tz=tz)

    async def enqueued(self, job: Which | None = None) -> list[Job]:
        """All jobs of a definition, or of all, in any state, oldest first."""
        engine = await self._app.ready()
        chosen = JobQuery.of(definition=job.key if isinstance(job, Declared) else job)
        page = await engine.lists.page(chosen, limit=_PAGE)
        jobs = list(page.jobs)
        while page.next is not None:
            page = await engine.lists.page(chosen, after=page.next, limit=_PAGE)
            jobs += page.jobs
        return [await engine.jobs.get(each.id) for each in reversed(jobs)]

    async def assert_enqueued(self, job: Which, /, **arguments: Any) -> Job:
        """Fail unless a job was enqueued with these arguments; returns the first one.

        Arguments left out may have any value. A job that has run since counts, too.
        """
        __tracebackhide__ = True
        expected = _ExpectedJob(job, arguments, self._app.handlers)
        jobs = await self.enqueued()
        for each in jobs:
            if expected.matches(each):
                return each
        raise AssertionError(f"{expected} was not enqueued.\n{_job_list_text(jobs)}")

    async def assert_not_enqueued(self, job: Which, /, **arguments: Any) -> None:
        """Fail if a job was enqueued with these arguments; those left out may have any value."""
        __tracebackhide__ = True
        expected = _ExpectedJob(job, arguments, self._app.handlers)
        if matching := [each for each in await self.enqueued() if expected.matches(each)]:
            raise AssertionError(f"{expected} was enqueued.\n{_job_list_text(matching)}")

    async def run_all(
        self, *, through: str | timedelta | float | None = None, limit: int = 10_000
    ) -> Summary:
        """Run the jobs that are due until none is left, including those enqueued meanwhile.

        `through` lets that much time pass, from one due time to the next: schedules fire, and
        retries, delayed jobs and jobs held back by a rate limit run when they are due. More than
        `limit` attempts are an error.
        """
        end = self.now + duration(through or 0, option="through")
        engine = await self._engine()
        handlers = _in_this_process(self._app.handlers)
        options = replace(WorkerOptions.of(self._app.settings, concurrency=1), queues=None)
        with closing(self._threads or ThreadPool()) as threads:
            async with self._app.worker(
                engine, options, handlers=handlers, threads=threads
            ) as worker:
                await worker.refresh_definitions()
                await self._run_due(engine, worker, limit)
                while (due := await self._next_due(engine)) is not None and due <= end:
                    self.travel(due)
                    await engine.ready()
                    await self._run_due(engine, worker, limit)
        self.travel(end)
        await engine.ready()
        return engine.telemetry.summary()

    async def _run_due(self, engine: TestEngine, worker: Worker, limit: int) -> None:
        upkeep = Housekeeping(engine)
        await engine.fire()
        await upkeep.tick()
        while await worker.tick():
            await worker.settled()
            await upkeep.tick()
            if engine.telemetry.attempts > limit:
                raise AssertionError(
                    f"there is still work after {limit:,} attempts: does a job enqueue itself?"
                )

    async def _next_due(self, engine: TestEngine) -> datetime | None:
        """The time when the next job or schedule is due, or a rate limit has room again."""
        waits = [
            (await engine.storage.leases.survey(None, ())).next_due_in,
            await engine.next_fire(),
            await engine.storage.leases.next_rate_capacity(),
        ]
        pending = [wait for wait in waits if wait is not None]
        return self.now + max(min(pending), _MOMENT) if pending else None

    async def _engine(self) -> TestEngine:
        engine = await self._app.ready()
        assert isinstance(engine, TestEngine)
        return engine


def _in_this_process(handlers: Handlers) -> Handlers:
    here = Handlers()
    for handler in handlers.values():
        definition = replace(handler.definition, isolation="thread")
        here.add(replace(handler, definition=definition))
    return here


async def _close(engine: Engine, loop: asyncio.AbstractEventLoop) -> None:
    if loop is asyncio.get_running_loop():
        await engine.close()
    elif loop.is_running():
        await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(engine.close(), loop))


class _ExpectedJob:
    """A definition and some arguments that a job of it should have."""

    def __init__(
        self, job: Declared[..., Any, Any] | str, arguments: Mapping[str, Any], handlers: Handlers
    ) -> None:
        self._key = job.key if isinstance(job, Declared) else job
        self._arguments = arguments
        self._handler = handlers.get(self._key)

    def matches(self, job: Job) -> bool:
        """True if a job matches. Values may be typed as the handler gets them, or plain JSON."""
        if job.definition != self._key:
            return False
        plain, typed = job.payload, self._typed(job)
        return all(
            (name in typed and typed[name] == value) or (name in plain and plain[name] == value)
            for name, value in self._arguments.items()
        )

    def __str__(self) -> str:
        return _call(self._key, self._arguments)

    def _typed(self, job: Job) -> Mapping[str, Any]:
        if self._handler is None:
            return {}
        payload = self._handler.payload
        defaults = {field.name: field.default for field in payload.signature.fields}
        try:
            return {**defaults, **payload.decode(dump_json(job.payload))}
        except PayloadInvalid:  # stored by key, or before the signature changed in this test
            return {}


def _job_list_text(jobs: Sequence[Job]) -> str:
    """List the first few jobs for an error message."""
    if not jobs:
        return "Nothing was enqueued."
    lines = [f"  {_call(job.definition, job.payload)}  {job.state}" for job in jobs[:_MOST_LISTED]]
    if len(jobs) > _MOST_LISTED:
        lines.append(f"  … and {len(jobs) - _MOST_LISTED:,} more")
    return "\n".join(["Enqueued:", *lines])


def _call(key: str, arguments: Mapping[str, Any]) -> str:
    return f"{key}({', '.join(f'{name}={value!r}' for name, value in arguments.items())})"
