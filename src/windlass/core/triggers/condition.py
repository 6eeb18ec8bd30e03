"""Conditions on an event's data: `{"status": "published", "size": {"gt": 1000}}`.

Every field named has to meet what is asked of it. A field is a path such as `changed.status.to`; what
is asked is a plain value to be equal to, or an object of operators, all of which have to hold:

    eq, ne                  equal, not equal
    in, not_in              one of a list, none of it
    starts_with, ends_with  of texts
    contains                a text within a text, or a value within a list
    gt, gte, lt, lte        of two numbers, or of two texts in the order of their characters
    exists                  true: the field is there, null included; false: it is not

What is asked of a field that is not there does not hold, `ne` and `not_in` included; only `exists`
asks about that. Values of different types are never equal: 1 is 1.0, but not "1" and not true.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from windlass.core.payloads.field_path import MISSING, Path, look_up, path_problem
from windlass.core.payloads.json_text import dump_json, load_json, size_of
from windlass.core.triggers.condition_text import in_words
from windlass.errors import ConditionInvalid, FieldError, PayloadUnstorable
from windlass.errors.wording import json_pointer, listed, nearest, quoted

#: Bytes of JSON text, fields in it, values in one list.
CONDITION_LIMIT = 16 * 1024
MOST_FIELDS = 32
MOST_VALUES = 100
MOST_ERRORS = 20


@dataclass(frozen=True, slots=True)
class _Comparison:
    """One thing asked of one field."""

    path: Path
    operator: str
    operand: Any

    def holds(self, data: Any) -> bool:
        value = look_up(data, self.path)
        if self.operator == "exists":
            return (value is not MISSING) is self.operand
        return value is not MISSING and _PREDICATES[self.operator](value, self.operand)


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition that can be asked."""

    _asked: tuple[_Comparison, ...]

    def holds(self, data: Any) -> bool:
        """True if an event's data meet the condition. Never raises."""
        return all(asked.holds(data) for asked in self._asked)

    def failing(self, data: Any) -> str:
        """The failing parts of the condition for an event's data, in words; empty if it holds."""
        return Condition(tuple(a for a in self._asked if not a.holds(data))).words(none="")

    def words(self, *, none: str = "always") -> str:
        """The condition as people say it: `status is "published", and size is more than 1000`."""
        if not self._asked:
            return none
        return ", and ".join(
            in_words(".".join(asked.path), asked.operator, asked.operand) for asked in self._asked
        )


def parse(condition: object) -> Condition:
    """Read a condition; ConditionInvalid names every place in it that cannot be used."""
    fields = _bounded(condition)
    asked: list[_Comparison] = []
    errors: list[FieldError] = []
    for name, wanted in fields.items():
        if problem := path_problem(name):
            errors.append(FieldError(json_pointer([name]), problem))
            continue
        operators = wanted if isinstance(wanted, dict) else {"eq": wanted}
        if not operators:
            errors.append(FieldError(json_pointer([name]), "asks nothing; give a value"))
        for operator, operand in operators.items():
            if problem := _problem(name, operator, operand):
                place = [name, operator] if isinstance(wanted, dict) else [name]
                errors.append(FieldError(json_pointer(place), problem))
            else:
                asked.append(_Comparison(tuple(name.split(".")), operator, operand))
    if errors:
        raise ConditionInvalid(errors[:MOST_ERRORS])
    return Condition(tuple(asked))


def _bounded(condition: object) -> dict[str, Any]:
    try:
        text = dump_json(condition, what="condition")
    except PayloadUnstorable as error:
        raise ConditionInvalid(error.errors) from None
    fields = load_json(text)
    problem = None
    if (size := size_of(text)) > CONDITION_LIMIT:
        problem = f"it has {size:,} bytes, the limit is {CONDITION_LIMIT:,}"
    elif not isinstance(fields, dict):
        problem = "it is not an object of fields"
    elif len(fields) > MOST_FIELDS:
        problem = f"it has {len(fields)} fields, the limit is {MOST_FIELDS}"
    if problem:
        raise ConditionInvalid([FieldError("", problem)])
    return dict(fields)


