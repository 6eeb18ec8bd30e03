"""Ratios from alternating runs: the two sides share every disturbance of the machine."""

import json
import statistics
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SIDES = Path(__file__).parent / "sides"


@dataclass(frozen=True, slots=True)
class Ratio:
    """The median of one side's figure over the other's, round by round, and their spread."""

    median: float
    low: float
    high: float
    rounds: int

    def __str__(self) -> str:
        return f"{self.median:.2f} ({self.low:.2f}–{self.high:.2f}, {self.rounds} rounds)"


def ratio(ours: Sequence[float], theirs: Sequence[float]) -> Ratio:
    """Compare figures taken in turn."""
    each = sorted(a / b for a, b in zip(ours, theirs, strict=True))
    return Ratio(statistics.median(each), each[0], each[-1], len(each))


def alternate(
    sides: Mapping[str, Callable[[], Mapping[str, float]]], *, rounds: int
) -> dict[str, list[Mapping[str, float]]]:
    """Run the sides in turn, each round beginning with another one."""
    names = list(sides)
    figures: dict[str, list[Mapping[str, float]]] = {name: [] for name in names}
    for number in range(rounds):
        first = number % len(names)
        for name in names[first:] + names[:first]:
            figures[name].append(sides[name]())
            print(f"  {number + 1}/{rounds} {name}: {_short(figures[name][-1])}", file=sys.stderr)
    return figures


def of(figures: Sequence[Mapping[str, float]], name: str) -> list[float]:
    """One figure of every round."""
    return [figure[name] for figure in figures]


def run_side(python: str, side: str, *args: str, timeout: float = 300) -> dict[str, Any]:
    """Run a side as a process of its own; its last line is its figures as JSON."""
    done = subprocess.run(
        [python, str(SIDES / f"{side}.py"), *args],
        check=False,
        capture_output=True,
        text=True,
        timeout=timeout,
    )
    if done.returncode:
        raise RuntimeError(f"{side} {' '.join(args)} failed:\n{done.stderr[-4000:]}")
    figures: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return figures


def _short(figures: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {value:,.4g}" for name, value in figures.items())
