"""Target ratios: `engine` is due with the engine, `all` is the final goal."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Goal:
    """A bound for a measure; None where there is none."""

    bound: Literal["≥", "≤"]
    engine: float | None
    all: float | None

    def met_by(self, value: float, limit: float | None) -> bool | None:
        """Whether `value` keeps `limit`; None if there is nothing to keep."""
        if limit is None:
            return None
        return value >= limit if self.bound == "≥" else value <= limit


GOALS: Mapping[str, Goal] = {
    "P1": Goal("≥", 1.5, 2.5),
    "P2": Goal("≥", None, 1.0),
    "P3": Goal("≥", 0.5, 0.75),
    "P4": Goal("≥", 1.5, 3.0),
    "P5": Goal("≥", 0.8, 0.95),
    "P6": Goal("≥", 0.95, 0.97),
    "P7": Goal("≤", 2.0, 1.2),
    "P8": Goal("≥", 0.85, 0.95),
    "P8 rounds": Goal("≤", 2.0, 2.0),
    "P9": Goal("≥", 0.8, 0.95),
    "P9 keys": Goal("≥", None, 0.8),
    "P10 p50": Goal("≤", 1.0, 0.6),
    "P10 p99": Goal("≤", 1.0, 0.5),
    "P11": Goal("≥", 1.0, 1.5),
    "P12": Goal("≥", 8.0, 15.0),
    "P13": Goal("≥", 0.8, 1.5),
    "P14": Goal("≥", 0.9, 0.97),
    "P15 queries": Goal("≤", 2.0, 1.5),
    "P15 cpu": Goal("≤", 0.5, 0.2),
    "P15 memory": Goal("≤", 80.0, 55.0),
    "P16": Goal("≥", 4.0, 10.0),
    "P17": Goal("≥", 0.4, 1.0),
    "P17 deadlocks": Goal("≤", 0.0, 0.0),
    "P18": Goal("≤", 0.7, 0.4),
    "P20": Goal("≤", 1200.0, 900.0),
    # Seconds of CPU of a command's whole process: its help, and a read of a local database.
    "C1": Goal("≤", 0.12, 0.12),
    "C2": Goal("≤", 0.35, 0.35),
    # Seconds until work goes on, as promised (docs/explain/promises.md).
    "R1": Goal("≤", 45.0, 45.0),
    "R2": Goal("≤", 5.0, 5.0),
    "R3": Goal("≤", 15.0, 15.0),
}
