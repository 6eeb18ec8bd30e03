"""Checks: what `windlass doctor` finds right and wrong, and what to do about it.

What is broken keeps jobs from being kept or run; a warning may, or will.
"""

from dataclasses import dataclass
from enum import StrEnum

from windlass.errors import WindlassError


class CheckLevel(StrEnum):
    OK = "ok"
    WARNING = "warning"
    BROKEN = "broken"


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at: a stable word for programs, a sentence, and how to mend it."""

    code: str
    level: CheckLevel
    sentence: str
    fix: str = ""


def ok(code: str, sentence: str) -> Check:
    return Check(code, CheckLevel.OK, sentence)


def warning(code: str, sentence: str, fix: str) -> Check:
    return Check(code, CheckLevel.WARNING, sentence, fix)


def broken(code: str, sentence: str, fix: str) -> Check:
    return Check(code, CheckLevel.BROKEN, sentence, fix)


def failed(code: str, error: WindlassError) -> Check:
    """A check that ended in an error."""
    told = " ".join(part for part in (error.message, error.reason) if part)
    return broken(code, told[:1].upper() + told[1:], error.hint)
