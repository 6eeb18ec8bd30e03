"""Glyph, label and colours of each state and view, the same wherever people see it. Colour comes
third: a state is always shown by its glyph and its label."""

from collections.abc import Mapping
from typing import NamedTuple


class StateIcon(NamedTuple):
    glyph: str
    label: str
    #: The stored state, and what of it a view shows.
    stored_as: str
    #: Colour on a light surface, and on a dark one.
    light: str
    dark: str

    def __str__(self) -> str:
        return f"{self.glyph} {self.label}"


#: The stored states, and the views that divide the waiting ones.
STATE_ICONS: Mapping[str, StateIcon] = {
    "scheduled": StateIcon(
        "◷", "Scheduled", "queued, due later, not after a failure", "#460e66", "#b07ea7"
    ),
    "waiting": StateIcon("⧖", "Waiting", "pending: parent jobs or a hold", "#86859e", "#d1d1d2"),
    "queued": StateIcon("○", "Queued", "queued, due", "#105e63", "#5edafd"),
    "running": StateIcon("◐", "Running", "running", "#2862eb", "#487cfd"),
    "retrying": StateIcon(
        "↻", "Retrying", "queued after a failed, timed-out or lost attempt", "#bc7300", "#fdc933"
    ),
    "completed": StateIcon("✓", "Completed", "completed", "#219a73", "#3db08c"),
    "canceled": StateIcon("⊘", "Canceled", "canceled", "#292928", "#786961"),
    "dead_letter": StateIcon("✕", "Dead letter", "dead_letter", "#991905", "#e9581c"),
}
