"""Conditions in words, for people."""

import json
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from windlass.errors.wording import quoted

#: Of a list, so many values are shown.
_MOST_SHOWN = 10

_OPERATOR_PHRASES: Mapping[str, str] = MappingProxyType(
    {
        "eq": "is",
        "ne": "is not",
        "starts_with": "starts with",
        "ends_with": "ends with",
        "contains": "contains",
        "gt": "is more than",
        "gte": "is at least",
        "lt": "is less than",
        "lte": "is at most",
    }
)


def in_words(name: str, operator: str, operand: Any) -> str:
    """Condition on one field in words, such as `size is more than 1000`."""
    match operator:
        case "exists":
            return f"{name} is {'there' if operand else 'not there'}"
        case "in":
            return f"{name} is {_either(operand)}"
        case "not_in":
            return f"{name} is not {_either(operand)}"
        case _:
            return f"{name} {_OPERATOR_PHRASES[operator]} {_format_value(operand)}"


def _either(values: Sequence[Any]) -> str:
    shown = [_format_value(value) for value in values[:_MOST_SHOWN]]
    if left := len(values) - len(shown):
        return f"{', '.join(shown)} or one of {left} more"
    return " or ".join(part for part in (", ".join(shown[:-1]), shown[-1]) if part)


def _format_value(value: Any) -> str:
    return (
        quoted(value)
        if isinstance(value, str | int) and not isinstance(value, bool)
        else json.dumps(value)
    )
