"""What a worker and the processes of its runs know and do about memory."""

import contextlib
import gc
import os
import resource
import sys
from pathlib import Path

_STATM = Path("/proc/self/statm")
_MB = 1024 * 1024
#: What a run that hit its limit may use to say so.
_TRACEBACK_RESERVE_MB = 32
# On Linux what a process may write to, mapped privately: neither files read by mapping them nor
# room reserved and not used count, as they would in RLIMIT_AS. See decision 0012.
_LIMITED = resource.RLIMIT_DATA if sys.platform == "linux" else resource.RLIMIT_AS


def resident_mb() -> int:
    """Resident memory in MB; where the system does not tell it, the most it ever was."""
    try:
        pages = int(_STATM.read_text("ascii").split()[1])
    except OSError:
        return peak_mb(resource.getrusage(resource.RUSAGE_SELF))
    return pages * os.sysconf("SC_PAGE_SIZE") // _MB


def peak_mb(used: resource.struct_rusage) -> int:
    """The most resident memory a process ever had, in MB."""
    return used.ru_maxrss // (_MB if sys.platform == "darwin" else 1024)


def limit_memory(mb: int) -> None:
    """From here on this process, and each it starts, gets no more than so many MB in all: what
    asks for more sees a MemoryError."""
    _set_limit(mb, mb + _TRACEBACK_RESERVE_MB)


def raise_memory_limit(mb: int) -> None:
    """Make room to tell that the limit was hit."""
    _set_limit(mb + _TRACEBACK_RESERVE_MB, mb + _TRACEBACK_RESERVE_MB)


def _set_limit(soft_mb: int, hard_mb: int) -> None:
    _, most = resource.getrlimit(_LIMITED)
    hard = hard_mb * _MB if most == resource.RLIM_INFINITY else min(hard_mb * _MB, most)
    with contextlib.suppress(OSError, ValueError):  # a system that knows no such limit
        resource.setrlimit(_LIMITED, (min(soft_mb * _MB, hard), hard))


def oom_kills() -> int:
    """How many processes the kernel has killed for want of memory: in our control group where it
    counts them, else on the whole machine; 0 where it does not tell."""
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
    """Keep the collector away from what is loaded by now, which stays as long as the process does:
    going through it again and again took a fifth of a busy worker's time.

    For a process that is a worker and nothing else; it changes the whole interpreter.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 20, 20)
