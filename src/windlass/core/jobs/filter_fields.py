"""Fields of a filter: what each means, which operators it takes, and how its values are read."""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from types import MappingProxyType
from typing import Literal, get_args

from windlass.core.durations import duration
from windlass.core.instants import in_utc
from windlass.core.jobs.models import ErrorClass, Source
from windlass.core.jobs.priority import HIGHEST, LOWEST, NAMES
from windlass.core.jobs.query import Operator, RelativeTime, TextPrefix, Value
from windlass.core.jobs.states import JobState, View
from windlass.errors import OptionInvalid
from windlass.ids import parse_job_id

FieldKind = Literal[
    "id", "choice", "name", "text", "number", "priority", "instant", "duration", "json"
]


@dataclass(frozen=True, slots=True)
class FilterField:
    """One field. `choices` are all its values, where they are few."""

    name: str
    kind: FieldKind
    means: str
    example: str
    choices: Sequence[str] = ()

    @property
    def operators(self) -> Sequence[Operator]:
        """The operators it takes."""
        return _OPERATORS[self.kind]

    @property
    def takes(self) -> str:
        """Its values in words."""
        return ", ".join(self.choices) if self.choices else TAKES[self.kind]


#: FieldKind -> what its values are.
TAKES: Mapping[FieldKind, str] = MappingProxyType(
    {
        "id": "whole ids",
        "choice": "one of a few words",
        "name": "a name; a `*` at its end stands for the rest of it",
        "text": "a part of the text, the case of A to Z does not count; `*` for any text",
        "number": "a whole number",
        "priority": "a whole number, or critical, high, normal, low",
        "instant": "an instant behind > >= < or <=, such as -2h, +30m, 2026-07-01 or 2026-07-01T10:00Z",
        "duration": "a duration behind > >= < or <=, such as 250ms, 30s or 1h30m",
        "json": "text (a `*` at its end stands for the rest), a number, true or false",
    }
)

_IS: Sequence[Operator] = ("is",)
_COMPARES: Sequence[Operator] = (">", ">=", "<", "<=")
_OPERATORS: Mapping[FieldKind, Sequence[Operator]] = MappingProxyType(
    {
        "id": _IS,
        "choice": _IS,
        "name": _IS,
        "text": _IS,
        "number": get_args(Operator),
        "priority": get_args(Operator),
        "instant": _COMPARES,
        "duration": _COMPARES,
        "json": get_args(Operator),
    }
)

_ALL = (
    FilterField(
        "state",
        "choice",
        "where the job rests, or a view of that",
        "state:dead_letter,retrying",
        (*JobState, *View),
    ),
    FilterField("definition", "name", "its definition's key", "definition:mail.*"),
    FilterField("queue", "name", "its queue", "-queue:bulk"),
    FilterField("tenant", "name", "its tenant", "tenant:acme"),
    FilterField("source", "choice", "what made it", "source:event", get_args(Source)),
    FilterField("by", "name", "who made it", "by:user:*"),
    FilterField("tag", "name", "a tag of its definition", "tag:vip"),
    FilterField("worker", "name", "the worker that runs it or ran it last", "worker:w-3"),
    FilterField("correlation", "name", "its correlation id", "correlation:order-17"),
    FilterField(
        "fingerprint", "name", "the cause of its failure, if dead-lettered", "-fingerprint:*"
    ),
    FilterField("priority", "priority", "its priority; lower runs first", "priority:<=high"),
    FilterField("attempts", "number", "attempts made", "attempts:>3"),
    FilterField("created", "instant", "when it was stored", "created:>-2h"),
    FilterField("due", "instant", "from when it may run", "due:<+1h"),
    FilterField("started", "instant", "when its last attempt began", "started:>=2026-07-01T10:00Z"),
    FilterField("finished", "instant", "when it ended", "finished:<-7d"),
    FilterField(
        "duration", "duration", "how long its last attempt took, or has run", "duration:>30s"
    ),
    FilterField("error", "text", "message and type of its last error", 'error:"timed out"'),
    FilterField(
        "error_class",
        "choice",
        "whether trying again may have helped",
        "error_class:permanent",
        get_args(ErrorClass),
    ),
    FilterField("reason", "text", "why it was canceled or set aside", "reason:expired"),
    FilterField("payload", "json", "a field of its payload, by its path", "payload.user_id:7"),
    FilterField("metadata", "json", "a field of its metadata, by its path", "metadata.order:7"),
    FilterField(
        "trigger",
        "id",
        "the schedule or trigger that made it",
        "trigger:01890a5d-ac96-774b-bcce-b3028c1f42d7",
    ),
    FilterField("id", "id", "the job itself", "id:01890a5d-ac96-774b-bcce-b3028c1f42d7"),
)

FIELDS: Mapping[str, FilterField] = MappingProxyType({field.name: field for field in _ALL})

#: The field that a word without a field is looked for in.
WORDS = FIELDS["error"]


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
