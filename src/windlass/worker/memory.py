"""How much memory this process uses."""

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
