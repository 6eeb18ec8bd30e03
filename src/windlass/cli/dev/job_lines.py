"""Job output of `windlass dev`: one line when a job starts, logs or ends.

It is the telemetry of the app it watches, so it sees batches as the worker handles them.
"""

import contextlib
import json
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import Any

from windlass import clock
from windlass.cli.text.printing import write_lines
from windlass.cli.text.styles import LEVELS, RUNNING, STATES, StateLabel, one_line, percent, took
from windlass.core.jobs.models import DEFAULT_TENANT, LogLevel
from windlass.core.jobs.outcome import AttemptEnd
from windlass.core.jobs.states import JobState, Outcome
from windlass.core.leases.lease import Lease, LeaseRef
from windlass.core.leases.suspects import LostAttempt
from windlass.core.payloads.redact import Redactor
from windlass.errors.wording import printable, with_type
from windlass.ids import JobId, short
from windlass.telemetry import Telemetry

#: Further lines within a second are left out and counted.
_MOST_PER_SECOND = 150
_PROGRESS_SECONDS = 1.0
_RESULT_CHARACTERS = 60
_FRAME = re.compile(r'File "([^"]+)", line (\d+), in (\S+)')

_STARTED = StateLabel(RUNNING.glyph, "started", RUNNING.color)
_COMPLETED = StateLabel("✓", "completed", STATES["completed"].color)
_FAILED = StateLabel("↻", "failed", STATES["retrying"].color)
_DEAD = StateLabel("✕", "dead letter", STATES["dead_letter"].color)
_CANCELED = StateLabel("⊘", "canceled", STATES["canceled"].color)
_RELEASED = StateLabel("↩", "handed back", STATES["canceled"].color)
_SNOOZED = StateLabel("◷", "snoozed", STATES["scheduled"].color)
_SAID = StateLabel("│", "", "bright_black")
_WARNED = StateLabel("▲", "warning", "yellow")

Style = Callable[..., str]


