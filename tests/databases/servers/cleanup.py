"""Ends a server and removes its directory once the process that asked for it is gone.

Run as a program of its own, with the directory as argument. It reads process ids from
standard input, one a line, each replacing the one before (0: none runs now). The end of
that input is the sign to clean up, and it comes however the other process ends: a stop in
good order, Ctrl-C, or SIGKILL.
"""

import os
import shutil
import signal
import sys
import time


def main(directory: str) -> None:
    pid = 0
    for line in sys.stdin:
        pid = int(line)
    if pid:
        end(pid)
    shutil.rmtree(directory, ignore_errors=True)


def end(pid: int) -> None:
    # SIGQUIT lets PostgreSQL free its shared memory, which SIGKILL would leave behind.
    for sign in (signal.SIGQUIT, signal.SIGKILL):
        try:
            os.kill(pid, sign)
        except ProcessLookupError:
            return
        deadline = time.monotonic() + 10
        while is_running(pid) and time.monotonic() < deadline:
            time.sleep(0.01)


def is_running(pid: int) -> bool:
    """True if `pid` is running; a zombie is not."""
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):  # before, or while it was read
        return False


if __name__ == "__main__":
    main(sys.argv[1])
