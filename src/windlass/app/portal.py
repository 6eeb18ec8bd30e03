"""A way into async code for blocking code: one loop in one background thread."""

import asyncio
import os
import threading
from collections.abc import Coroutine, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import AbstractAsyncContextManager, contextmanager
from typing import Any, Protocol, TypeVar

from windlass.tasks import run

T = TypeVar("T")


class Runs(Protocol):
    """Something that runs coroutines to their end for code that blocks."""

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """What the coroutine answers or raises."""
        ...


class Portal:
    """Runs coroutines in the loop of a thread of its own, and waits for them here.

    The thread starts with the first call, and again after `close`. A forked process has none of
    its parent's threads and must not touch its parent's connections: it starts anew as well.
    """

    def __init__(self) -> None:
        # By process. The parent's entry stays in a forked child, untouched, so that nothing of it
        # is finalised there: the sockets behind it are the parent's too.
        self._threads: dict[int, _LoopThread] = {}

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """What the coroutine answers or raises. Interrupted here, it is canceled there."""
        future = self._thread().submit(coroutine)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    @contextmanager
    def inside(self, manager: AbstractAsyncContextManager[object]) -> Iterator[None]:
        """Be inside an async context manager, entered and left by one and the same task there."""
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
        """Whether there is a thread in this process."""
        return os.getpid() in self._threads

    def _thread(self) -> "_LoopThread":
        # Atomic without a lock: one that was held during a fork would stay so in the child.
        return self._threads.setdefault(os.getpid(), _LoopThread())


class _LoopThread:
    """One thread and its loop, started when first needed."""

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
                "for which it would have to wait; call it from another thread"
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
