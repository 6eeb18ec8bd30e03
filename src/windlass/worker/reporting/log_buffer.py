"""Buffer of log lines that wait to be written: bounded, and safe to use from any thread."""

import threading
from collections import Counter, deque
from collections.abc import Iterable

from windlass.core.jobs.models import LogLine
from windlass.core.leases.lease import LeaseRef

#: Lines kept while the database takes them more slowly than they come; the oldest are dropped.
MOST_LINES = 10_000


class LineBuffer:
    """Lines in order. Those being written count as unwritten: the write may fail."""

    def __init__(self) -> None:
        self._waiting: deque[LogLine] = deque()
        self._writing: list[LogLine] = []
        #: How many lines of each lease are not written yet, those being written included.
        self.unwritten: Counter[LeaseRef] = Counter()
        self._dropped = 0
        # Entered twice when the garbage collector runs a finalizer that logs.
        self._lock = threading.RLock()

    def __len__(self) -> int:
        return len(self._waiting)

    def add(self, line: LogLine) -> int:
        """Add a line; the oldest is dropped from a full buffer. Returns how many wait now."""
        with self._lock:
            self._waiting.append(line)
            self.unwritten[_held(line)] += 1
            if len(self._waiting) > MOST_LINES:
                self._forget([self._waiting.popleft()])
                self._dropped += 1
            return len(self._waiting)

    def begin_write(self, most: int) -> list[LogLine]:
        """Begin to write the oldest lines, `most` at most, and return them."""
        with self._lock:
            count = min(most, len(self._waiting))
            self._writing = [self._waiting.popleft() for _ in range(count)]
            return self._writing

    def end_write(self) -> None:
        """Forget the lines that were being written: they are stored."""
        with self._lock:
            self._forget(self._writing)
            self._writing = []

    def undo_write(self) -> None:
        """Put back the lines that were being written: storing them failed."""
        with self._lock:
            self._waiting.extendleft(reversed(self._writing))
            self._writing = []

    def take(self, held: LeaseRef) -> list[LogLine]:
        """Remove and return the waiting lines of a lease; those being written stay."""
        with self._lock:
            taken = [line for line in self._waiting if _held(line) == held]
            if taken:
                self._waiting = deque(line for line in self._waiting if _held(line) != held)
                self._forget(taken)
            return taken

    def put_back(self, lines: Iterable[LogLine]) -> None:
        """Put back lines that were taken, in front."""
        with self._lock:
            for line in reversed(list(lines)):
                self._waiting.appendleft(line)
                self.unwritten[_held(line)] += 1

    def take_dropped(self) -> int:
        """Return how many lines were dropped since the last call."""
        with self._lock:
            dropped, self._dropped = self._dropped, 0
            return dropped

    def _forget(self, lines: Iterable[LogLine]) -> None:
        for line in lines:
            held = _held(line)
            self.unwritten[held] -= 1
            if not self.unwritten[held]:
                del self.unwritten[held]


def _held(line: LogLine) -> LeaseRef:
    return LeaseRef(line.job_id, line.attempt)
