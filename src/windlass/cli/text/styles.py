"""Labels, glyphs and colours of output for people.

A state always has a glyph and a label; colour comes third. Colours are the terminal's own sixteen,
which fit light and dark themes.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from windlass.core.durations import words
from windlass.core.jobs.state_icons import STATE_ICONS


@dataclass(frozen=True, slots=True)
class StateLabel:
    glyph: str
    label: str
    color: str

    def __str__(self) -> str:
        return f"{self.glyph} {self.label}"


_COLORS: Mapping[str, str] = {
    "scheduled": "magenta",
    "waiting": "white",
    "queued": "cyan",
    "running": "blue",
    "retrying": "yellow",
    "completed": "green",
    "canceled": "bright_black",
    "dead_letter": "red",
}
STATES: Mapping[str, StateLabel] = {
    name: StateLabel(icon.glyph, icon.label, _COLORS[name]) for name, icon in STATE_ICONS.items()
}

OUTCOMES: Mapping[str, StateLabel] = {
    "succeeded": StateLabel("✓", "Succeeded", "green"),
    "failed": StateLabel("✕", "Failed", "red"),
    "timed_out": StateLabel("◷", "Timed out", "red"),
    "canceled": StateLabel("⊘", "Canceled", "bright_black"),
    "lost": StateLabel("✕", "Worker lost", "red"),
    "released": StateLabel("↩", "Handed back", "bright_black"),
}

RUNNING = STATES["running"]

#: Results of the doctor's checks.
CHECKS: Mapping[str, StateLabel] = {
    "ok": StateLabel("✓", "ok", "green"),
    "warning": StateLabel("▲", "warning", "yellow"),
    "broken": StateLabel("✕", "broken", "red"),
}

ENABLED, DISABLED = StateLabel("●", "Enabled", "green"), StateLabel("◌", "Disabled", "bright_black")
OPEN, PAUSED = StateLabel("●", "Open", "green"), StateLabel("❚❚", "Paused", "yellow")

LIVENESS: Mapping[str, StateLabel] = {
    "live": StateLabel("●", "Live", "green"),
    "stale": StateLabel("▲", "Stale", "yellow"),
    "lost": StateLabel("✕", "Lost", "red"),
}

#: States of a live worker that claims no more jobs, or was ordered to stop claiming.
DRAINING: Mapping[str, StateLabel] = {
    "drain": StateLabel("❚❚", "Draining", "yellow"),
    "stop": StateLabel("■", "Stopping", "yellow"),
}

LEVELS: Mapping[str, str] = {"debug": "bright_black", "info": "", "warn": "yellow", "error": "red"}


def state_of(job: Mapping[str, Any]) -> StateLabel:
    """The label of a job's state; a running job with a cancel request shows that."""
    look = STATES[job["view"]]
    if job["state"] == "running" and job["cancel_requested_at"]:
        return StateLabel(look.glyph, "Canceling…", look.color)
    return look


def worker_state(worker: Mapping[str, Any]) -> StateLabel:
    """The state of a worker; one that was ordered to drain shows that, even before it has
    noticed."""
    orders = {worker["wanted"], worker["doing"]}
    order = next((order for order in ("stop", "drain") if order in orders), None)
    return (
        DRAINING[order] if order and worker["liveness"] == "live" else LIVENESS[worker["liveness"]]
    )


def enabled_of(thing: Mapping[str, Any]) -> StateLabel:
    """The label of a definition or trigger: enabled or disabled."""
    return ENABLED if thing["enabled"] else DISABLED


def value_of(value: object) -> str:
    """A JSON value over several lines; nothing for null."""
    return "" if value is None else json.dumps(value, ensure_ascii=False, indent=2)


def tenant_of(thing: Mapping[str, Any]) -> str:
    """The tenant of a thing; empty with a single tenant, where it adds nothing."""
    return str(thing["tenant_id"]) if thing["tenant_id"] != "default" else ""


def one_line(text: str | None) -> str:
    """The first line of a text."""
    return (text or "").strip().partition("\n")[0]


def moment(text: str | None) -> datetime | None:
    """Parse an instant of the API."""
    return None if text is None else datetime.fromisoformat(text)


def ago(at: datetime | None, now: datetime) -> str:
    """A relative time in its largest unit: "4 s ago", "in 2 min"."""
    if at is None:
        return ""
    if at > now:
        return f"in {coarse(at - now)}"
    return "now" if now - at < timedelta(seconds=1) else f"{coarse(now - at)} ago"


def took(length: timedelta) -> str:
    """A duration for people: "27 ms", "1.4 s", "2 min 5 s"."""
    if timedelta(seconds=1) <= length < timedelta(seconds=59.95):
        return f"{length.total_seconds():.1f} s"
    return words(length)


def slots_of(worker: Mapping[str, Any], running: int | None = None) -> str:
    """A worker's slots in use: by its last heartbeat, or by its `running` jobs, which are newer."""
    return f"{worker['slots_used'] if running is None else running}/{worker['slots']}"


def run_time(job: Mapping[str, Any], now: datetime) -> str:
    """The run time of a job's last attempt, until now if it is running; empty if it never ran."""
    started, until = moment(job["last_started_at"]), moment(job["finished_at"]) or now
    return took(max(until - started, timedelta())) if started else ""


def percent(fraction: float) -> str:
    return f"{fraction:.0%}".replace("%", " %")


def coarse(length: timedelta) -> str:
    """A duration in its largest unit: "38 s", "6 min"."""
    return " ".join(words(length).split()[:2])
