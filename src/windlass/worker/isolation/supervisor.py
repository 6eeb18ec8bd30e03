"""The first process of a run: `python -m windlass.worker.isolation.supervisor <descriptor> [command]`.

It starts the process that runs the handler, or becomes the command, and keeps watch. It survives
whatever that one does to itself (a segfault, a lock held for ever in C), adopts what its descendants
leave behind, and ends them all when that process is gone, or when the worker is: then standard input
closes.
"""

import contextlib
import json
import os
import select
import signal
import sys
import time
from pathlib import Path
from typing import NamedTuple

from windlass.worker.isolation.memory import oom_kills, peak_mb
from windlass.worker.linux import adopt_orphans, deny_inspection, die_with_parent

#: How long the end of what was left behind may take.
_END_SECONDS = 3.0
#: How often to look whether the worker is still there, should another process hold our input open.
_LOOK_SECONDS = 1.0
_INPUT = 0  # by number: a handler's module may have put something else in place of `sys.stdin`


class _ChildExit(NamedTuple):
    code: int
    peak_mb: int


def main() -> None:
    descriptor = int(sys.argv[1])
    worker = os.getppid()
    runs_command = sys.argv[2:] == ["command"]
    if runs_command:
        deny_inspection()  # the command must not read its order from our memory, nor our input
    order = sys.stdin.buffer.readline()
    if not order or not supervise(descriptor, worker):
        return
    if runs_command:
        from windlass.worker.isolation import command_process

        command_process.main(order, descriptor)
    else:
        from windlass.worker.isolation import child

        child.main(order, descriptor)


def supervise(descriptor: int, parent: int) -> bool:
    """Become the supervisor of a new process. In that process this answers True, at once; in the
    supervisor False, when that process has ended and all it started with it."""
    os.set_inheritable(descriptor, False)
    # Asking the group to stop is meant for the handler; the supervisor ends last.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    adopt_orphans()
    wake = child_exit_descriptor()
    supervisor = os.getpid()
    _send(descriptor, kind="began", pid=supervisor)
    kills = oom_kills()
    run = os.fork()
    if run == 0:
        os.close(wake)
        _enter_child(supervisor)
        return True
    ended = _watch(run, parent, wake) or terminate_all(run)
    terminate_all()
    if ended is not None:
        hungry = ended.code == -signal.SIGKILL and oom_kills() > kills
        _send(descriptor, kind="ended", pid=run, out_of_memory=hungry, **ended._asdict())
    if sys.platform != "linux":
        os.killpg(0, signal.SIGKILL)  # what was left behind was not adopted
    return False


def child_exit_descriptor() -> int:
    """A descriptor that becomes readable whenever a child ends."""
    wake, woken = os.pipe()
    os.set_blocking(woken, False)
    _close_wakeup(signal.set_wakeup_fd(woken, warn_on_full_buffer=False))
    signal.signal(signal.SIGCHLD, lambda *_: None)
    return wake


def _close_wakeup(descriptor: int) -> None:
    """Close the end that was written to before, in a process that was forked: it is its parent's."""
    if descriptor != -1:
        os.close(descriptor)


def terminate_all(run: int | None = None) -> _ChildExit | None:
    """End every process that is left. Those whose parent ends become ours and are next. Answers how
    the run ended, if it was among them."""
    ended = None
    end = time.monotonic() + _END_SECONDS
    while time.monotonic() < end:
        try:
            pid, status, used = os.wait3(os.WNOHANG)
        except ChildProcessError:
            break
        if pid == run:
            ended = _ChildExit(os.waitstatus_to_exitcode(status), peak_mb(used))
        if pid:
            continue
        for child in children():
            terminate_process(child)
        time.sleep(0.005)
    return ended


def terminate_process(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, signal.SIGKILL)


def children() -> list[int]:
    own = os.getpid()
    try:
        return [int(pid) for pid in Path(f"/proc/{own}/task/{own}/children").read_text().split()]
    except OSError:  # another system: the group is ended instead
        return []


def _send(descriptor: int, **fields: object) -> None:
    with contextlib.suppress(ConnectionError):  # nobody listens any more
        os.write(descriptor, json.dumps(fields).encode() + b"\n")


def _enter_child(supervisor: int) -> None:
    _close_wakeup(signal.set_wakeup_fd(-1))
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    die_with_parent()
    if os.getppid() != supervisor:  # it died before the line above
        os._exit(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, _INPUT)
    os.close(nothing)


def _watch(run: int, parent: int, wake: int) -> _ChildExit | None:
    """Wait for the end of the run and answer how it ended; None if nobody wants it any more."""
    poll = select.poll()
    poll.register(_INPUT, select.POLLIN | select.POLLHUP)
    poll.register(wake, select.POLLIN)
    while True:
        told = [descriptor for descriptor, _ in poll.poll(_LOOK_SECONDS * 1000)]
        if wake in told:
            os.read(wake, 4096)
        if os.getppid() != parent or (_INPUT in told and _closed(_INPUT)):
            return None
        ended = _reap(run)
        if ended is not None:
            return ended


def _closed(descriptor: int) -> bool:
    try:
        return not os.read(descriptor, 4096)
    except ConnectionError:
        return True


def _reap(run: int) -> _ChildExit | None:
    """Take note of processes that ended; answers how the run did, None while it goes on."""
    ended = None
    with contextlib.suppress(ChildProcessError):
        while True:
            pid, status, used = os.wait3(os.WNOHANG)
            if pid == 0:
                break
            if pid == run:
                ended = _ChildExit(os.waitstatus_to_exitcode(status), peak_mb(used))
    return ended


if __name__ == "__main__":
    main()
