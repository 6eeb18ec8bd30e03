"""Counts function calls, so that a test can bound the work that was done without a clock."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType


@dataclass
class FunctionCalls:
    """Calls of Python and built-in functions in one thread."""

    count: int = 0

    def note(self, frame: FrameType, event: str, argument: object) -> None:
        if event in ("call", "c_call"):
            self.count += 1


@contextmanager
def counted_calls() -> Iterator[FunctionCalls]:
    """Count the calls that this thread makes inside the block."""
    calls = FunctionCalls()
    before = sys.getprofile()
    sys.setprofile(calls.note)
    try:
        yield calls
    finally:
        sys.setprofile(before)
