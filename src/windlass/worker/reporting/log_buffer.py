"""Log lines of runs that wait to be written: bounded, and safe to use from any thread."""

import threading
from collections import Counter, deque
from collections.abc import Iterable

from windlass.core.jobs.models import LogLine
from windlass.core.leases.lease import LeaseRef

#: Lines kept while the database takes them more slowly than they come; the oldest are dropped.
MOST_LINES = 10_000


class LineBuffer:
    """Lines in their order. Those being written are still held: they may have to be put back."""

    def __init__(self) -> None:
        self._waiting: deque[LogLine] = deque()
        self._writing: list[LogLine] = []
        #: Lines not written yet, those being written included, by lease.
        self.unwritten: Counter[LeaseRef] = Counter()
        self._dropped = 0
        # Entered twice when the garbage collector runs a finalizer that logs.
        self._lock = threading.RLock()

    def __len__(self) -> int:
        return len(self._waiting)

    def holds(self, held: LeaseRef) -> bool:
        """Whether lines of a lease are not written yet, those being written included."""
        return held in self.unwritten

    def add(self, line: LogLine) -> int:
        """Keep a line. Answers how many wait now."""
        with self._lock:
            self._waiting.append(line)
            self.unwritten[_held(line)] += 1
            if len(self._waiting) > MOST_LINES:
                self._forget([self._waiting.popleft()])
                self._dropped += 1
            return len(self._waiting)

    def begin_write(self, most: int) -> list[LogLine]:
        """The oldest lines, which now are being written."""
        with self._lock:
            count = min(most, len(self._waiting))
            self._writing = [self._waiting.popleft() for _ in range(count)]
            return self._writing

    def end_write(self) -> None:
        """What was being written is written."""
        with self._lock:
            self._forget(self._writing)
            self._writing = []

    def undo_write(self) -> None:
        """What was being written could not be; it is next again."""
        with self._lock:
            self._waiting.extendleft(reversed(self._writing))
            self._writing = []

    def take(self, held: LeaseRef) -> list[LogLine]:
        """Remove the lines of a lease that wait; those being written stay."""
        with self._lock:
            taken = [line for line in self._waiting if _held(line) == held]
            if taken:
                self._waiting = deque(line for line in self._waiting if _held(line) != held)
                self._forget(taken)
            return taken

    def put_back(self, lines: Iterable[LogLine]) -> None:
        """Let lines that were taken be next again."""
        with self._lock:
            for line in reversed(list(lines)):
                self._waiting.appendleft(line)
                self.unwritten[_held(line)] += 1

    def take_dropped(self) -> int:
        """How many lines were dropped since this was last asked."""
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
