"""The fields a filter may name: what each means and what can be asked of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, get_args

from windlass.core.jobs.models import ErrorClass, Source
from windlass.core.jobs.query import Operator
from windlass.core.jobs.states import JobState, View

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
    FilterField("id", "id", "the job itself", "id:01890a5d-ac96-774b-bcce-b3028c1f42d7"),
)

FIELDS: Mapping[str, FilterField] = MappingProxyType({field.name: field for field in _ALL})

#: The field that a word without a field is looked for in.
WORDS = FIELDS["error"]
