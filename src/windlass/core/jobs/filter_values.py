"""Reads one value of a filter, by the kind of its field."""

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from types import MappingProxyType

from windlass.core.durations import duration
from windlass.core.instants import in_utc
from windlass.core.jobs.filter_fields import FieldKind, FilterField
from windlass.core.jobs.priority import HIGHEST, LOWEST, NAMES
from windlass.core.jobs.query import Operator, RelativeTime, TextPrefix, Value
from windlass.errors import OptionInvalid
from windlass.ids import parse_job_id

_WHOLE = re.compile(r"-?\d{1,9}", re.ASCII)
_NUMBER = re.compile(r"-?\d{1,30}(\.\d{1,30})?([eE][+-]?\d{1,3})?", re.ASCII)
_INSTANT = re.compile(
    r"\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,6})?)?(Z|[+-]\d\d:\d\d)?)?", re.ASCII
)


@dataclass(frozen=True, slots=True)
class FilterText:
    """A value as it was typed. `begins`: a star was behind it."""

    text: str
    quoted: bool = False
    begins: bool = False


def value_of(field: FilterField, operator: Operator, written: FilterText) -> Value | None:
    """The parsed value; None if a field of this kind has no such value."""
    if written.begins:
        return _prefix(field, operator, written)
    if written.quoted and field.kind not in ("name", "text", "json"):
        return None
    return _READERS[field.kind](field, operator, written.text)


def instant_of(text: str) -> datetime | RelativeTime | None:
    """The instant that is written so: `-2h`, `+30m`, `2026-07-01`, `2026-07-01T10:00Z`."""
    if text[:1] in ("-", "+"):
        offset = _timedelta(text[1:])
        if offset is None:
            return None
        return RelativeTime(-offset if text[0] == "-" else offset)
    if not _INSTANT.fullmatch(text):
        return None
    try:
        read = datetime.fromisoformat(text)
    except ValueError:
        return None
    return in_utc(read if read.tzinfo else read.replace(tzinfo=UTC))


def _prefix(field: FilterField, operator: Operator, written: FilterText) -> TextPrefix | None:
    # A text is looked for anywhere in the field already.
    may = operator == "is" and (
        field.kind in ("name", "json") or (field.kind == "text" and not written.text)
    )
    return TextPrefix(written.text) if may else None


def _id(field: FilterField, operator: Operator, text: str) -> Value | None:
    return parse_job_id(text)


def _choice(field: FilterField, operator: Operator, text: str) -> Value | None:
    return text if text in field.choices else None


def _text(field: FilterField, operator: Operator, text: str) -> Value | None:
    return text or None


def _whole(field: FilterField, operator: Operator, text: str) -> Value | None:
    return int(text) if _WHOLE.fullmatch(text) else None


def _priority(field: FilterField, operator: Operator, text: str) -> Value | None:
    if text in NAMES:
        return NAMES[text]
    number = int(text) if _WHOLE.fullmatch(text) else None
    return number if number is not None and LOWEST <= number <= HIGHEST else None


def _instant(field: FilterField, operator: Operator, text: str) -> Value | None:
    return instant_of(text)


def _duration(field: FilterField, operator: Operator, text: str) -> Value | None:
    return _timedelta(text)


def _timedelta(text: str) -> timedelta | None:
    try:
        return duration(text)
    except OptionInvalid:
        return None


def _json(field: FilterField, operator: Operator, text: str) -> Value | None:
    if operator == "is":
        return text
    number = float(text) if _NUMBER.fullmatch(text) else math.inf
    return number if math.isfinite(number) else None


_READERS: Mapping[FieldKind, Callable[[FilterField, Operator, str], Value | None]] = (
    MappingProxyType(
        {
            "id": _id,
            "choice": _choice,
            "name": _text,
            "text": _text,
            "number": _whole,
            "priority": _priority,
            "instant": _instant,
            "duration": _duration,
            "json": _json,
        }
    )
)
