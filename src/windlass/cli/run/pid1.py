"""Being a container's first process: hand signals on, and bury orphans.

The first process gets no default handling of signals, and every process whose parent is gone
becomes its child. The work is therefore done in a child, and this one minds both.
"""

import os
import signal
from types import FrameType

_HANDED_ON = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1)


def run_as_child() -> int | None:
    """In a container's first process: its exit code, once the work is done in a child. Elsewhere,
    and in that child: None, go on."""
    if os.getpid() != 1:
        return None
    return fork_and_wait()


def fork_and_wait() -> int | None:
    """Fork. The child gets None; this process minds it to its end and answers its exit code."""
    # Kept back until the handlers are there: a signal between would be lost.
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
