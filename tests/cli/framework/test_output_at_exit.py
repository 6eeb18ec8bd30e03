"""Output that cannot be written when a command ends."""

import os
import subprocess
import sys

#: Output has to wait in a buffer.
_BUFFERED = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
_ENDS_WITH_7 = """
import sys
from windlass.cli import main
main.run = lambda arguments: (sys.stdin.readline(), sys.stdout.write("unwritten"), 7)[-1]
main.main()
"""


def test_a_terminal_that_is_gone_does_not_change_the_exit_code():
    ours, terminal = os.openpty()
    with subprocess.Popen(
        [sys.executable, "-c", _ENDS_WITH_7],
        stdin=subprocess.PIPE,
        stdout=terminal,
        env=_BUFFERED,
        text=True,
    ) as process:
        os.close(terminal)
        os.close(ours)
        process.communicate("\n")

    assert process.returncode == 7


def test_a_full_disk_is_no_success():
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-c", _ENDS_WITH_7.replace("7)[-1]", "0)[-1]")],
            input="\n",
            stdout=full,
            env=_BUFFERED,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )

    assert done.returncode != 0
