"""The event loop of long-running commands."""

from collections.abc import Coroutine
from typing import Any, TypeVar

from windlass import tasks

T = TypeVar("T")


def run(main: Coroutine[Any, Any, T]) -> T:
    """Run it in a faster loop where the extra `uvloop` is installed."""
    try:
        from uvloop import new_event_loop
    except ImportError:
        return tasks.run(main)
    return tasks.run(main, loop_factory=new_event_loop)
