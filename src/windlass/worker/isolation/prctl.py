"""prctl(2): process attributes that only Linux has. Each function does nothing elsewhere."""

import ctypes
import signal
import sys

_SET_DEATH_SIGNAL, _SET_DUMPABLE, _SET_SUBREAPER = 1, 4, 36  # prctl(2)


def die_with_parent() -> None:
    """Kill this process when its parent ends. A change of user resets this."""
    _prctl(_SET_DEATH_SIGNAL, signal.SIGKILL)


def adopt_orphans() -> None:
    """Become the parent of orphaned descendants (subreaper)."""
    _prctl(_SET_SUBREAPER, 1)


def deny_inspection() -> None:
    """Prevent other processes of the same user from reading this one's environment, memory and
    descriptors in /proc, and from tracing it. Root still can. `exec` resets this."""
    _prctl(_SET_DUMPABLE, 0)


def _prctl(what: int, value: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(what, value, 0, 0, 0)
