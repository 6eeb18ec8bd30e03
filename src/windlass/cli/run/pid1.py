"""PID 1 duties in a container: forward signals, reap orphans.

PID 1 has no default signal handling, and inherits every orphaned process. The work therefore runs
in a child, and PID 1 takes care of both.
"""

import os
import signal
from types import FrameType

_HANDED_ON = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1)


def run_as_child() -> int | None:
    """As PID 1: run the work in a child and return its exit code. In that child, or if not PID 1:
    return None, and the caller continues."""
    if os.getpid() != 1:
        return None
    return fork_and_wait()


def fork_and_wait() -> int | None:
    """Fork. The child gets None; this process waits for it and returns its exit code."""
    # Blocked until the handlers are set: a signal before that would be lost.
    signal.pthread_sigmask(signal.SIG_BLOCK, _HANDED_ON)
    child = os.fork()
    if child == 0:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _HANDED_ON)
        return None

    def hand_on(number: int, frame: FrameType | None) -> None:
        os.kill(child, number)

    for number in _HANDED_ON:
        signal.signal(number, hand_on)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _HANDED_ON)
    while True:
        ended, status = os.wait()
        if ended == child:
            code = os.waitstatus_to_exitcode(status)
            return code if code >= 0 else 128 - code
