"""TestWindlass: an app on a throw-away database, run by the test itself."""

import asyncio
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
from windlass.engine.engine import Engine
from windlass.testing.match import ExpectedJob, job_list_text
from windlass.testing.summary import Summary
from windlass.testing.throwaway import TemporaryDatabase, TestEngine
from windlass.testing.travel import To, destination
from windlass.upkeep.housekeeping import Housekeeping
from windlass.worker.handlers import Handlers
from windlass.worker.isolation.threads import ThreadPool
from windlass.worker.options import WorkerOptions
from windlass.worker.worker import Worker

_PAGE = 500
_MOMENT = timedelta(microseconds=1)

Which = Declared[..., Any] | str


class TestWindlass:
    """What an app did and will do, in a test; see `windlass.testing`.

    Handlers are run by a real worker, one after the other, the most urgent first: async ones in
    the test's loop, blocking ones in a thread that is waited for, process-isolated ones in this
    process. A `tx` that is given to enqueue or `ctx.complete` is not used, because it leads to
    another database: the job is there at once.
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
        self._place = TemporaryDatabase(self._at)
        self._stack.callback(self._place.remove)
        self._engines = self._stack.enter_context(
            self._app.using_engine(lambda: self._place.engine(self._app.settings))
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        with self._stack:
            for loop, engine in list(self._engines.items()):
                await _close(engine, loop)

    @property
    def now(self) -> datetime:
        """The time it is, for the database and so for every job."""
        return self._place.now

    def travel(self, to: To, *, tz: str | None = None) -> None:
        """Make it another time: `"2026-03-29 02:30"`, a datetime, a timedelta or `"+2h"`.

        A time without a zone is a local one of `tz`, by default UTC. Schedules that are due on the
        way have fired, each at its due time, when the app or the test looks next; nothing runs.
        """
        self._place.now = destination(to, now=self.now, tz=tz)

    async def enqueued(self, job: Which | None = None) -> list[Job]:
        """All jobs of a definition, or all there are, oldest first, whatever became of them."""
        engine = await self._app.ready()
        chosen = JobQuery.of(definition=job.key if isinstance(job, Declared) else job)
        page = await engine.lists.page(chosen, limit=_PAGE)
        found = list(page.jobs)
        while page.next is not None:
            page = await engine.lists.page(chosen, after=page.next, limit=_PAGE)
            found += page.jobs
        return [await engine.jobs.get(each.id) for each in reversed(found)]

    async def assert_enqueued(self, job: Which, /, **arguments: Any) -> Job:
        """Fail unless a job was enqueued with these arguments, and give the first such job.

        Arguments left out may be anything. It counts whether or not it has run since.
        """
        __tracebackhide__ = True
        expected = ExpectedJob(job, arguments, self._app.handlers)
        jobs = await self.enqueued()
        for each in jobs:
            if expected.matches(each):
                return each
        raise AssertionError(f"{expected} was not enqueued.\n{job_list_text(jobs)}")

    async def assert_not_enqueued(self, job: Which, /, **arguments: Any) -> None:
        """Fail if a job was enqueued with these arguments; those left out may be anything."""
        __tracebackhide__ = True
        expected = ExpectedJob(job, arguments, self._app.handlers)
        if fitting := [each for each in await self.enqueued() if expected.matches(each)]:
            raise AssertionError(f"{expected} was enqueued.\n{job_list_text(fitting)}")

    async def run_all(
        self, *, through: str | timedelta | float | None = None, limit: int = 10_000
    ) -> Summary:
        """Run what is due until nothing is left, jobs included that are enqueued meanwhile.

        What is due later waits. `through` lets that much time pass, from one due time to the next:
        schedules, retries, delayed jobs and those that a rate limit kept waiting run when they would.
        More than `limit` attempts are an error.
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
        """When something is due next: a job, a schedule, or room under a rate."""
        waits = [
            (await engine.storage.leases.survey(None, ())).next_due_in,
            await engine.next_fire(),
            await engine.storage.leases.next_rate_capacity(),
        ]
        known = [wait for wait in waits if wait is not None]
        return self.now + max(min(known), _MOMENT) if known else None

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
