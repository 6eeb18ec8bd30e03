"""Signals during startup, and modules that end their process."""

import signal

import pytest

from tests.support.processes.shell import Shell
from windlass.cli.framework.exit_codes import Exit

# Many short sleeps: Python heeds a signal that comes right before a sleep only after it.
_HANGS = """
import sys, time
print("importing", flush=True)
while True:
    try:
        time.sleep(0.1)
    except BaseException:
        continue
"""
_RAISES = """
raise {error}
"""
_ENDS = "no job was running"


@pytest.mark.parametrize(
    "args",
    [
        ("worker",),
        ("scheduler",),
        ("serve", "--all", "--port", "0"),
        ("dev", "--no-reload"),
    ],
    ids=lambda args: args[0],
)
@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGTERM, Exit.OK), (signal.SIGINT, Exit.INTERRUPTED)]
)
def test_a_signal_during_an_import_that_hangs_ends_the_command_at_once(
    shell: Shell, args, number, code
):
    shell.write("slow.py", _HANGS)
    command, *options = args
    started = shell.start(command, "slow.py", *options)
    started.sees("importing")

    started.stop(number)

    assert started.ends() == code
    started.sees(_ENDS)
    assert "Traceback" not in started.text


def test_a_signal_while_dev_imports_ends_its_processes(shell: Shell):
    shell.write("slow.py", _HANGS)
    started = shell.start("dev", "slow.py")
    started.sees("importing")

    started.stop()

    assert started.ends() == 0
    started.sees("Stopping")
    assert "Traceback" not in started.text


@pytest.mark.parametrize("error", ["SystemExit(0)", "KeyboardInterrupt", "GeneratorExit"])
def test_a_module_that_ends_its_process_is_an_error_with_its_name(shell: Shell, error):
    shell.write("ends.py", _RAISES.format(error=error))
    started = shell.start("worker", "ends.py")

    assert started.ends() == Exit.USAGE
    started.sees("ends.py")
    assert "Traceback" not in started.text
