"""The command line on SQLite: how long a person waits, and what a command costs."""

import resource
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.findings import Finding, alone
from benchmarks.measure import Figures
from benchmarks.stage import Stage
from tests.support.processes.shell import JOBS, Shell

QUESTION = "How long does a person wait at the command line?"
#: Commands whose wait is measured, in milliseconds.
_LINES: Mapping[str, Sequence[str]] = {
    "windlass --help": ("--help",),
    "windlass jobs list": ("jobs", "list"),
    "windlass doctor": ("doctor",),
}
_CPU_OF_HELP = "windlass --help, CPU"
#: Commands that read a local database, whose CPU is measured. `{job}` is one that is there.
_READS = (
    "jobs list", "jobs show {job}", "jobs explain {job}", "dead groups", "definitions list",
    "definitions show hello", "schedules list", "events list", "queues list", "workers list",
    "logs search hello", "tenants list", "audit list", "doctor",
)  # fmt: skip
_COMPLETED = "a definition completed by Tab"
_READY = "windlass dev, ready"
_FIRST = "an empty folder to a completed job on screen"


def ask(stage: Stage) -> Sequence[Finding]:
    with TemporaryDirectory() as folder:
        shell = Shell(Path(folder))
        shell.write("jobs.py", JOBS)
        shell.here("definitions", "sync", "jobs.py")
        [job] = shell.here("enqueue", "hello", "name=Ada", "-o", "id").lines
        _complete(shell)  # the first time asks, and the answer is kept
        figures = stage.alternate({"Windlass": lambda: _once(shell, job)})["Windlass"]
    measures = [*_LINES, _COMPLETED, _READY, _FIRST]
    reads = [alone(each, figures, each, "s", goal="C2") for each in map(_cpu_of, _READS)]
    return [
        alone(_CPU_OF_HELP, figures, _CPU_OF_HELP, "s", goal="C1"),
        *reads,
        *(alone(measure, figures, measure, "ms") for measure in measures),
    ]


def _once(shell: Shell, job: str) -> Figures:
    figures = {_CPU_OF_HELP: _cpu_seconds(shell, "--help")}
    for read in _READS:
        figures[_cpu_of(read)] = _cpu_seconds(shell, *read.format(job=job).split())
    for measure, line in _LINES.items():
        began = time.monotonic()
        shell.python("-m", "windlass.cli", *line)
        figures[measure] = _since(began)
    began = time.monotonic()
    _complete(shell)
    figures[_COMPLETED] = _since(began)
    return {**figures, **_first_job()}


def _cpu_of(line: str) -> str:
    return f"windlass {line.format(job='JOB')}, CPU"


def _cpu_seconds(shell: Shell, *args: str) -> float:
    """User and system time of a whole process, which a busy machine lengthens little."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    shell.python("-m", "windlass.cli", *args)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


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
