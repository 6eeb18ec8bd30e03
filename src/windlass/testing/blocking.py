"""TestWindlass for blocking tests: everything happens in the test's own thread."""

import asyncio
import contextvars
from collections import deque
from collections.abc import Callable, Coroutine
from datetime import datetime
from typing import Any, Self, TypeVar

from windlass.app import sync
from windlass.app.verbs import BlockingVerb
from windlass.app.windlass import Windlass
from windlass.testing.temporary_database import To
from windlass.testing.windlass import TestWindlass
from windlass.worker.isolation.threads import ThreadPool, settle

T = TypeVar("T")
_Call = tuple[Callable[[], Any], contextvars.Context, "asyncio.Future[Any]"]


class BlockingTestWindlass:
    """`TestWindlass` with blocking verbs.

    Blocking handlers run in the thread of the test, while no event loop runs in it: they see the
    test's own connections and transactions, and may start loops themselves.
    """

    __test__ = False  # to pytest, "Test" in front of a name means tests inside

    def __init__(self, app: Windlass | sync.Windlass, *, at: datetime | None = None) -> None:
        self._portal = _CallingThread()
        self._awaited = TestWindlass(app, at=at, threads=self._portal.handlers)

    def __enter__(self) -> Self:
        self._portal.run(self._awaited.__aenter__())
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self._portal.run(self._awaited.__aexit__())
        finally:
            self._portal.close()

    @property
    def now(self) -> datetime:
        """The current time of the database, and so of every job."""
        return self._awaited.now

    def travel(self, to: To, *, tz: str | None = None) -> None:
        """Move the time: `"2026-03-29 02:30"`, a datetime, a timedelta or `"+2h"`."""
        self._awaited.travel(to, tz=tz)

    enqueued = BlockingVerb(TestWindlass.enqueued)
    assert_enqueued = BlockingVerb(TestWindlass.assert_enqueued)
    assert_not_enqueued = BlockingVerb(TestWindlass.assert_not_enqueued)
    run_all = BlockingVerb(TestWindlass.run_all)


class _CallingThread:
    """Runs coroutines in the calling thread, and between two of their steps the calls that need a
    thread without a running loop."""

    def __init__(self) -> None:
        self._runner = asyncio.Runner()
        self.handlers = _DeferredCalls()

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        loop = self._runner.get_loop()
        task = loop.create_task(coroutine)
        try:
            while not task.done():
                loop.run_until_complete(self.handlers.wait_with(task))
                self.handlers.run_pending()
        except BaseException:
            task.cancel()
            raise
        return task.result()

    def close(self) -> None:
        self._runner.close()


class _DeferredCalls(ThreadPool):
    """Replaces a worker's thread pool: keeps calls until no loop runs."""

    def __init__(self) -> None:
        super().__init__()
        self._calls: deque[_Call] = deque()
        self._came = asyncio.Event()

    def run(self, call: Callable[[], Any]) -> "asyncio.Future[Any]":
        result: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._calls.append((call, contextvars.copy_context(), result))
        self._came.set()
        return result

    async def wait_with(self, task: "asyncio.Task[Any]") -> None:
        """Return when a call is pending, or the task is done."""
        came = asyncio.ensure_future(self._came.wait())
        await asyncio.wait({task, came}, return_when=asyncio.FIRST_COMPLETED)
        came.cancel()

    def run_pending(self) -> None:
        """Run the pending calls in this thread."""
        self._came.clear()
        while self._calls:
            call, context, result = self._calls.popleft()
            try:
                settle(result, context.run(call), None)
            except KeyboardInterrupt:
                raise
            except BaseException as error:  # noqa: BLE001  whatever a handler raises is its outcome
                settle(result, None, error)
