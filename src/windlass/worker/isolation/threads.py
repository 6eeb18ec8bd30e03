"""Threads for blocking handlers: daemons, so that one that never ends cannot hold up the exit."""

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
    """Idle threads are used again; a new one is made when none is idle."""

    def __init__(self) -> None:
        self._work: SimpleQueue[_Work | None] = SimpleQueue()
        self._idle = 0
        self._count = 0
        self._closed = False
        self._lock = threading.Lock()

    def run(self, call: Callable[[], Any]) -> "asyncio.Future[Any]":
        """Run a call in a thread, with the caller's context variables."""
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Any] = loop.create_future()
        with self._lock:
            self._closed = False
            if self._idle:
                self._idle -= 1
            else:
                self._count += 1
                name = f"windlass-{self._count}"
                threading.Thread(target=self._live, name=name, daemon=True).start()
        self._work.put((call, contextvars.copy_context(), answer, loop))
        return answer

    def close(self) -> None:
        """Let idle threads end; busy ones end with their work, or with the process."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, 0
        for _ in range(idle):
            self._work.put(None)

    def _live(self) -> None:
        while work := self._work.get():
            call, context, answer, loop = work
            try:
                result, error = context.run(call), None
            except BaseException as raised:  # noqa: BLE001  told to whoever awaits the answer
                result, error = None, raised
            with self._lock:
                closed = self._closed
                self._idle += not closed
            with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits for it
                loop.call_soon_threadsafe(settle, answer, result, error)
            if closed:
                return


def settle(answer: "asyncio.Future[Any]", result: object, error: BaseException | None) -> None:
    """Let a result or an error be the answer, if one is still wanted."""
    if answer.done():
        return
    if error is None:
        answer.set_result(result)
    # By its type: an exception may raise when it is asked for its `__class__`.
    elif issubclass(type(error), StopIteration):  # a future refuses it
        answer.set_exception(RuntimeError("the handler raised StopIteration"))
    else:
        answer.set_exception(error)
