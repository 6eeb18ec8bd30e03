"""Long-running commands end in good order, and survive signals, a closed terminal, a full disk."""

import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.processes.shell import JOBS, Shell, Started

_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_COMMANDS = ("worker", "dev")
_BY_NOHUP = ("env", "--ignore-signal=HUP")
#: Other tests serve at the same time.
_PORT = {"serve": ("--port", "0")}


@pytest.mark.parametrize("number", _ENDING, ids=lambda number: number.name)
@pytest.mark.parametrize("database", ["sqlite", "postgresql"], indirect=True)
@pytest.mark.parametrize("command", _COMMANDS)
def test_a_signal_lets_jobs_finish(shell_on: Callable[[str], Shell], database, command, number):
    shell = shell_on(database.url)
    started = shell.start(command, "jobs.py")
    id = _under_way(shell, started)

    started.stop(number)
    started.sees("Letting 1 running job finish")
    shell.write("gate", "open")

    assert started.ends() == 0
    assert _outcome(shell, id) == ("completed", 1)


@pytest.mark.parametrize("command", _COMMANDS)
def test_a_terminal_that_is_closed_lets_jobs_finish(shell: Shell, command):
    window = shell.sit_at(command, "jobs.py")
    id = _under_way(shell, window)

    window.hang_up()
    shell.write("gate", "open")

    assert window.ends() == 0
    assert _outcome(shell, id) == ("completed", 1)


@pytest.mark.parametrize("command", [*_COMMANDS, "scheduler", "serve"])
def test_a_command_started_with_nohup_outlives_its_terminal(shell: Shell, command):
    started = shell.start(command, "jobs.py", *_PORT.get(command, ()), before=_BY_NOHUP)
    started.sees(_READY[command])

    started.stop(signal.SIGHUP)
    shell.here("enqueue", "hello", "name=Ada")
    if command in _COMMANDS:
        shell.here("jobs", "wait", _newest(shell))
    alive = started.process.poll() is None
    started.stop()

    assert alive
    assert started.ends() == 0


@pytest.mark.parametrize("command", ["scheduler", "serve"])
@pytest.mark.parametrize("number", _ENDING, ids=lambda number: number.name)
def test_a_command_without_running_jobs_ends_at_a_signal(ready: Shell, command, number):
    started = ready.start(command, *_PORT.get(command, ()))
    started.sees(_READY[command])

    started.stop(number)

    assert started.ends() == 0


@pytest.mark.parametrize("command", _COMMANDS)
def test_a_full_disk_is_waited_out_and_loses_nothing(full: "SmallDisk", command):
    shell = full.shell
    started = shell.start(command, "jobs.py")
    id = _under_way(shell, started, gate=full.gate)

    full.fill()
    refused = shell.run("enqueue", "hello", "name=Ada")
    listed = shell.run("jobs", "list", "-o", "id")
    full.gate.write_text("open")
    started.sees("no room left")
    full.free()
    shell.here("jobs", "wait", id)
    accepted = shell.run("enqueue", "hello", "name=Ada", "--wait")
    started.stop()

    assert refused.code == 6
    assert refused.err.startswith("error[WL1105]:")
    assert "nothing was stored" in refused.err
    assert listed.lines == [id]
    assert accepted.code == 0
    assert _outcome(shell, id) == ("completed", 1)
    assert started.ends() == 0
    assert "All counts are right." in shell.here("db", "check").err


@pytest.mark.parametrize("command", _COMMANDS)
def test_a_log_that_cannot_be_written_stops_no_job(ready: Shell, command):
    id = ready.here("enqueue", "hello", "name=Ada").out.strip()
    running = ready.start(
        command, "jobs.py", before=("sh", "-c", 'exec "$@" >/dev/full 2>&1', "sh")
    )

    ready.here("jobs", "wait", id)
    running.stop()

    assert running.ends() == 0
    assert _outcome(ready, id) == ("completed", 1)


class SmallDisk:
    """A shell in a folder on a small disk of its own, with its database."""

    def __init__(self, shell: Shell, gate: Path) -> None:
        self.shell = shell
        self.gate = gate
        self._filler = shell.folder / "filler"

    def fill(self) -> None:
        with self._filler.open("wb", buffering=0) as filler:
            try:
                while True:
                    filler.write(bytes(1024))
            except OSError:
                return

    def free(self) -> None:
        self._filler.unlink()


@pytest.fixture
def full(tmp_path: Path) -> Iterator[SmallDisk]:
    folder = tmp_path / "disk"
    folder.mkdir()
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(folder)],
        check=False,
        capture_output=True,
        text=True,
    )
    if made.returncode:
        pytest.skip(f"a disk of one's own needs the right to mount one: {made.stderr.strip()}")
    shell = Shell(folder)
    shell.write("jobs.py", JOBS)
    try:
        yield SmallDisk(shell, tmp_path / "gate")
    finally:
        shell.close()
        subprocess.run(["umount", str(folder)], check=True)


#: What each says when it has begun.
_READY = {
    "worker": "Running",
    "dev": "development mode",
    "scheduler": "Scheduling",
    "serve": "The API is at",
}


def _under_way(shell: Shell, started: Started, *, gate: Path | None = None) -> str:
    """The id of a running job, which ends when the file `gate` exists."""
    started.sees(r"Running|development mode")
    file = os.fspath(gate or "gate")
    id = shell.here("enqueue", "wait_for", f"file={file}").out.strip()
    started.sees("waiting")
    return id


def _outcome(shell: Shell, id: str) -> tuple[str, int]:
    job = shell.here("jobs", "show", id, "--json").json
    return job["state"], job["attempts"]


def _newest(shell: Shell) -> str:
    return shell.here("jobs", "list", "-o", "id", "--limit", "1").lines[0]
