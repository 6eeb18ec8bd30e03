"""Thread pool for blocking handlers. Daemon threads: one that never ends does not delay the exit."""

import asyncio
import contextlib
import contextvars
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any

_Work = tuple[
    Callable[[], Any], contextvars.Context, "asyncio.Future[Any]", asyncio.AbstractEventLoop
]


class ThreadPool:
    """Reuses idle threads; starts a new one when none is idle."""

    def __init__(self) -> None:
        self._work: SimpleQueue[_Work | None] = SimpleQueue()
        self._idle = 0
        self._count = 0
        self._closed = False
        self._lock = threading.Lock()

    def run(self, call: Callable[[], Any]) -> "asyncio.Future[Any]":
        """Run a call in a thread, with the caller's context variables."""
        loop = asyncio.get_running_loop()
        result: asyncio.Future[Any] = loop.create_future()
        with self._lock:
            self._closed = False
            if self._idle:
                self._idle -= 1
            else:
                self._count += 1
                name = f"windlass-{self._count}"
                threading.Thread(target=self._live, name=name, daemon=True).start()
        self._work.put((call, contextvars.copy_context(), result, loop))
        return result

    def close(self) -> None:
        """Let idle threads end; busy ones end with their work, or with the process."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, 0
        for _ in range(idle):
            self._work.put(None)

    def _live(self) -> None:
        while work := self._work.get():
            call, context, result, loop = work
            try:
                value, error = context.run(call), None
            except BaseException as raised:  # noqa: BLE001  raised where the result is awaited
                value, error = None, raised
            with self._lock:
                closed = self._closed
                self._idle += not closed
            with contextlib.suppress(RuntimeError):  # the loop is closed: nothing waits for it
                loop.call_soon_threadsafe(settle, result, value, error)
            if closed:
                return


def settle(result: "asyncio.Future[Any]", value: object, error: BaseException | None) -> None:
    """Set the value or the error of a future, unless it is done or canceled."""
    if result.done():
        return
    if error is None:
        result.set_result(value)
    # By its type: reading `__class__` of an exception may raise.
    elif issubclass(type(error), StopIteration):  # a future refuses it
        result.set_exception(RuntimeError("the handler raised StopIteration"))
    else:
        result.set_exception(error)