def _problem(name: str, operator: str, operand: Any) -> str | None:
    if operator not in _OPERANDS:
        near = nearest(operator, list(_OPERANDS))
        if near:
            return f"not an operator (did you mean {near}?)"
        inner = quoted(f"{name}.{operator}")
        return f"not an operator; there are {listed(list(_OPERANDS))}. A field within: {inner}"
    fits, allowed = _OPERANDS[operator]
    return None if fits(operand) else f"takes {allowed}"


def _is_plain(value: Any) -> bool:
    return not isinstance(value, list | dict)


def _is_list(value: Any) -> bool:
    return isinstance(value, list) and 0 < len(value) <= MOST_VALUES and all(map(_is_plain, value))


def _is_some_text(value: Any) -> bool:
    return isinstance(value, str) and value != ""


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_ordered(value: Any) -> bool:
    return isinstance(value, str) or _is_number(value)


def _is_boolean(value: Any) -> bool:
    return isinstance(value, bool)


def _equal(value: Any, wanted: Any) -> bool:
    # To Python, true is 1.
    if isinstance(value, bool) or isinstance(wanted, bool):
        return value is wanted
    return _is_plain(value) and bool(value == wanted)


def _is_one_of(value: Any, wanted: list[Any]) -> bool:
    return any(_equal(value, one) for one in wanted)


def _contains(value: Any, wanted: Any) -> bool:
    if isinstance(value, str):
        return isinstance(wanted, str) and wanted in value
    return isinstance(value, list | tuple) and any(_equal(part, wanted) for part in value)


def _compare(value: Any, wanted: Any) -> int | None:
    """Less than, equal to or more than 0, as `value` is to `wanted`; None if they do not compare."""
    both_texts = isinstance(value, str) and isinstance(wanted, str)
    if not both_texts and not (_is_number(value) and _is_number(wanted)):
        return None
    return int(value > wanted) - int(value < wanted)


_PLAIN = (_is_plain, "text, a number, true, false or null")
_LIST = (_is_list, f"a list of 1 to {MOST_VALUES} texts, numbers, true, false or null")
_TEXT = (_is_some_text, "text that is not empty")
_ORDERED = (_is_ordered, "a number or text")

#: Operator -> what it takes, and how that is called.
_OPERANDS: Mapping[str, tuple[Callable[[Any], bool], str]] = MappingProxyType(
    {
        "eq": _PLAIN,
        "ne": _PLAIN,
        "in": _LIST,
        "not_in": _LIST,
        "starts_with": _TEXT,
        "ends_with": _TEXT,
        "contains": _PLAIN,
        "gt": _ORDERED,
        "gte": _ORDERED,
        "lt": _ORDERED,
        "lte": _ORDERED,
        "exists": (_is_boolean, "true or false"),
    }
)

#: Operator -> whether it holds for a value that is there.
_PREDICATES: Mapping[str, Callable[[Any, Any], bool]] = MappingProxyType(
    {
        "eq": _equal,
        "ne": lambda value, wanted: not _equal(value, wanted),
        "in": _is_one_of,
        "not_in": lambda value, wanted: not _is_one_of(value, wanted),
        "starts_with": lambda value, wanted: isinstance(value, str) and value.startswith(wanted),
        "ends_with": lambda value, wanted: isinstance(value, str) and value.endswith(wanted),
        "contains": _contains,
        "gt": lambda value, wanted: _compare(value, wanted) == 1,
        "gte": lambda value, wanted: _compare(value, wanted) in (0, 1),
        "lt": lambda value, wanted: _compare(value, wanted) == -1,
        "lte": lambda value, wanted: _compare(value, wanted) in (0, -1),
    }
)
