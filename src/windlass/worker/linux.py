"""Process calls that only Linux has; each does nothing on other systems."""

import ctypes
import signal
import sys

_SET_DEATH_SIGNAL, _SET_DUMPABLE, _SET_SUBREAPER = 1, 4, 36  # prctl(2)


def die_with_parent() -> None:
    """Have this process killed when its parent ends. A change of user takes this back."""
    _prctl(_SET_DEATH_SIGNAL, signal.SIGKILL)


def adopt_orphans() -> None:
    """Become the parent of every descendant that loses its own."""
    _prctl(_SET_SUBREAPER, 1)


def deny_inspection() -> None:
    """Keep other processes of the same user from reading this one's environment, memory and
    descriptors in /proc, and from tracing it. Root may. What it executes can be inspected again."""
    _prctl(_SET_DUMPABLE, 0)


def _prctl(what: int, value: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(what, value, 0, 0, 0)
