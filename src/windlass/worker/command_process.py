"""The process of a command, until it becomes the command: what the keeper runs after its fork."""

import json
import os
import resource
import signal
from collections.abc import Mapping
from typing import Any

_MB = 1024 * 1024
#: Between the signal that a command may handle and the one that it cannot.
_CPU_GRACE_SECONDS = 5


def main(order_line: bytes, descriptor: int) -> None:
    """Become the command that is ordered. Only if that fails, tell why and end."""
    _tell(descriptor, {"kind": "started", "pid": os.getpid()})
    try:
        _become(json.loads(order_line))
    except OSError as error:
        _tell(descriptor, {"kind": "refused", "number": error.errno, "why": error.strerror})
    os._exit(127)


def _become(order: Mapping[str, Any]) -> None:
    # Python ignores these two, and a command would go on doing so.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    if order["cwd"] is not None:
        os.chdir(order["cwd"])
    if (most := order["memory_limit_mb"]) is not None:
        _limit(resource.RLIMIT_AS, most * _MB, most * _MB)
    if (seconds := order["cpu_seconds"]) is not None:
        _limit(resource.RLIMIT_CPU, seconds, seconds + _CPU_GRACE_SECONDS)
    # What is not passed on purpose is closed on the way: Python opens nothing else inheritably.
    os.execve(order["executable"], order["argv"], order["env"])


def _limit(what: int, soft: int, hard: int) -> None:
    highest = resource.getrlimit(what)[1]
    if highest != resource.RLIM_INFINITY:
        soft, hard = min(soft, highest), min(hard, highest)
    resource.setrlimit(what, (soft, hard))


def _tell(descriptor: int, message: Mapping[str, Any]) -> None:
    os.write(descriptor, json.dumps(message).encode() + b"\n")
