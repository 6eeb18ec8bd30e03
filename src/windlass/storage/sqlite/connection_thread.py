"""A thread of its own for what must not block the event loop."""

import asyncio
import itertools
import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

T = TypeVar("T")
_Waiting = queue.PriorityQueue[tuple[int, int, Callable[[], None] | None]]

_URGENT, _ORDINARY, _LAST = range(3)


class WorkThread:
    """Does one thing after the other, urgent ones first. It starts with the first of them."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._waiting: _Waiting = queue.PriorityQueue()
        self._number = itertools.count()
        self._thread: threading.Thread | None = None

    async def do(self, work: Callable[[], T], *, urgent: bool = False) -> T:
        """Wait for the answer of `work`. Canceled, it is not begun, or ends unheard."""
        return await asyncio.wrap_future(self.post(work, urgent=urgent))

    def post(self, work: Callable[[], T], *, urgent: bool = False) -> "Future[T]":
        """Have `work` done, without waiting for it."""
        if self._thread is None:
            self._thread = threading.Thread(
                target=_work_off, args=[self._waiting], name=self._name, daemon=True
            )
            self._thread.start()
        answer: Future[T] = Future()
        self._put(_URGENT if urgent else _ORDINARY, lambda: resolve_future(answer, work))
        return answer

    def stop(self) -> None:
        """End the thread after everything it was given. It starts again when it is needed."""
        if self._thread is not None:
            self._put(_LAST, None)
            self._thread, self._waiting = None, queue.PriorityQueue()

    def _put(self, urgency: int, work: Callable[[], None] | None) -> None:
        self._waiting.put((urgency, next(self._number), work))


def _work_off(waiting: _Waiting) -> None:
    while (work := waiting.get()[2]) is not None:
        work()


def resolve_future(answer: "Future[Any]", work: Callable[[], Any]) -> None:
    """Do `work` and let its answer, or its error, be the answer; nothing if it was canceled."""
    if not answer.set_running_or_notify_cancel():
        return
    try:
        answer.set_result(work())
    except BaseException as error:  # noqa: BLE001  (whoever waits gets it)
        answer.set_exception(error)
