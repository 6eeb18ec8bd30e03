"""Filling in a template: each field is looked up once, and what comes in is counted.

A small template can ask for the same large field many times, so the sum is kept while it grows: the
work stays in proportion to the limit, not to what the template would become.
"""

import json
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

from windlass.core.payloads.field_path import MISSING, Path, look_up
from windlass.core.payloads.json_text import dump_json, load_json, size_of
from windlass.errors import FieldError, PayloadUnstorable, TemplateFailed, TemplateMissing
from windlass.errors.wording import json_pointer, nearest

_MOST_ERRORS = 20
#: Of the names that are there, so many are looked at for the one that was meant.
_MOST_NAMES = _LONGEST_NAME = 100

TemplatePath = Sequence[str | int]


class RenderBudget:
    """Size budget of one template rendered with one context."""

    def __init__(self, context: Mapping[str, Any], limit: int) -> None:
        self._context = context
        self._limit = limit
        self._left = limit
        self._values: dict[Path, tuple[Any, int]] = {}
        self._missing: dict[Path, FieldError] = {}

    def value(self, path: Path, place: TemplatePath) -> Any:
        """The value of a field, with its JSON type."""
        value, size = self._look_up_once(path, place)
        self._count(size, place)
        return value

    def text(self, path: Path, place: TemplatePath) -> str:
        """The value of a field, as it is written within a text."""
        value, size = self._look_up_once(path, place)
        self._count(size, place)
        if isinstance(value, str):
            return value
        if isinstance(value, list | dict):
            kind = "a list" if isinstance(value, list) else "an object"
            problem = f"{'.'.join(path)} is {kind}, which cannot stand within a text"
            raise TemplateFailed(problem, pointer=json_pointer(place))
        return json.dumps(value)

    def finished(self, value: Any) -> Any:
        """The filled-in value, if nothing was missing and it keeps within the limits."""
        if self._missing:
            fields = [".".join(path) for path in self._missing]
            raise TemplateMissing(fields, list(self._missing.values())[:_MOST_ERRORS])
        try:
            text = dump_json(value)
        except PayloadUnstorable as error:
            [found] = error.errors
            raise TemplateFailed(found.message, pointer=found.pointer) from None
        if size_of(text) > self._limit:
            raise TemplateFailed(self._too_large())
        # Read back, so that no part is shared with the context or with another part.
        return load_json(text)

    def _look_up_once(self, path: Path, place: TemplatePath) -> tuple[Any, int]:
        if path in self._values:
            return self._values[path]
        value = look_up(self._context, path)
        if value is MISSING:
            self._missing.setdefault(path, self._told(path, place))
            return None, 0
        try:
            text = dump_json(value)
        except PayloadUnstorable as error:
            problem = f"{'.'.join(path)} cannot be stored: {error.errors[0].message}"
            raise TemplateFailed(problem, pointer=json_pointer(place)) from None
        self._values[path] = load_json(text), size_of(text)
        return self._values[path]

    def _count(self, size: int, place: TemplatePath) -> None:
        # The quotes of a text that goes into another text do not count.
        self._left -= max(0, size - 2)
        if self._left < 0:
            raise TemplateFailed(self._too_large(), pointer=json_pointer(place))

    def _too_large(self) -> str:
        return f"the payload would have more than {self._limit:,} bytes"

    def _told(self, path: Path, place: TemplatePath) -> FieldError:
        *above, name = path
        around = look_up(self._context, tuple(above))
        names = islice(around, _MOST_NAMES) if isinstance(around, Mapping) else ()
        near = nearest(name, [known for known in map(str, names) if len(known) <= _LONGEST_NAME])
        hint = f" (did you mean {'.'.join([*above, near])}?)" if near else ""
        return FieldError(json_pointer(place), f"there is no {'.'.join(path)}{hint}")
