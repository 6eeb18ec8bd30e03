"""Supervisor: the first process of a run, which ends all processes that the run started.

Started with `python -m windlass.worker.isolation.supervisor <descriptor> [command]`. It forks the
process that runs the handler or becomes the command, and watches it. The supervisor survives a
segfault or a deadlock of that process and adopts its orphaned descendants. It kills them all when
that process has ended, or when the worker has: then standard input closes.
"""

import contextlib
import json
import os
import resource
import select
import signal
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from windlass.worker.isolation.memory import oom_kills, peak_mb
from windlass.worker.isolation.prctl import adopt_orphans, deny_inspection, die_with_parent

#: How long killing the remaining processes may take.
_KILL_SECONDS = 3.0
#: How often to check that the worker is alive, should another process hold our input open.
_CHECK_SECONDS = 1.0
_INPUT = 0  # by number: a handler's module may have replaced `sys.stdin`

_MB = 1024 * 1024
#: Seconds between the signal for the CPU limit that a command may handle and SIGKILL.
_CPU_GRACE_SECONDS = 5
_FIRST_OTHER_DESCRIPTOR = 3
_MOST_DESCRIPTORS = 1024 * 1024


class _ChildExit(NamedTuple):
    code: int
    peak_mb: int


def main() -> None:
    descriptor = int(sys.argv[1])
    worker = os.getppid()
    runs_command = sys.argv[2:] == ["command"]
    if runs_command:
        deny_inspection()  # the command must not read our memory or our input
    order = sys.stdin.buffer.readline()
    if not order or not supervise(descriptor, worker):
        return
    if runs_command:
        _exec_command(order, descriptor)
    else:
        from windlass.worker.isolation import child

        child.main(order, descriptor)


def supervise(descriptor: int, parent: int) -> bool:
    """Fork a process and supervise it. Returns True at once in the new process; returns False in
    the supervisor, when that process has ended and all it started."""
    os.set_inheritable(descriptor, False)
    # SIGTERM to the group is meant for the handler; the supervisor ends last.
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
        oom_killed = ended.code == -signal.SIGKILL and oom_kills() > kills
        _send(descriptor, kind="ended", pid=run, out_of_memory=oom_killed, **ended._asdict())
    if sys.platform != "linux":
        os.killpg(0, signal.SIGKILL)  # orphans were not adopted
    return False


def child_exit_descriptor() -> int:
    """A descriptor that becomes readable whenever a child ends."""
    wake, woken = os.pipe()
    os.set_blocking(woken, False)
    _close_wakeup(signal.set_wakeup_fd(woken, warn_on_full_buffer=False))
    signal.signal(signal.SIGCHLD, lambda *_: None)
    return wake


def _close_wakeup(descriptor: int) -> None:
    """Close the previous write end: a forked process has inherited it from its parent."""
    if descriptor != -1:
        os.close(descriptor)


def terminate_all(run: int | None = None) -> _ChildExit | None:
    """Kill every child. Their children become ours and are killed next. Returns the exit of `run`
    if it was among them."""
    ended = None
    end = time.monotonic() + _KILL_SECONDS
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
    with contextlib.suppress(ConnectionError):  # the worker is gone
        os.write(descriptor, _message(**fields))


def _message(**fields: object) -> bytes:
    return json.dumps(fields).encode() + b"\n"


def _enter_child(supervisor: int) -> None:
    """Reset what the supervisor changed, in the process that it forked."""
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
    """Wait until the run ends and return its exit; None if the worker has gone away."""
    poll = select.poll()
    poll.register(_INPUT, select.POLLIN | select.POLLHUP)
    poll.register(wake, select.POLLIN)
    while True:
        ready = [descriptor for descriptor, _ in poll.poll(_CHECK_SECONDS * 1000)]
        if wake in ready:
            os.read(wake, 4096)
        if os.getppid() != parent or (_INPUT in ready and _closed(_INPUT)):
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
    """Reap children that have ended. Returns the exit of `run`; None while it is running."""
    ended = None
    with contextlib.suppress(ChildProcessError):
        while True:
            pid, status, used = os.wait3(os.WNOHANG)
            if pid == 0:
                break
            if pid == run:
                ended = _ChildExit(os.waitstatus_to_exitcode(status), peak_mb(used))
    return ended


def _exec_command(order_line: bytes, descriptor: int) -> None:
    """Execute the ordered command in place of this process. If that fails, report why and exit."""
    # Not `_send`: if the worker is gone this raises, and the command never begins.
    os.write(descriptor, _message(kind="started", pid=os.getpid()))
    try:
        _become(json.loads(order_line), descriptor)
    except OSError as error:
        _send(descriptor, kind="refused", number=error.errno, why=error.strerror)
    os._exit(127)


def _become(order: Mapping[str, Any], descriptor: int) -> None:
    # Python ignores these two signals, and the command would inherit that.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    if (most := order["memory_limit_mb"]) is not None:
        _set_limit(resource.RLIMIT_AS, most * _MB, most * _MB)
    if (seconds := order["cpu_seconds"]) is not None:
        _set_limit(resource.RLIMIT_CPU, seconds, seconds + _CPU_GRACE_SECONDS)
    if order["run_as"] is not None:
        _change_user(order["run_as"])
    # As that user: the folder must be open to it.
    if order["cwd"] is not None:
        os.chdir(order["cwd"])
    # All but input, output and errors; `descriptor` reports a failure and closes on exec.
    os.closerange(_FIRST_OTHER_DESCRIPTOR, descriptor)
    os.closerange(descriptor + 1, _highest_descriptor())
    os.execve(order["executable"], order["argv"], order["env"])


def _change_user(identity: Mapping[str, Any]) -> None:
    """Change the user and its groups for good. OSError if the system refuses."""
    if os.geteuid() != 0:
        return  # it is this user already: the worker has checked that
    uid, gid, supervisor = identity["uid"], identity["gid"], os.getppid()
    try:
        for output in (1, 2):  # so that the command can open /dev/stdout and /dev/stderr again
            os.fchown(output, uid, gid)
        os.setgroups(identity["groups"])
        os.setresgid(gid, gid, gid)
        os.setresuid(uid, uid, uid)
    except OSError as error:
        problem = f"it cannot run as {identity['name']}: {error.strerror}"
        raise OSError(error.errno, problem) from None
    die_with_parent()
    if os.getppid() != supervisor:  # it died before the line above
        os._exit(1)


def _highest_descriptor() -> int:
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    return _MOST_DESCRIPTORS if limit == resource.RLIM_INFINITY else limit


def _set_limit(what: int, soft: int, hard: int) -> None:
    highest = resource.getrlimit(what)[1]
    if highest != resource.RLIM_INFINITY:
        soft, hard = min(soft, highest), min(hard, highest)
    resource.setrlimit(what, (soft, hard))


if __name__ == "__main__":
    main()
