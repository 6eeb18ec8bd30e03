"""Memory of a worker and its runs: measured, limited, and settings of the garbage collector."""

import contextlib
import gc
import os
import resource
import sys
from pathlib import Path

_STATM = Path("/proc/self/statm")
_MB = 1024 * 1024
#: Extra memory for a run that has hit its limit to report that.
_TRACEBACK_RESERVE_MB = 32
# On Linux RLIMIT_DATA counts private writable memory. RLIMIT_AS would also count mapped files and
# reserved address space. See decision 0012.
_LIMITED = resource.RLIMIT_DATA if sys.platform == "linux" else resource.RLIMIT_AS


def resident_mb() -> int:
    """Resident memory in MB; its peak where the system does not report the current value."""
    try:
        pages = int(_STATM.read_text("ascii").split()[1])
    except OSError:
        return peak_mb(resource.getrusage(resource.RUSAGE_SELF))
    return pages * os.sysconf("SC_PAGE_SIZE") // _MB


def peak_mb(used: resource.struct_rusage) -> int:
    """The peak resident memory of a process, in MB."""
    return used.ru_maxrss // (_MB if sys.platform == "darwin" else 1024)


def limit_memory(mb: int) -> None:
    """Limit this process, and each that it starts, to so many MB; beyond that allocations raise
    MemoryError."""
    _set_limit(mb, mb + _TRACEBACK_RESERVE_MB)


def raise_memory_limit(mb: int) -> None:
    """Make room to report that the limit was hit."""
    _set_limit(mb + _TRACEBACK_RESERVE_MB, mb + _TRACEBACK_RESERVE_MB)


def _set_limit(soft_mb: int, hard_mb: int) -> None:
    _, most = resource.getrlimit(_LIMITED)
    hard = hard_mb * _MB if most == resource.RLIM_INFINITY else min(hard_mb * _MB, most)
    with contextlib.suppress(OSError, ValueError):  # a system without such a limit
        resource.setrlimit(_LIMITED, (min(soft_mb * _MB, hard), hard))


def oom_kills() -> int:
    """How many processes the kernel's OOM killer has killed: in our control group where it counts
    them, else on the whole machine; 0 where neither is known."""
    for counts in (_group_events(), Path("/proc/vmstat")):
        try:
            for line in counts.read_text("ascii").splitlines():
                name, _, count = line.partition(" ")
                if name == "oom_kill":
                    return int(count)
        except OSError:
            continue
    return 0


def _group_events() -> Path:
    try:
        lines = Path("/proc/self/cgroup").read_text("utf-8").splitlines()
    except OSError:
        lines = []
    group = next((line[3:] for line in lines if line.startswith("0::")), "/")
    return Path(f"/sys/fs/cgroup{group}/memory.events")


def settle() -> None:
    """Exclude all loaded objects from garbage collection: they live as long as the process, and
    traversing them took a fifth of a busy worker's time.

    Only for a process that is a worker and nothing else: it changes the whole interpreter.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 20, 20)
