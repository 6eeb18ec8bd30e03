"""Runs a command with the test databases ready, and removes them afterwards.

    python -m tests.databases run -- pytest -n 3

The servers' URLs are in the command's environment; WINDLASS_TEST_DATABASES limits which.
The exit code is the command's.
"""

import signal
import subprocess
import sys
from types import FrameType

from tests.databases.kinds import NoDatabase, requested_kinds
from tests.databases.scratch import use_memory
from tests.databases.servers.run import Servers


def main(arguments: list[str]) -> int:
    match arguments:
        case ["run", "--", *command] if command:
            pass
        case _:
            print(__doc__, file=sys.stderr)
            return 2
    use_memory()
    try:
        with Servers() as servers:
            servers.start(requested_kinds())
            return _run(command)
    except NoDatabase as error:
        print(f"no database, no test: {error}", file=sys.stderr)
        return 1


def _run(command: list[str]) -> int:
    with subprocess.Popen(command) as process:

        def forward(number: int, frame: FrameType | None) -> None:
            process.send_signal(number)

        # A terminal's Ctrl-C reaches the command too: it decides, we clean up after it.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, forward)
        signal.signal(signal.SIGHUP, forward)
        code = process.wait()
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
