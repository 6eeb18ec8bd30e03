"""Reads a filter as people type it: one grammar for search box, URL, command line and API.

    state:dead_letter,retrying definition:mail.* attempts:>3 created:>-2h error:"timed out" -queue:bulk

Terms stand apart by spaces, and all have to hold. A term is a field, a colon and a value, several
values (one of which has to fit) with commas between them, or one behind `>`, `>=`, `<` or `<=`. A
`-` before the term turns it round. A term without a field is looked for in the error. Quotes keep
spaces, commas and stars; within them `\\"` is a quote and `\\\\` a backslash.

Reading takes time in proportion to the text, and the text is bounded. The first part that cannot be
understood is a FilterInvalid, which names it, where it stands and what could stand there.
"""

import re
from dataclasses import dataclass

from windlass.core.jobs.filter_fields import FIELDS, WORDS, FilterField, FilterText, value_of
from windlass.core.jobs.query import FilterTerm, JobQuery, Operator, Value
from windlass.errors import FilterInvalid
from windlass.errors.wording import listed, nearest

MOST_CHARACTERS = 4000
MOST_TERMS = 40
MOST_VALUES = 100
MOST_STEPS = 8

_SPACES = re.compile(r"\s*")
_NAME = re.compile(r"([A-Za-z_][\w.$@-]*):")
_COMPARISON = re.compile(r">=|<=|>|<")
_BARE = re.compile(r'[^\s,"]+')
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"(\*?)', re.DOTALL)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_GOES_ON = re.compile(r"[^\s,]")
_STEP = re.compile(r"[^\W\d][\w-]*")
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")


def parse(text: str) -> JobQuery:
    """The query that a text means; nothing means all jobs."""
    if len(text) > MOST_CHARACTERS:
        raise FilterInvalid(
            text[MOST_CHARACTERS:],
            f"the filter has {len(text):,} characters, the limit is {MOST_CHARACTERS:,}",
            at=MOST_CHARACTERS,
            hint="Ask for less at a time.",
        )
    if bad := _UNSTORABLE.search(text):
        raise FilterInvalid(
            bad[0],
            "this character cannot be in any text that is stored",
            at=bad.start(),
            hint="Leave it out.",
        )
    reader = _Reader(text)
    terms: list[FilterTerm] = []
    while reader.skip_spaces():
        if len(terms) == MOST_TERMS:
            raise reader.refused(
                f"the filter has more than {MOST_TERMS} terms", hint="Ask for less at a time."
            )
        terms.append(reader.term())
    return JobQuery(tuple(terms))


@dataclass(slots=True)
class _Reader:
    """A text and how far it is read."""

    text: str
    at: int = 0

    def skip_spaces(self) -> bool:
        """Go to the next term, if there is one."""
        self._take(_SPACES)
        return self.at < len(self.text)

    def term(self) -> FilterTerm:
        negated = self.text.startswith("-", self.at)
        if negated:
            self.at += 1
        began = self.at
        named = self._take(_NAME)
        if named is None:
            return FilterTerm(WORDS.name, self._values(WORDS, "is"), negated=negated)
        field, path = self._field(named[1], began)
        compared = self._take(_COMPARISON)
        operator: Operator = compared[0] if compared else "is"  # type: ignore[assignment]  # the pattern has no others
        if operator not in field.operators:
            self.at = compared.start() if compared else self.at
            raise self.refused(
                f"{field.name} takes {field.takes}", hint=f"Write it like `{field.example}`."
            )
        return FilterTerm(field.name, self._values(field, operator), operator, negated, path)

    def refused(self, problem: str, *, hint: str) -> FilterInvalid:
        """The error for the next token."""
        part = _BARE.match(self.text, self.at)
        return FilterInvalid(
            part[0] if part else self.text[self.at : self.at + 1], problem, at=self.at, hint=hint
        )

    def _field(self, name: str, at: int) -> tuple[FilterField, tuple[str, ...]]:
        root, *path = name.split(".")
        field = FIELDS.get(root)
        if field is None:
            near = nearest(root, list(FIELDS))
            raise FilterInvalid(
                name,
                "there is no such field",
                at=at,
                hint=(f"Did you mean `{near}`? " if near else "")
                + f"There are {listed(list(FIELDS))}. To look for text with a colon, quote it.",
            )
        if field.kind != "json" and path:
            raise FilterInvalid(
                name, f"{field.name} has no fields in it", at=at, hint=f"Write `{field.example}`."
            )
        if field.kind == "json" and not (
            0 < len(path) <= MOST_STEPS and all(map(_STEP.fullmatch, path))
        ):
            raise FilterInvalid(
                name,
                f"behind {field.name} go 1 to {MOST_STEPS} names with dots between them, "
                "none of which begins with a digit",
                at=at,
                hint=f"Write it like `{field.example}`.",
            )
        return field, tuple(path)

    def _values(self, field: FilterField, operator: Operator) -> tuple[Value, ...]:
        values = [self._value(field, operator)]
        while self.text.startswith(",", self.at):
            if operator != "is":
                raise self.refused(
                    f"behind {operator} stands one value", hint="Write a term for each."
                )
            if len(values) == MOST_VALUES:
                raise self.refused(
                    f"a term has at most {MOST_VALUES} values", hint="Ask for less at a time."
                )
            self.at += 1
            values.append(self._value(field, operator))
        return tuple(dict.fromkeys(values))

    def _value(self, field: FilterField, operator: Operator) -> Value:
        at = self.at
        written = self._written()
        problem = None
        if _GOES_ON.match(self.text, self.at):
            problem = (
                "a quote can stand only around a whole value" if written else "the quote has no end"
            )
        elif written is None:
            problem = "a value is missing"
        elif "*" in written.text and not written.quoted:
            problem = "a * can stand only at the end, or in quotes"
        if problem is None and written is not None:
            value = value_of(field, operator, written)
            if value is not None:
                return value
            problem = f"{field.name} takes {field.takes}"
        near = nearest(written.text, field.choices) if written and field.choices else None
        raise FilterInvalid(
            self.text[at : self.at] or self.text[at : at + 1],
            problem or "",
            at=at,
            hint=(f"Did you mean `{near}`? " if near else "") + f"Write it like `{field.example}`.",
        )

    def _written(self) -> FilterText | None:
        if quoted := self._take(_QUOTED):
            return FilterText(_ESCAPED.sub(r"\1", quoted[1]), quoted=True, begins=quoted[2] == "*")
        if bare := self._take(_BARE):
            return FilterText(bare[0].removesuffix("*"), begins=bare[0].endswith("*"))
        return None

    def _take(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        found = pattern.match(self.text, self.at)
        if found:
            self.at = found.end()
        return found
