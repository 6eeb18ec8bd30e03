"""Suggestions for a filter that is being typed: fields, then the values of a field with counts."""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from types import MappingProxyType
from typing import Literal

from windlass.core.jobs.filter_fields import FIELDS, FilterField
from windlass.core.jobs.priority import NAMES
from windlass.core.monitoring.summary import CappedCount

#: Fields whose values are suggested for a word without a field.
WORD_FIELDS = ("state", "definition", "queue")
#: Kind -> typical values, for fields whose values nobody lists.
_TYPICAL: Mapping[str, Sequence[str]] = MappingProxyType(
    {
        "instant": (">-15m", ">-1h", ">-24h", ">-7d", "<-1h", "<-24h"),
        "duration": (">1s", ">10s", ">1m", ">10m"),
        "number": (">0", ">1", ">3", "0"),
        "priority": (*NAMES, "<=high"),
    }
)
#: Characters of a word that is looked for in what the fields mean.
_MEANING = 3
_FIELD = re.compile(r"([A-Za-z_][\w.$@-]*):")
_BARE = re.compile(r'[^\s,"*<>]+')


@dataclass(frozen=True, slots=True)
class KnownValue:
    """A value of a field. `count` is the number of jobs that have it, None if not counted."""

    value: str
    count: CappedCount | None = None


@dataclass(frozen=True, slots=True)
class Suggestion:
    """One way to go on. `insert` is the whole filter once it is taken: it ends with a space if the
    term is complete."""

    insert: str
    label: str
    kind: Literal["field", "value"]
    means: str = ""
    count: CappedCount | None = None


@dataclass(frozen=True, slots=True)
class TypedTerm:
    """The term at the end of a filter. Without a colon `name` is the word typed so far and `value` is
    None; `given` are values of the term that are complete."""

    before: str
    name: str
    value: str | None = None
    given: Sequence[str] = ()

    @property
    def field(self) -> FilterField | None:
        """The field whose value is being typed; None before the colon, or if there is none such."""
        return None if self.value is None else FIELDS.get(self.name)

    @property
    def fields(self) -> Sequence[str]:
        """Names of the fields whose values may be suggested."""
        if self.value is not None:
            return (self.name,) if self.field is not None else ()
        return WORD_FIELDS if self.name else ()


def typed_term(text: str) -> TypedTerm:
    """The term that is being typed at the end of a text."""
    start = _starts(text, str.isspace)[-1]
    if text.startswith("-", start):
        start += 1
    before, term = text[:start], text[start:]
    named = _FIELD.match(term)
    if named is None:
        return TypedTerm(before, term.lower())
    values = term[named.end() :]
    starts = _starts(values, ",".__eq__)
    given = tuple(values[one : other - 1] for one, other in pairwise(starts))
    return TypedTerm(before, named[1], values[starts[-1] :], given)


def suggest(
    term: TypedTerm,
    values: Mapping[str, Sequence[KnownValue]],
    *,
    hidden: Collection[str] = (),
    limit: int,
) -> Sequence[Suggestion]:
    """What may follow, best first. `values` are known values by field; `hidden` fields are never
    suggested."""
    if term.value is None:
        found = _for_word(term, values, hidden)
    elif term.field is None or term.name in hidden:
        found = iter(())
    else:
        found = _for_value(term, term.field, values.get(term.name, ()))
    return [suggestion for suggestion, _ in zip(found, range(limit), strict=False)]


def _for_word(
    term: TypedTerm, values: Mapping[str, Sequence[KnownValue]], hidden: Collection[str]
) -> Iterator[Suggestion]:
    fields = [field for field in FIELDS.values() if field.name not in hidden]
    named = [field for field in fields if field.name.startswith(term.name)]
    yield from (_field(term, field) for field in named)
    if not term.name:
        return
    for name in WORD_FIELDS:
        yield from (
            _value(term.before, f"{name}:", known)
            for known in _fitting(values.get(name, ()), term.name)
        )
    if len(term.name) >= _MEANING:
        meant = (field for field in fields if term.name in field.means and field not in named)
        yield from (_field(term, field) for field in meant)


def _for_value(
    term: TypedTerm, field: FilterField, known: Sequence[KnownValue]
) -> Iterator[Suggestion]:
    typed = (term.value or "").replace('"', "").removesuffix("*").lower()
    plain = field.choices or _TYPICAL.get(field.kind, ())
    kept = f"{field.name}:{''.join(f'{each},' for each in term.given)}"
    for each in _fitting(known or [KnownValue(value) for value in plain], typed):
        if each.value not in term.given:
            yield _value(term.before, kept, each, compares=field.kind in _TYPICAL)


def _fitting(known: Sequence[KnownValue], typed: str) -> Sequence[KnownValue]:
    """The values that contain what is typed, those that begin with it first."""
    found = [each for each in known if typed in each.value.lower()]
    return sorted(found, key=lambda each: not each.value.lower().startswith(typed))


def _field(term: TypedTerm, field: FilterField) -> Suggestion:
    name = f"{field.name}{'.' if field.kind == 'json' else ':'}"
    return Suggestion(f"{term.before}{name}", name, "field", field.means)


def _value(before: str, kept: str, known: KnownValue, *, compares: bool = False) -> Suggestion:
    value = known.value if compares or _BARE.fullmatch(known.value) else _quoted(known.value)
    return Suggestion(f"{before}{kept}{value} ", f"{kept}{known.value}", "value", count=known.count)


def _quoted(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _starts(text: str, separates: Callable[[str], bool]) -> Sequence[int]:
    """Positions at which parts of a text begin; separators in quotes do not count."""
    starts, quoted, escaped = [0], False, False
    for at, character in enumerate(text):
        if escaped:
            escaped = False
        elif quoted and character == "\\":
            escaped = True
        elif character == '"':
            quoted = not quoted
        elif not quoted and separates(character):
            starts.append(at + 1)
    return starts
