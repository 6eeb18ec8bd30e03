"""Runs async code for blocking code: one loop in one background thread."""

import asyncio
import os
import threading
from collections.abc import Coroutine, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import AbstractAsyncContextManager, contextmanager
from typing import Any, Protocol, TypeVar

from windlass.tasks import run

T = TypeVar("T")


class Runner(Protocol):
    """Runs coroutines to completion for blocking code."""

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine; returns its result or raises its error."""
        ...


class Portal:
    """Runs coroutines in the loop of a background thread, and waits for them in the caller's.

    The thread starts with the first call, and again after `close`. A forked process starts its own,
    because it has none of its parent's threads and must not touch its parent's connections.
    """

    def __init__(self) -> None:
        # By process. A forked child keeps the parent's entry untouched, so that nothing in it is
        # finalised there: the child shares the sockets behind it with the parent.
        self._threads: dict[int, _LoopThread] = {}

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine; returns its result or raises its error. An interrupt cancels it."""
        future = self._thread().submit(coroutine)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    @contextmanager
    def inside(self, manager: AbstractAsyncContextManager[object]) -> Iterator[None]:
        """Enter an async context manager, entered and left by the same task of the loop."""
        entered: Future[asyncio.Event] = Future()

        async def stay() -> None:
            async with manager:
                leave = asyncio.Event()
                entered.set_result(leave)
                await leave.wait()

        thread = self._thread()
        staying = thread.submit(stay())
        either: list[Future[Any]] = [entered, staying]
        wait(either, return_when=FIRST_COMPLETED)
        if not entered.done():
            staying.result()
        try:
            yield
        finally:
            thread.loop.call_soon_threadsafe(entered.result().set)
            staying.result()

    def close(self) -> None:
        """End the thread and its loop."""
        thread = self._threads.pop(os.getpid(), None)
        if thread is not None:
            thread.close()

    @property
    def open(self) -> bool:
        """True if the thread of this process is running."""
        return os.getpid() in self._threads

    def _thread(self) -> "_LoopThread":
        # Atomic without a lock: a lock held during a fork would stay locked in the child.
        return self._threads.setdefault(os.getpid(), _LoopThread())


class _LoopThread:
    """A thread and its loop, started on first use."""

    def __init__(self) -> None:
        self._starting = threading.Lock()
        self._thread: threading.Thread | None = None
        self._stop: asyncio.Event | None = None

    def submit(self, coroutine: Coroutine[Any, Any, T]) -> "Future[T]":
        with self._starting:
            if self._thread is None:
                self._start()
        if self._thread is threading.current_thread():
            coroutine.close()
            raise RuntimeError(
                "a blocking verb of Windlass was called inside Windlass's own event loop, "
                "which would deadlock; call it from another thread"
            )
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop)

    def close(self) -> None:
        if self._thread is not None and self._stop is not None:
            self.loop.call_soon_threadsafe(self._stop.set)
            self._thread.join()

    def _start(self) -> None:
        started: Future[asyncio.AbstractEventLoop] = Future()

        async def live() -> None:
            self._stop = asyncio.Event()
            started.set_result(asyncio.get_running_loop())
            await self._stop.wait()

        self._thread = threading.Thread(target=lambda: run(live()), name="windlass", daemon=True)
        self._thread.start()
        self.loop = started.result()
