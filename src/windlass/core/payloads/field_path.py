"""Paths such as `changed.status` or `items.0.name` into JSON values.

A step is a field's name, or in a list the place of an item, counted from 0. Names with dots, spaces
or braces cannot be reached.
"""

import re
from collections.abc import Mapping
from enum import Enum
from typing import Any, Final, Literal

from windlass.errors.wording import counted

Path = tuple[str, ...]


class _Missing(Enum):
    MISSING = "missing"


#: What `look_up` answers where nothing is; a null that is there is None.
MISSING: Final = _Missing.MISSING
Missing = Literal[_Missing.MISSING]

LONGEST_PATH = 200
MOST_STEPS = 16

_STEP = re.compile(r"[\w$@-]+")
_PLACE = re.compile(r"0|[1-9][0-9]{0,8}")


def path_problem(text: str) -> str | None:
    """Why `text` is no path; None if it is one."""
    if len(text) > LONGEST_PATH:
        return f"has more than {LONGEST_PATH} characters"
    steps = text.split(".")
    if len(steps) > MOST_STEPS:
        return f"has more than {counted(MOST_STEPS, 'step')}"
    if not all(map(_STEP.fullmatch, steps)):
        return "is no field: write names with dots between them, such as folder.path or items.0"
    return None


def look_up(value: Any, path: Path) -> Any | Missing:
    """The value at `path` in a JSON value, or MISSING. Never raises."""
    for step in path:
        if isinstance(value, Mapping) and step in value:
            value = value[step]
        elif isinstance(value, list | tuple) and _is_place(step, value):
            value = value[int(step)]
        else:
            return MISSING
    return value


def _is_place(step: str, items: list[Any] | tuple[Any, ...]) -> bool:
    return _PLACE.fullmatch(step) is not None and int(step) < len(items)
