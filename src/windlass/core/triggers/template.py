"""Payload templates: JSON values with placeholders such as `{{event.folder_path}}`.

A placeholder that is all of a text keeps the JSON type of its value; within a text it becomes text.
`{{{{` stands for two plain braces. There is no code in templates: a placeholder looks a field up,
once, and what it brings in is never read as a template again.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from windlass.core.payloads.field_path import LONGEST_PATH, Path, path_problem
from windlass.core.payloads.json_text import PAYLOAD_LIMIT, dump_json, load_json, size_of
from windlass.core.triggers.template_render import RenderBudget
from windlass.errors import FieldError, PayloadUnstorable, TemplateInvalid
from windlass.errors.wording import json_pointer, listed, nearest, quoted

#: Bytes of JSON text, and placeholders in it.
TEMPLATE_LIMIT = 64 * 1024
MOST_PLACEHOLDERS = 256
MOST_ERRORS = 20

#: What placeholders may start with, and the fields that are there; none named means any.
ROOTS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {"event": (), "schedule": ("due_at", "name")}
)

_OPEN, _PLAIN = "{{", "{{{{"
_PLACEHOLDER = re.compile(rf"\{{\{{ {{0,8}}([^{{}}\s]{{1,{LONGEST_PATH}}}) {{0,8}}\}}\}}")

Place = tuple[str | int, ...]


def parse(template: object) -> "Template":
    """Read a template; TemplateInvalid names every place in it that cannot be used."""
    try:
        text = dump_json(template, what="payload template")
    except PayloadUnstorable as error:
        raise TemplateInvalid(error.errors) from None
    if (size := size_of(text)) > TEMPLATE_LIMIT:
        problem = f"it has {size:,} bytes, the limit is {TEMPLATE_LIMIT:,}"
        raise TemplateInvalid([FieldError("", problem)])
    reading = _TemplateReader()
    tree = reading.read(load_json(text), ())
    if reading.errors:
        raise TemplateInvalid(reading.errors[:MOST_ERRORS])
    return Template(tree, tuple(dict.fromkeys(map(".".join, reading.found))))


@dataclass(frozen=True, slots=True)
class Template:
    """A template that can be filled in."""

    _tree: Any = field(repr=False)
    #: The fields that are looked up, each once, such as `event.folder_path`.
    placeholders: tuple[str, ...]

    @property
    def is_constant(self) -> bool:
        """True if it renders to the same value whatever the context."""
        return not self.placeholders

    def render(self, context: Mapping[str, Any], *, limit: int = PAYLOAD_LIMIT) -> Any:
        """The JSON value with every placeholder filled in from `context`, {"event": {…}}.

        TemplateMissing names every field that is not there. TemplateFailed if a list or an object
        would stand within a text, or the value would be larger than `limit` bytes or too deep.
        """
        filling = RenderBudget(context, limit)
        return filling.finished(_render_node(self._tree, (), filling))


@dataclass(frozen=True, slots=True)
class _FieldNode:
    path: Path


@dataclass(frozen=True, slots=True)
class _TextNode:
    parts: tuple[str | _FieldNode, ...]


class _TemplateReader:
    """One pass over a template: what is found in it, and what is wrong with it."""

    def __init__(self) -> None:
        self.found: list[Path] = []
        self.errors: list[FieldError] = []

    def read(self, value: Any, place: Place) -> Any:
        match value:
            case str():
                return self._text(value, place)
            case list():
                return [self.read(part, (*place, number)) for number, part in enumerate(value)]
            case dict():
                for name in value:
                    if _OPEN in name:
                        self._refuse((*place, name), "a field's name cannot have a placeholder")
                return {name: self.read(part, (*place, name)) for name, part in value.items()}
            case _:
                return value

    def _text(self, text: str, place: Place) -> str | _FieldNode | _TextNode:
        if _OPEN not in text:
            return text
        parts = tuple(self._parts(text, place))
        match parts:
            case (_FieldNode() as alone,):
                return alone
            case _ if any(isinstance(part, _FieldNode) for part in parts):
                return _TextNode(parts)
            case _:
                return "".join(map(str, parts))

    def _parts(self, text: str, place: Place) -> Iterator[str | _FieldNode]:
        start = 0
        while (brace := text.find(_OPEN, start)) >= 0:
            if brace > start:
                yield text[start:brace]
            if text.startswith(_PLAIN, brace):
                yield _OPEN
                start = brace + len(_PLAIN)
                continue
            found = _PLACEHOLDER.match(text, brace)
            if found is None:
                start_of_it = quoted(text[brace : brace + 40])
                return self._refuse(place, f"{start_of_it} is no placeholder")
            if problem := _problem_of_field(found[1]):
                return self._refuse(place, problem)
            if len(self.found) == MOST_PLACEHOLDERS:
                return self._refuse(place, f"there are more than {MOST_PLACEHOLDERS} placeholders")
            path = tuple(found[1].split("."))
            self.found.append(path)
            yield _FieldNode(path)
            start = found.end()
        if start < len(text):
            yield text[start:]

    def _refuse(self, place: Place, problem: str) -> None:
        if len(self.errors) < MOST_ERRORS:
            self.errors.append(FieldError(json_pointer(place), problem))


def _problem_of_field(text: str) -> str | None:
    if problem := path_problem(text):
        return f"{quoted(text)} {problem}"
    root, *rest = text.split(".")
    if root not in ROOTS:
        known = listed([f"{{{{{name}.…}}}}" for name in ROOTS])
        return f"{quoted(text)} is not known; there are {known}"
    if not rest:
        return f"{quoted(text)} names no field; write {{{{{root}.…}}}}"
    names = ROOTS[root]
    if names and (rest[0] not in names or len(rest) > 1):
        near = nearest(rest[0], names)
        known = f"did you mean {root}.{near}?" if near else f"there are {listed(names)}"
        return f"{quoted(text)} is not known; {known}"
    return None


def _render_node(node: Any, place: Place, filling: RenderBudget) -> Any:
    match node:
        case _FieldNode(path):
            return filling.value(path, place)
        case _TextNode(parts):
            return "".join(
                part if isinstance(part, str) else filling.text(part.path, place) for part in parts
            )
        case dict():
            return {
                name: _render_node(part, (*place, name), filling) for name, part in node.items()
            }
        case list():
            return [_render_node(part, (*place, at), filling) for at, part in enumerate(node)]
        case _:
            return node
