"""Which jobs are meant: the value that every list, filter and bulk change shares.

A query is some terms, all of which have to hold. `core/jobs/filter.py` reads one from text and `str`
writes it, so that the text that comes back means the same.
"""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Literal
from uuid import UUID

from windlass.core import durations
from windlass.core.enum_options import one_of
from windlass.core.instants import instant
from windlass.core.jobs.fingerprint import check_fingerprint
from windlass.core.jobs.models import Source
from windlass.core.text import storable
from windlass.errors import OptionInvalid

Operator = Literal["is", ">", ">=", "<", "<="]

_PLAIN = re.compile(r'[^\s,"*\\<>][^\s,"*\\]*')


@dataclass(frozen=True, slots=True)
class TextPrefix:
    """Every text that begins so; the empty one is any text at all."""

    text: str


@dataclass(frozen=True, slots=True)
class RelativeTime:
    """An instant relative to now; the past is negative."""

    offset: timedelta


Value = str | int | float | UUID | datetime | timedelta | TextPrefix | RelativeTime


@dataclass(frozen=True, slots=True)
class FilterTerm:
    """One thing asked of one field: `is` one of the values, or compares so with the only one.

    A field without a value meets nothing, so that a negated term holds for it. Without values the
    term holds for no job. `path` leads into the payload or the metadata.
    """

    field: str
    values: tuple[Value, ...]
    operator: Operator = "is"
    negated: bool = False
    path: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The field as people write it."""
        return ".".join((self.field, *self.path))

    def __str__(self) -> str:
        compared = "" if self.operator == "is" else self.operator
        values = ",".join(map(_written, self.values))
        return f"{'-' if self.negated else ''}{self.name}:{compared}{values}"


@dataclass(frozen=True, slots=True)
class JobQuery:
    """Jobs for which all terms hold; without terms, all jobs."""

    terms: tuple[FilterTerm, ...] = ()

    @classmethod
    def of(
        cls,
        *,
        states: Collection[str] = (),
        definition: str | None = None,
        queue: str | None = None,
        source: str | None = None,
        correlation_id: str | None = None,
        created_by: str | None = None,
        fingerprint: str | None = None,
        created_after: datetime | None = None,
        created_before: datetime | None = None,
    ) -> "JobQuery":
        """The query of a few plain fields; those not given do not choose.

        `states` takes views too. An empty `fingerprint` means jobs without one. OptionInvalid for
        what no job can have: an instant without a zone, an unknown source, text with NUL.
        """
        if source is not None:
            one_of("source", source, Source)
        return cls(
            tuple(
                _terms(
                    states=states,
                    definition=definition,
                    queue=queue,
                    source=source,
                    correlation=correlation_id,
                    by=created_by,
                    fingerprint=fingerprint,
                    created_after=created_after,
                    created_before=created_before,
                )
            )
        )

    def __and__(self, other: "JobQuery") -> "JobQuery":
        """Jobs that both choose."""
        return JobQuery(self.terms + other.terms)

    def __str__(self) -> str:
        """The text that `filter.parse` reads as this query."""
        return " ".join(map(str, self.terms))

    @property
    def relative(self) -> bool:
        """True if it holds an instant that is relative to now."""
        return any(isinstance(value, RelativeTime) for term in self.terms for value in term.values)

    def at(self, now: datetime) -> "JobQuery":
        """The query with instants relative to `now` made absolute."""
        return JobQuery(
            tuple(
                replace(term, values=tuple(_at(value, now) for value in term.values))
                for term in self.terms
            )
        )


def _terms(
    *,
    states: Collection[str],
    fingerprint: str | None,
    created_after: datetime | None,
    created_before: datetime | None,
    **exact: str | None,
) -> Iterator[FilterTerm]:
    if states:
        yield FilterTerm("state", tuple(sorted(map(str, states))))
    for field, value in exact.items():
        if value is None:
            continue
        if storable(value) != value:
            raise OptionInvalid(field, value, allowed="text without NUL, as all stored text is")
        yield FilterTerm(field, (value,))
    if fingerprint == "":
        yield FilterTerm("fingerprint", (TextPrefix(""),), negated=True)
    elif fingerprint is not None:
        yield FilterTerm("fingerprint", (check_fingerprint(fingerprint),))
    if created_after is not None:
        yield FilterTerm("created", (instant("created_after", created_after),), ">")
    if created_before is not None:
        yield FilterTerm("created", (instant("created_before", created_before),), "<")


def _at(value: Value, now: datetime) -> Value:
    return now + value.offset if isinstance(value, RelativeTime) else value


def _written(value: Value) -> str:
    match value:
        case TextPrefix(text):
            return f"{_quoted(text) if text else ''}*"
        case RelativeTime(offset):
            return f"{'+' if offset > timedelta() else '-'}{durations.text(abs(offset))}"
        case datetime():
            return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
        case timedelta():
            return durations.text(value)
        case str():
            return _quoted(value)
        case _:
            return str(value)


def _quoted(text: str) -> str:
    if _PLAIN.fullmatch(text):
        return text
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
