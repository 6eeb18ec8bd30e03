"""A thread with an event loop of its own."""

import asyncio
import contextlib
import contextvars
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

T = TypeVar("T")
Work = Callable[[], Coroutine[Any, Any, None]]


class LoopThread:
    """Runs one coroutine in a thread of its own until it is stopped. A daemon thread: it does not
    delay the exit of the process."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._runner = asyncio.Runner(loop_factory=asyncio.new_event_loop)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[None] | None = None
        self._ended: Future[None] = Future()

    def start(self, work: Work) -> None:
        """Start the thread."""
        self._loop = self._runner.get_loop()
        threading.Thread(target=self._run, args=[work], name=self._name, daemon=True).start()

    @property
    def started(self) -> bool:
        """True once `start` was called."""
        return self._loop is not None

    def call(self, function: Callable[..., object], *args: object) -> None:
        """Call a function in the thread, soon; nothing happens if the thread is not running."""
        if self._loop is not None:
            with contextlib.suppress(RuntimeError):  # its loop is closed
                self._loop.call_soon_threadsafe(function, *args)

    def submit(self, work: Coroutine[Any, Any, T]) -> "Future[T]":
        """Run a coroutine in the thread."""
        assert self._loop is not None
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    async def stop(self, *, within: float) -> bool:
        """Cancel the coroutine and wait until the thread is done. Returns False if that takes
        longer than so many seconds; the thread then ends when it can."""
        if self._loop is None:
            return True
        self.call(self._cancel)
        done, _ = await asyncio.wait([asyncio.wrap_future(self._ended)], timeout=within)
        return bool(done)

    def _run(self, work: Work) -> None:
        try:
            # An empty context: the thread does not inherit the caller's context variables.
            with self._runner:
                self._runner.run(self._main(work), context=contextvars.Context())
        finally:
            self._ended.set_result(None)

    async def _main(self, work: Work) -> None:
        self._task = asyncio.create_task(work())
        with contextlib.suppress(asyncio.CancelledError):
            await self._task

    def _cancel(self) -> None:
        # Before the coroutine has begun there is no task yet: try again in a moment.
        if self._task is None:
            self.call(self._cancel)
        else:
            self._task.cancel()
