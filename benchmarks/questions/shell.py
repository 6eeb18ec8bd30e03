"""The command line on SQLite: how long a person waits."""

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.findings import Finding, alone
from benchmarks.measure import Figures
from benchmarks.stage import Stage
from tests.support.processes.shell import JOBS, Shell

QUESTION = "How long does a person wait at the command line?"
#: Commands that look, and what they are asked for.
_LINES: Mapping[str, Sequence[str]] = {
    "windlass --help": ("--help",),
    "windlass jobs list": ("jobs", "list"),
    "windlass doctor": ("doctor",),
}
_COMPLETED = "a definition completed by Tab"
_READY = "windlass dev, ready"
_FIRST = "an empty folder to a completed job on screen"


def ask(stage: Stage) -> Sequence[Finding]:
    with TemporaryDirectory() as folder:
        shell = Shell(Path(folder))
        shell.write("jobs.py", JOBS)
        shell.here("definitions", "sync", "jobs.py")
        _complete(shell)  # the first time asks, and the answer is kept
        figures = stage.alternate({"Windlass": lambda: _once(shell)})["Windlass"]
    measures = [*_LINES, _COMPLETED, _READY, _FIRST]
    return [alone(measure, figures, measure, "ms") for measure in measures]


def _once(shell: Shell) -> Figures:
    figures = {}
    for measure, line in _LINES.items():
        began = time.monotonic()
        shell.python("-m", "windlass.cli", *line)
        figures[measure] = _since(began)
    began = time.monotonic()
    _complete(shell)
    figures[_COMPLETED] = _since(began)
    return {**figures, **_first_job()}


def _complete(shell: Shell) -> None:
    asking = {
        "_WINDLASS_COMPLETE": "bash_complete",
        "COMP_WORDS": "windlass enqueue ",
        "COMP_CWORD": "2",
    }
    shell.python("-m", "windlass.cli", **asking)


def _first_job() -> Figures:
    """What a newcomer does, without the time in which they think and type."""
    with TemporaryDirectory() as folder:
        shell = Shell(Path(folder))
        began = time.monotonic()
        shell.write("jobs.py", JOBS)
        dev = shell.sit_at("dev", "jobs.py")
        dev.sees("Keys")
        ready = _since(began)
        dev.types("e")
        dev.sees("Enqueue")
        dev.types("\r")
        dev.sees("completed")
        done = _since(began)
        dev.types("q")
        dev.ends()
        shell.close()
    return {_READY: ready, _FIRST: done}


def _since(began: float) -> float:
    return (time.monotonic() - began) * 1_000
