"""What people see for a state, wherever they see it: a glyph and a label. Colour comes third."""

from collections.abc import Mapping
from typing import NamedTuple


class Sign(NamedTuple):
    glyph: str
    label: str

    def __str__(self) -> str:
        return f"{self.glyph} {self.label}"


#: The stored states, and the views that tell the waiting ones apart.
SIGNS: Mapping[str, Sign] = {
    "scheduled": Sign("◷", "Scheduled"),
    "waiting": Sign("⧖", "Waiting"),
    "queued": Sign("○", "Queued"),
    "running": Sign("◐", "Running"),
    "retrying": Sign("↻", "Retrying"),
    "completed": Sign("✓", "Completed"),
    "canceled": Sign("⊘", "Canceled"),
    "dead_letter": Sign("✕", "Dead letter"),
}