class JobLines(Telemetry):
    """Prints the lines. `style` colours a text, or returns it unchanged."""

    def __init__(self, style: Style, *, redactor: Redactor, traces: bool = False) -> None:
        super().__init__()
        self._style = style
        self._redactor = redactor
        self._traces = traces
        self._running: dict[LeaseRef, tuple[Lease, float]] = {}
        self._progress_at: dict[JobId, float] = {}
        self._width, self._tenants = 12, 0
        self._writing = threading.Lock()
        self._second, self._written, self._left_out = 0, 0, 0

    def claimed(self, worker: str, leases: Sequence[Lease]) -> None:
        for lease in leases:
            self._running[lease.held] = lease, clock.monotonic()
            self._line(_STARTED, lease, self._tries(lease) if lease.attempts > 1 else "")

    def finished(
        self,
        finishes: Sequence[AttemptEnd],
        ended: Mapping[LeaseRef, JobState],
        who: Callable[[LeaseRef], Lease | None] = lambda held: None,
    ) -> None:
        for finish in finishes:
            held = finish.held
            lease, since = self._running.pop(held, (None, 0.0))
            self._progress_at.pop(finish.job_id, None)
            if lease is None:
                continue
            if held not in ended:
                self._line(_WARNED, lease, "its lease was lost, what it did is not recorded")
                continue
            after = timedelta(seconds=clock.monotonic() - since)
            look, details = self._ended(finish, ended[held], lease, after)
            self._line(look, lease, details)
            if self._traces and finish.error_trace:
                self._write(
                    *(self._style(line, dim=True) for line in _indented(finish.error_trace))
                )

    def reaped(self, lease: Any, state: JobState, loss: LostAttempt) -> None:
        self._write(
            f"{self._head(_WARNED)}{lease.definition}  {short(lease.job_id)}  its worker was lost; "
            f"now {STATES[state].label.lower()}"
        )

    def said(self, lease: Lease, level: LogLevel, message: str, fields: Mapping[str, Any]) -> None:
        about = " ".join(f"{name}={_field(value)}" for name, value in fields.items())
        color = LEVELS[level]
        text = one_line(self._redactor.redact_text(f"{message} {about}"))
        self._line(_SAID, lease, self._style(text, color) if color else text)

    def progressed(self, lease: Lease, fraction: float, note: str | None) -> None:
        now = clock.monotonic()
        if now - self._progress_at.get(lease.job_id, -_PROGRESS_SECONDS) < _PROGRESS_SECONDS:
            return
        self._progress_at[lease.job_id] = now
        done = round(fraction * 10)
        bar = "━" * done + self._style("─" * (10 - done), dim=True)
        self._line(_SAID, lease, f"{bar} {percent(fraction):>5} {one_line(note)}".rstrip())

    def note(self, event: str, **about: object) -> None:
        """Ignored: not worth a line here."""

    def warn(self, event: str, **about: object) -> None:
        details = " ".join(f"{name}={one_line(str(value))}" for name, value in about.items())
        self._write(f"{self._head(_WARNED)}{event} {details}")

    def _ended(
        self, finish: AttemptEnd, state: JobState, lease: Lease, after: timedelta
    ) -> tuple[StateLabel, str]:
        match state, finish.outcome:
            case JobState.COMPLETED, _:
                return _COMPLETED, f"{took(after)}  {self._result(finish.result)}".rstrip()
            case JobState.CANCELED, _:
                return _CANCELED, took(after)
            case JobState.DEAD_LETTER, _:
                return _DEAD, f"{self._tries(lease)}  {self._error(finish)}"
            case _, Outcome.RELEASED if finish.delay:
                return _SNOOZED, f"for {took(finish.delay)}"
            case _, Outcome.RELEASED:
                return _RELEASED, took(after)
            case _:
                again = self._style(f"next try in {took(finish.delay)}", dim=True)
                return _FAILED, f"{self._tries(lease)}  {self._error(finish)}  {again}"

    def _result(self, text: str | None) -> str:
        if text is None or text == "null":
            return ""
        shown = json.dumps(self._redactor.redact_value(json.loads(text)), ensure_ascii=False)
        cut = shown if len(shown) <= _RESULT_CHARACTERS else shown[: _RESULT_CHARACTERS - 1] + "…"
        return self._style(f"→ {cut}", dim=True)

    def _error(self, finish: AttemptEnd) -> str:
        frames = _FRAME.findall(finish.error_trace or "")
        where = ""
        if frames:
            file, line, _ = frames[-1]
            where = self._style(f"  {file.rpartition('/')[2]}:{line}", dim=True)
        return f"{one_line(with_type(finish.error_type, finish.error))}{where}"

    def _tries(self, lease: Lease) -> str:
        return f"try {lease.attempts}/{lease.max_attempts}"

    def _line(self, look: StateLabel, lease: Lease, details: str) -> None:
        self._width = max(self._width, min(28, len(lease.definition)))
        name = f"{printable(lease.definition):<{self._width}}"
        if look is not _SAID:
            name = self._style(name, bold=True)
        tenant = "" if lease.tenant == DEFAULT_TENANT else printable(lease.tenant)
        # With a single tenant the column would add nothing.
        self._tenants = max(self._tenants, min(16, len(tenant)))
        place = f"  {tenant:<{self._tenants}}" if self._tenants else ""
        id = self._style(f"{short(lease.job_id)}{place}", dim=True)
        self._write(f"{self._head(look)}{name}  {id}  {details}".rstrip())

    def _head(self, look: StateLabel) -> str:
        time = self._style(f"{clock.utcnow().astimezone():%H:%M:%S}", dim=True)
        return f"{time}  {self._style(f'{look.glyph} {look.label:<11}', look.color)}  "

    def _write(self, *lines: str) -> None:
        with self._writing:
            second = int(clock.monotonic())
            if second != self._second:
                if self._left_out:
                    self._print(self._style(f"… {self._left_out:,} more lines", dim=True))
                self._second, self._written, self._left_out = second, 0, 0
            self._written += 1
            if self._written > _MOST_PER_SECOND:
                self._left_out += 1
            else:
                self._print(*lines)

    def _print(self, *lines: str) -> None:
        with contextlib.suppress(
            OSError, ValueError
        ):  # the terminal is gone or closed; jobs continue
            write_lines(lines)


def _field(value: object) -> str:
    return value if isinstance(value, str) and " " not in value else json.dumps(value, default=str)


def _indented(trace: str) -> list[str]:
    return [f"          {line}" for line in trace.rstrip().split("\n")]
