"""The database of one simulated process: a call may fail, or the process may die in it."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from enum import Enum, auto
from typing import Any, Protocol

from windlass.errors import DatabaseUnreachable
from windlass.storage.database import Database, Lane, Session, Watch
from windlass.storage.sql.statements import Dialect, Rows


class Fault(Enum):
    """A fault in one call, or in the process that makes it."""

    NONE = auto()
    #: The process dies before the call, after its commit, or in the middle of its transaction.
    DIES_BEFORE = auto()
    DIES_AFTER = auto()
    DIES_INSIDE = auto()
    #: The call was never sent, was rolled back, or was committed and its response lost.
    NOT_SENT = auto()
    ROLLED_BACK = auto()
    ANSWER_LOST = auto()
    #: The process stands still before the call, or after its response arrived.
    PAUSES_BEFORE = auto()
    PAUSES_AFTER = auto()


FAULTS = tuple(fault for fault in Fault if fault is not Fault.NONE)
#: Pauses are what makes leases run out while their holders live.
FAULT_WEIGHTS = tuple(3 if "PAUSES" in fault.name else 1 for fault in FAULTS)


class ProcessDied(BaseException):
    """The simulated process is no more. Nothing that it still tries reaches the database."""


#: A verb that was committed: its name, its parameters and its rows.
Committed = tuple[str, Mapping[str, Any], Rows]


class Caller(Protocol):
    """The process that makes the calls."""

    async def turn(self) -> Fault:
        """Wait to be scheduled; what happens to the next call."""
        ...

    async def pause(self) -> None:
        """Stand still for a while."""
        ...

    def die(self) -> ProcessDied:
        """End the process; returns the exception to raise."""
        ...

    def statement_to_fail(self) -> int:
        """Which statement of a transaction fails, counted from 0."""
        ...

    def committed(self, verbs: Sequence[Committed]) -> None:
        """Note what one transaction has changed."""
        ...


class FaultyDatabase:
    """A database whose calls are scheduled, and fail, as the simulation says."""

    schema: str | None = None

    def __init__(self, database: Database, caller: Caller) -> None:
        self._database = database
        self._caller = caller
        self._inside = False
        self.kind = database.kind

    def check_exists(self) -> None:
        self._database.check_exists()

    async def run(self, verb: str, /, *, lane: Lane = Lane.GENERAL, **params: Any) -> Rows:
        if self._inside:  # a look beside the transaction that is open
            return await self._database.run(verb, lane=lane, **params)
        fault = await self._before()
        rows = await self._database.run(verb, lane=lane, **params)
        self._caller.committed([(verb, params, rows)])
        await self._after(fault)
        return rows

    @asynccontextmanager
    async def transaction(self, lane: Lane = Lane.GENERAL) -> AsyncIterator[Session]:
        fault = await self._before(transaction=True)
        fails_at = self._caller.statement_to_fail()
        self._inside = True
        try:
            async with self._database.transaction(lane) as session:
                recorded = _Recorded(session, self._caller, fault, fails_at)
                yield recorded
        finally:
            self._inside = False
        self._caller.committed(recorded.verbs)
        await self._after(fault)

    async def query(self, text: str, params: Mapping[str, Any]) -> Rows:
        if not self._inside:
            await self._before()
        return await self._database.query(text, params)

    async def script(self, text: str) -> None:
        await self._database.script(text)

    def migration_lock(self) -> AbstractAsyncContextManager[None]:
        return self._database.migration_lock()

    def caller_dialect(self, placeholder: str) -> Dialect:
        return self._database.caller_dialect(placeholder)

    async def nudge(self, queues: Sequence[str]) -> None:
        pass  # nudges save time and are never needed

    async def watch(self, queues: Sequence[str] | None) -> Watch:
        return await self._database.watch(queues)

    async def readable_files(self) -> Sequence[str]:
        return []

    async def warnings(self) -> Sequence[str]:
        return []

    async def close(self) -> None:
        pass

    async def _before(self, *, transaction: bool = False) -> Fault:
        fault = await self._caller.turn()
        if fault is Fault.PAUSES_BEFORE:
            await self._caller.pause()
        if fault is Fault.DIES_BEFORE or (fault is Fault.DIES_INSIDE and not transaction):
            raise self._caller.die()
        if fault is Fault.NOT_SENT or (fault is Fault.ROLLED_BACK and not transaction):
            raise _unreachable()
        return fault

    async def _after(self, fault: Fault) -> None:
        if fault is Fault.PAUSES_AFTER:
            await self._caller.pause()
        if fault is Fault.DIES_AFTER:
            raise self._caller.die()
        if fault is Fault.ANSWER_LOST:
            raise _unreachable()


class _Recorded:
    """A transaction that notes its verbs, and may fail at one of them."""

    def __init__(self, session: Session, caller: Caller, fault: Fault, fails_at: int) -> None:
        self._session = session
        self._caller = caller
        self._fault = fault
        self._fails_at = fails_at
        self.verbs: list[Committed] = []

    async def run(self, verb: str, /, **params: Any) -> Rows:
        if len(self.verbs) == self._fails_at:
            if self._fault is Fault.DIES_INSIDE:
                raise self._caller.die()
            if self._fault is Fault.ROLLED_BACK:
                raise _unreachable()
        rows = await self._session.run(verb, **params)
        self.verbs.append((verb, params, rows))
        return rows


def _unreachable() -> DatabaseUnreachable:
    return DatabaseUnreachable("sqlite:///simulated", cause="a simulated fault")
