"""What a worker's process does about its memory."""

import gc
import os
import resource
import sys
from pathlib import Path

_STATM = Path("/proc/self/statm")


def resident_mb() -> int:
    """Resident memory in MB; where the system does not tell it, the most it ever was."""
    try:
        pages = int(_STATM.read_text("ascii").split()[1])
    except OSError:
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak // (1024 * 1024) if sys.platform == "darwin" else peak // 1024
    return pages * os.sysconf("SC_PAGE_SIZE") // (1024 * 1024)


def settle() -> None:
    """Keep the collector away from what is loaded by now, which stays as long as the process does:
    going through it again and again took a fifth of a busy worker's time.

    For a process that is a worker and nothing else; it changes the whole interpreter.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 20, 20)
