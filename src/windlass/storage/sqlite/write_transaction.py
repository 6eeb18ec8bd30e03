"""A transaction in which several verbs run: the writer's turn, kept across awaits."""

import asyncio
import queue
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import AbstractContextManager
from typing import Any

from windlass.errors import DatabaseTimeout
from windlass.storage.sql.statements import Rows, Scripts
from windlass.storage.sqlite.connection import Connection

_Ask = tuple["Future[Any]", Callable[[Connection], Any]]


class TransactionAbandoned(Exception):
    """The owner of a turn wants nothing of it to be kept."""


class WriteTransaction:
    """Occupies the writer's thread from begin to commit, so that no other statement can slip
    into the transaction. One that hears nothing until the deadline is rolled back."""

    def __init__(self, scripts: Scripts, *, deadline: float) -> None:
        self._scripts = scripts
        self._deadline = deadline
        self._begun: Future[None] = Future()
        self._asks: queue.SimpleQueue[_Ask | None] = queue.SimpleQueue()
        self._kept = False
        self._over = False

    async def begin(self) -> None:
        """Wait until the transaction is open."""
        await asyncio.wrap_future(self._begun)

    async def run(self, verb: str, /, **params: Any) -> Rows:
        """A verb inside the transaction; one that fails ends it."""
        statements, bound = self._scripts[verb], self._scripts.bind(params)
        answer: Future[Rows] = Future()
        self._asks.put((answer, lambda connection: connection.run(statements, bound)))
        if self._over:
            self._refuse()
        return await asyncio.wrap_future(answer)

    def end(self, *, keep: bool) -> None:
        """Let the transaction be committed, or rolled back."""
        self._kept = keep
        self._asks.put(None)

    def serve(self, writing: Callable[[], AbstractContextManager[Connection]]) -> None:
        """The thread's side: runs the verbs as they come, until the end."""
        waiting: Future[Any] = self._begun
        try:
            with writing() as connection:
                _answer(waiting, _nothing, connection)
                while ask := self._next():
                    waiting, work = ask
                    _answer(waiting, work, connection)
                if not self._kept:
                    raise TransactionAbandoned
        except BaseException as error:
            # After the rollback: whoever hears of the error finds nothing left behind.
            if not waiting.done():
                waiting.set_exception(error)
            raise
        finally:
            self._over = True
            self._refuse()

    def _next(self) -> _Ask | None:
        try:
            return self._asks.get(timeout=self._deadline)
        except queue.Empty:
            raise DatabaseTimeout("keep a transaction open", seconds=self._deadline) from None

    def _refuse(self) -> None:
        """Answer what was asked too late."""
        while True:
            try:
                ask = self._asks.get_nowait()
            except queue.Empty:
                return
            if ask and ask[0].set_running_or_notify_cancel():
                ask[0].set_exception(TransactionAbandoned("the transaction is over"))


def _answer(
    waiting: "Future[Any]", work: Callable[[Connection], Any], connection: Connection
) -> None:
    if not waiting.set_running_or_notify_cancel():
        raise TransactionAbandoned
    waiting.set_result(work(connection))


def _nothing(connection: Connection) -> None:
    pass
