"""Ratios from alternating runs: the two sides share every disturbance of the machine."""

import json
import os
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
SIDES = Path(__file__).parent / "sides"

Figures = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Spread:
    """The median of the rounds' figures, and how far they lie apart."""

    median: float
    low: float
    high: float
    rounds: int

    def __str__(self) -> str:
        return f"{self.median:.2f} ({self.low:.2f}–{self.high:.2f}, {self.rounds} rounds)"


def spread(figures: Sequence[float]) -> Spread:
    """Sum up the rounds."""
    return Spread(statistics.median(figures), min(figures), max(figures), len(figures))


def ratio(ours: Sequence[float], theirs: Sequence[float]) -> Spread:
    """Compare figures taken in turn, round by round."""
    return spread([a / b for a, b in zip(ours, theirs, strict=True)])


def alternate(
    sides: Mapping[str, Callable[[], Figures]], *, rounds: int
) -> dict[str, list[Figures]]:
    """Run the sides in turn, each round beginning with another one."""
    names = list(sides)
    figures: dict[str, list[Figures]] = {name: [] for name in names}
    for number in range(rounds):
        first = number % len(names)
        for name in names[first:] + names[:first]:
            figures[name].append(sides[name]())
            print(f"  {number + 1}/{rounds} {name}: {_short(figures[name][-1])}", file=sys.stderr)
    return figures


def of(figures: Sequence[Figures], name: str) -> list[float]:
    """One figure of every round."""
    return [figure[name] for figure in figures]


def command(program: str, side: str, *args: str) -> list[str]:
    """How a side is started: a Python file, or a JavaScript file with its ending said."""
    file = side if "." in side else f"{side}.py"
    return [program, str(SIDES / file), *args]


def run_side(program: str, side: str, *args: str, timeout: float = 300) -> dict[str, Any]:
    """Run a side as a process of its own; its last line is its figures as JSON."""
    done = subprocess.run(
        command(program, side, *args),
        check=False,
        capture_output=True,
        text=True,
        timeout=timeout,
        env=_environment(),
    )
    if done.returncode:
        raise RuntimeError(f"{side} {args[0]} failed:\n{done.stderr[-4000:]}")
    return _last_line(done.stdout)


def run_together(commands: Sequence[Sequence[str]], *, timeout: float = 300) -> list[Figures]:
    """Start processes, let them begin at one moment when all are ready, and give their figures."""
    running = [_started(command) for command in commands]
    try:
        for process in running:
            _wait_until_ready(process)
        for process in running:
            assert process.stdin is not None
            process.stdin.write("go\n")
            process.stdin.flush()
        said = [process.communicate(timeout=timeout) for process in running]
    finally:
        for process in running:
            process.kill()
    for process, (_, errors) in zip(running, said, strict=True):
        if process.returncode:
            raise RuntimeError(f"{process.args!r} failed:\n{errors[-4000:]}")
    return [_last_line(out) for out, _ in said]


@contextmanager
def beside(*command: str) -> Iterator[None]:
    """Have a process run until the block ends; it says `ready` and goes when its input ends."""
    process = _started(command)
    try:
        _wait_until_ready(process)
        yield
        process.communicate(timeout=30)
    finally:
        process.kill()
        process.wait()


def _started(command: Sequence[str]) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=_environment(),
    )


def _wait_until_ready(process: "subprocess.Popen[str]") -> None:
    assert process.stdout is not None
    if process.stdout.readline().strip() != "ready":
        _, errors = process.communicate(timeout=30)
        raise RuntimeError(f"{process.args!r} did not start:\n{errors[-4000:]}")


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'src'}"}


def _last_line(out: str) -> dict[str, Any]:
    figures: dict[str, Any] = json.loads(out.splitlines()[-1])
    return figures


def _short(figures: Figures) -> str:
    return ", ".join(f"{name} {value:,.4g}" for name, value in figures.items())
