"""Fork safety: checks that a process is safe to fork: one thread, no children, no shared descriptors.

A fork copies one thread and shares what is open: a lock held by another thread stays locked for
ever, and two processes on one connection read each other's responses.
"""

import fcntl
import os
import stat
import threading

from windlass.worker.isolation.supervisor import children


def is_fork_safe(before: set[int]) -> bool:
    """True if there is one thread, no child process, and no descriptor beyond those `before` that
    forks cannot share."""
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
        # `listdir` opened one descriptor itself, which is closed by now.
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
        return len(os.listdir("/proc/self/task"))  # threads of native code included
    except OSError:
        return threading.active_count()


def _is_append_only_file(descriptor: int) -> bool:
    """True for a file that is only appended to, such as a log: forks can share it."""
    mode = os.fstat(descriptor).st_mode
    flags = fcntl.fcntl(descriptor, fcntl.F_GETFL)
    appends = bool(flags & os.O_APPEND) and (flags & os.O_ACCMODE) == os.O_WRONLY
    return stat.S_ISREG(mode) and appends
