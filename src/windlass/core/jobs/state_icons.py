"""Glyph and label of each state and view, the same wherever people see it. Colour comes third."""

from collections.abc import Mapping
from typing import NamedTuple


class StateIcon(NamedTuple):
    glyph: str
    label: str

    def __str__(self) -> str:
        return f"{self.glyph} {self.label}"


#: The stored states, and the views that divide the waiting ones.
STATE_ICONS: Mapping[str, StateIcon] = {
    "scheduled": StateIcon("◷", "Scheduled"),
    "waiting": StateIcon("⧖", "Waiting"),
    "queued": StateIcon("○", "Queued"),
    "running": StateIcon("◐", "Running"),
    "retrying": StateIcon("↻", "Retrying"),
    "completed": StateIcon("✓", "Completed"),
    "canceled": StateIcon("⊘", "Canceled"),
    "dead_letter": StateIcon("✕", "Dead letter"),
}
