"""A command that starts processes of every kind and does not listen to SIGTERM: it runs until its
gate opens. `python -m tests.journeys.programs.process_tree <gate> --tenant-id <id>`."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from tests.support.processes.ledger import GATES, note


def main(gate: str, *about: str) -> None:
    signal.signal(signal.SIGTERM, lambda *_: note("asked to stop", gate=gate))
    child = subprocess.Popen(["sleep", "300"])
    apart = subprocess.Popen(["sleep", "300"], start_new_session=True)
    # The shell ends at once, and what it started has lost its parent.
    orphan = subprocess.run(
        ["sh", "-c", "setsid sleep 300 >/dev/null 2>&1 & echo $!"],
        stdout=subprocess.PIPE,
        check=True,
    )
    pids = [os.getpid(), os.getppid(), child.pid, apart.pid, int(orphan.stdout)]
    print("all are here", flush=True)
    note("started", gate=gate, pids=pids, about=about)
    while not Path(os.environ[GATES], gate).exists():
        time.sleep(0.02)


if __name__ == "__main__":
    main(*sys.argv[1:])
