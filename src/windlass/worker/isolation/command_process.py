"""The process of a command, until it becomes the command: what the supervisor runs after its fork."""

import json
import os
import resource
import signal
from collections.abc import Mapping
from typing import Any

from windlass.worker.linux import die_with_parent

_MB = 1024 * 1024
#: Between the signal that a command may handle and the one that it cannot.
_CPU_GRACE_SECONDS = 5
_FIRST_OTHER = 3
_MOST_DESCRIPTORS = 1024 * 1024


def main(order_line: bytes, descriptor: int) -> None:
    """Become the command that is ordered. Only if that fails, tell why and end."""
    _send(descriptor, {"kind": "started", "pid": os.getpid()})
    try:
        _become(json.loads(order_line), descriptor)
    except OSError as error:
        _send(descriptor, {"kind": "refused", "number": error.errno, "why": error.strerror})
    os._exit(127)


def _become(order: Mapping[str, Any], descriptor: int) -> None:
    # Python ignores these two, and a command would go on doing so.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    if (most := order["memory_limit_mb"]) is not None:
        _limit(resource.RLIMIT_AS, most * _MB, most * _MB)
    if (seconds := order["cpu_seconds"]) is not None:
        _limit(resource.RLIMIT_CPU, seconds, seconds + _CPU_GRACE_SECONDS)
    if order["run_as"] is not None:
        _change_user(order["run_as"])
    # As that user: the folder has to be open to it.
    if order["cwd"] is not None:
        os.chdir(order["cwd"])
    # All but input, output and errors; what tells the worker of a failure closes on the way.
    os.closerange(_FIRST_OTHER, descriptor)
    os.closerange(descriptor + 1, _highest_descriptor())
    os.execve(order["executable"], order["argv"], order["env"])


def _change_user(identity: Mapping[str, Any]) -> None:
    """Take on other ids for good. OSError if the system refuses."""
    if os.geteuid() != 0:
        return  # it is this user already, else the worker would not have ordered it
    uid, gid, supervisor = identity["uid"], identity["gid"], os.getppid()
    try:
        for output in (1, 2):  # so that the command can open /dev/stdout and /dev/stderr anew
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


def _limit(what: int, soft: int, hard: int) -> None:
    highest = resource.getrlimit(what)[1]
    if highest != resource.RLIM_INFINITY:
        soft, hard = min(soft, highest), min(hard, highest)
    resource.setrlimit(what, (soft, hard))


def _send(descriptor: int, message: Mapping[str, Any]) -> None:
    os.write(descriptor, json.dumps(message).encode() + b"\n")
