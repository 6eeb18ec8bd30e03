"""Results of a question, stored as JSON until the page is written."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.goals import GOALS, Goal
from benchmarks.measure import Figures, Spread, of, ratio, spread

RESULTS = Path(__file__).parent / "results"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One measure: our figure, and where it is compared, the other side's and their ratio."""

    goal: str = ""
    measure: str
    unit: str
    ours: Spread
    other: str = ""
    theirs: Spread | None = None
    ratio: Spread | None = None

    @property
    def value(self) -> float:
        """What is held against the goal."""
        return (self.ratio or self.ours).median

    @property
    def bound(self) -> Goal | None:
        return GOALS.get(self.goal)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """All that one question found, and in what surroundings."""

    question: str
    name: str
    findings: Sequence[Finding]
    notes: Sequence[str] = ()
    versions: Mapping[str, str] = field(default_factory=dict)
    cores: int = 0

    def save(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        text = json.dumps(asdict(self), indent=2, ensure_ascii=False)
        (folder / f"{self.name}.json").write_text(text + "\n", "utf-8")


def load(folder: Path) -> list[Answer]:
    """The answers that were saved last, one for each question."""
    return [_answer(json.loads(file.read_text("utf-8"))) for file in sorted(folder.glob("*.json"))]


def alone(
    measure: str, figures: Sequence[Figures], name: str, unit: str, goal: str = ""
) -> Finding:
    """A figure of ours that is compared with nothing but its goal."""
    return Finding(measure=measure, unit=unit, ours=spread(of(figures, name)), goal=goal)


def compared(
    measure: str,
    ours: Sequence[Figures],
    theirs: Sequence[Figures],
    name: str,
    unit: str,
    *,
    other: str,
    goal: str = "",
) -> Finding:
    """One figure of both sides, taken in turn. There is no ratio to nothing."""
    a, b = of(ours, name), of(theirs, name)
    return Finding(
        goal=goal,
        measure=measure,
        unit=unit,
        ours=spread(a),
        other=other,
        theirs=spread(b),
        ratio=ratio(a, b) if all(b) else None,
    )


def _answer(saved: dict[str, Any]) -> Answer:
    return Answer(**{**saved, "findings": [_finding(each) for each in saved["findings"]]})


def _finding(saved: dict[str, Any]) -> Finding:
    spreads = {
        name: Spread(**saved[name]) if saved[name] else None for name in ("ours", "theirs", "ratio")
    }
    return Finding(**{**saved, **spreads})
