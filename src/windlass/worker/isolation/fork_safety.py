"""Whether a process may be forked: whether it is alone with its memory.

A fork copies one thread, and shares what is open: a lock another thread holds stays locked for ever,
and two processes on one connection read each other's answers.
"""

import fcntl
import os
import stat
import threading

from windlass.worker.isolation.supervisor import children


def is_fork_safe(before: set[int]) -> bool:
    """Whether there is one thread, no child, and nothing open beyond `before` that forks would
    quarrel about."""
    return (
        _threads() == 1
        and not children()
        and all(map(_is_append_only_file, open_descriptors() - before))
    )


def open_descriptors() -> set[int]:
    for folder in ("/proc/self/fd", "/dev/fd"):
        try:
            listed = [int(name) for name in os.listdir(folder)]
        except OSError:
            continue
        # The listing's own was among them, and is closed by now.
        return {descriptor for descriptor in listed if _is_open(descriptor)}
    return set()


def _is_open(descriptor: int) -> bool:
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True


def _threads() -> int:
    try:
        return len(os.listdir("/proc/self/task"))  # those of native code, too
    except OSError:
        return threading.active_count()


def _is_append_only_file(descriptor: int) -> bool:
    """A file that is only ever appended to, such as a log, has room for all."""
    mode = os.fstat(descriptor).st_mode
    flags = fcntl.fcntl(descriptor, fcntl.F_GETFL)
    appends = bool(flags & os.O_APPEND) and (flags & os.O_ACCMODE) == os.O_WRONLY
    return stat.S_ISREG(mode) and appends
