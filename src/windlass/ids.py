"""JobId, TenantId …: distinct types, so that they cannot be swapped, and how ids are made.

Ids are UUIDv7 (RFC 9562): 48 bits of milliseconds, a 42-bit counter, 32 random bits. Ids made by
one process only rise, also within a millisecond and when the clock steps back, so jobs of equal
priority and due time run in the order they were made.
"""

import os
import re
import threading
from collections.abc import Iterator
from typing import NewType
from uuid import UUID, SafeUUID

from windlass import clock

JobId = NewType("JobId", UUID)
TriggerId = NewType("TriggerId", UUID)
EventId = NewType("EventId", UUID)
UserId = NewType("UserId", UUID)
TokenId = NewType("TokenId", UUID)
SessionId = NewType("SessionId", UUID)
OperationId = NewType("OperationId", UUID)
TenantId = NewType("TenantId", str)
DefinitionKey = NewType("DefinitionKey", str)
QueueName = NewType("QueueName", str)
WorkerId = NewType("WorkerId", str)

#: Fewer characters than this are no suffix of an id, but a slip of the hand.
SHORTEST_SUFFIX = 6

_HEX = re.compile(r"[0-9a-f]{1,32}")
_LAST_COUNTER = (1 << 42) - 1
_POOL_BYTES = 2048


def new_job_id() -> JobId:
    """A fresh id, greater than every id this process made before. Safe from any thread."""
    return JobId(_generator.make())


def new_trigger_id() -> TriggerId:
    """A fresh id for a trigger."""
    return TriggerId(_generator.make())


def new_event_id() -> EventId:
    """A fresh id for an event."""
    return EventId(_generator.make())


def new_user_id() -> UserId:
    """A fresh id for a user."""
    return UserId(_generator.make())


def new_token_id() -> TokenId:
    """A fresh id for a token."""
    return TokenId(_generator.make())


def new_session_id() -> SessionId:
    """A fresh id for a session."""
    return SessionId(_generator.make())


def new_operation_id() -> OperationId:
    """A fresh id for a bulk operation."""
    return OperationId(_generator.make())


def short(id: UUID) -> str:
    """The last eight characters: what tables show, and enough to find the job again."""
    return str(id)[-8:]


def parse_job_id(text: str) -> JobId | None:
    """The id that `text` spells in full, with or without dashes; None if it is not a whole id.

    People may type the end of an id instead: see `parse_suffix`.
    """
    digits = parse_suffix(text)
    return JobId(UUID(digits)) if digits is not None and len(digits) == 32 else None


def parse_suffix(text: str) -> str | None:
    """The lower-case hex digits of an id's end, dashes left out; None if it cannot be one."""
    digits = text.strip().replace("-", "").lower()
    return digits if len(digits) >= SHORTEST_SUFFIX and _HEX.fullmatch(digits) else None


def stored_id(text: str) -> UUID:
    """The id that a database has kept as text of 36 characters; it is not checked again."""
    # As below: several times faster than UUID(), once for every job stored, claimed and finished.
    made = _new(UUID)
    _set_int(made, int(text.replace("-", ""), 16))
    _set_safe(made, _UNKNOWN)
    return made


def uuid7(ms: int, counter: int, tail: int) -> UUID:
    """The UUIDv7 of a millisecond, a 42-bit counter within it and 32 random bits.

    Larger (ms, counter) gives a larger id. Arguments too large for their place are an error of
    the caller's and make no valid id.
    """
    # UUID() spends most of its time on ways of spelling an id that are not used here.
    made = _new(UUID)
    high = ms << 16 | 0x7000 | counter >> 30
    _set_int(made, high << 64 | 0x8000_0000_0000_0000 | (counter & 0x3FFF_FFFF) << 32 | tail)
    _set_safe(made, _UNKNOWN)
    return made


_new = object.__new__
_set_int = UUID.__dict__["int"].__set__
_set_safe = UUID.__dict__["is_safe"].__set__
_UNKNOWN = SafeUUID.unknown


class _IdGenerator:
    """Where ids come from: remembers the last millisecond and counter given out."""

    __slots__ = ("_counter", "_lock", "_ms", "_tails")

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self._lock = threading.Lock()
        self._ms = self._counter = 0
        self._tails: Iterator[int] = iter(())

    def make(self) -> UUID:
        with self._lock:
            return self._next(clock.unix_ns() // 1_000_000)

    def _next(self, now: int) -> UUID:
        if now > self._ms:
            self._ms = now
            # Half the range stays free above, so that counting on hardly ever runs out of it.
            self._counter = self._tail() << 9
        elif self._counter == _LAST_COUNTER:
            self._ms += 1
            self._counter = 0
        else:
            self._counter += 1
        return uuid7(self._ms, self._counter, self._tail())

    def _tail(self) -> int:
        tail = next(self._tails, None)
        if tail is None:
            # Asking the system once per few hundred ids is what keeps them cheap.
            self._tails = iter(memoryview(os.urandom(_POOL_BYTES)).cast("I"))
            tail = next(self._tails)
        return tail


# One per process on purpose: what has to rise is the sequence of all ids made here.
_generator = _IdGenerator()
if hasattr(os, "register_at_fork"):
    # A forked child would otherwise go on with its parent's random bytes and make equal ids.
    os.register_at_fork(after_in_child=_generator.reset)
