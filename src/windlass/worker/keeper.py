"""The first process of a run: `python -m windlass.worker.keeper <descriptor> [command]`.

It starts the process that runs the handler, or becomes the command, and keeps watch. It survives whatever that one does to
itself (a segfault, a lock held for ever in C), adopts what its descendants leave behind, and ends
them all when the handler's process is gone, or when the worker is: then standard input closes.
"""

import contextlib
import ctypes
import json
import os
import select
import signal
import sys
import time
from pathlib import Path

#: How long the end of what was left behind may take.
_END_SECONDS = 3.0
#: How often to look whether the worker is still there, should another process hold our input open.
_LOOK_SECONDS = 1.0
_SET_DEATH_SIGNAL, _SET_SUBREAPER = 1, 36  # Linux: prctl(2)


def main() -> None:
    descriptor = int(sys.argv[1])
    os.set_inheritable(descriptor, False)
    worker = os.getppid()
    order = sys.stdin.buffer.readline()
    if not order:
        return
    # Asking the group to stop is meant for the handler; the keeper ends last.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    _prctl(_SET_SUBREAPER, 1)
    wake, woken = os.pipe()
    os.set_blocking(woken, False)
    signal.set_wakeup_fd(woken, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    keeper = os.getpid()
    run = os.fork()
    if run == 0:
        _become_the_run(keeper)
        _run(order, descriptor, command=sys.argv[2:] == ["command"])
        return
    code = _watch(run, worker, wake)
    forced = _end_all(run)
    code = forced if code is None else code
    if code is not None:
        told = json.dumps({"kind": "ended", "code": code, "pid": run}).encode() + b"\n"
        with contextlib.suppress(BrokenPipeError):
            os.write(descriptor, told)
    if sys.platform != "linux":
        os.killpg(0, signal.SIGKILL)  # what was left behind was not adopted


def _become_the_run(keeper: int) -> None:
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    _prctl(_SET_DEATH_SIGNAL, signal.SIGKILL)
    if os.getppid() != keeper:  # it died before the line above
        os._exit(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, sys.stdin.fileno())


def _run(order: bytes, descriptor: int, *, command: bool) -> None:
    if command:
        from windlass.worker import command_process

        command_process.main(order, descriptor)
    else:
        from windlass.worker import child

        child.main(order, descriptor)


def _watch(run: int, worker: int, wake: int) -> int | None:
    """Wait for the end of the run and answer how it ended; None if the worker is gone."""
    poll = select.poll()
    poll.register(sys.stdin.fileno(), select.POLLIN | select.POLLHUP)
    poll.register(wake, select.POLLIN)
    while True:
        told = [descriptor for descriptor, _ in poll.poll(_LOOK_SECONDS * 1000)]
        if wake in told:
            os.read(wake, 4096)
        if os.getppid() != worker or (sys.stdin.fileno() in told and _closed(sys.stdin.fileno())):
            return None
        code = _reap(run)
        if code is not None:
            return code


def _closed(descriptor: int) -> bool:
    try:
        return not os.read(descriptor, 4096)
    except ConnectionError:
        return True


def _reap(run: int) -> int | None:
    """Take note of processes that ended; answers how the run did, None while it goes on."""
    code = None
    with contextlib.suppress(ChildProcessError):
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                break
            if pid == run:
                code = os.waitstatus_to_exitcode(status)
    return code


def _end_all(run: int) -> int | None:
    """End every process that is left. Those whose parent ends become ours and are next. Answers how
    the run ended, if it was among them."""
    code = None
    end = time.monotonic() + _END_SECONDS
    while time.monotonic() < end:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            break
        if pid == run:
            code = os.waitstatus_to_exitcode(status)
        if pid:
            continue
        for pid in _children():
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.005)
    return code


def _children() -> list[int]:
    own = os.getpid()
    try:
        return [int(pid) for pid in Path(f"/proc/{own}/task/{own}/children").read_text().split()]
    except OSError:  # another system: the group is ended instead
        return []


def _prctl(what: int, value: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(what, value, 0, 0, 0)


if __name__ == "__main__":
    main()
