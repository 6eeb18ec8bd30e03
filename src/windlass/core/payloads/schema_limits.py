"""Which JSON Schemas may describe payloads.

A schema may be written by someone who has no access to the machine, so it must not reach out and
must not make validation slow: it refers only to itself, its size is bounded, and so is what it
becomes when its references are followed.
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from windlass.core.payloads.json_text import dump_json, size_of
from windlass.errors import DefinitionInvalid, PayloadUnstorable

SCHEMA_LIMIT = 64 * 1024

#: Subschemas, counted each time a reference brings them in.
_MOST_SUBSCHEMAS = 100_000
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
_NAMED = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas",
          "dependencies")  # fmt: skip
_LISTED = ("allOf", "anyOf", "oneOf", "prefixItems", "items")
_SINGLE = ("items", "additionalItems", "unevaluatedItems", "contains", "additionalProperties",
           "unevaluatedProperties", "propertyNames", "not", "if", "then", "else",
           "contentSchema")  # fmt: skip


class SchemaWeight(NamedTuple):
    """Weight of a schema: how many subschemas it stands for, a cycle being followed once, and in
    how many ways it comes back to where it was."""

    subschemas: int
    loops: int

    def at(self, depth: int) -> int:
        """The most problems that one wrong value may have, so many levels deep: those of each
        branch within those of each."""
        return self.subschemas * int(max(1, self.loops) ** depth)


def check_schema(schema: Mapping[str, Any], definition: str) -> SchemaWeight:
    """DefinitionInvalid if the schema is too large, too deep, or refers to anything but itself."""
    try:
        size = size_of(dump_json(schema, what="payload schema"))
    except PayloadUnstorable as error:
        raise _invalid(definition, f"it cannot be stored: {error.reason}") from None
    if size > SCHEMA_LIMIT:
        raise _invalid(definition, f"it has {size:,} bytes, the limit is {SCHEMA_LIMIT:,}")
    weight = _Count(schema, definition).of(schema)
    if weight.subschemas > _MOST_SUBSCHEMAS:
        raise _invalid(definition, "its references multiply each other without measure")
    return weight


def _invalid(definition: str, problem: str) -> DefinitionInvalid:
    return DefinitionInvalid(
        definition,
        f"the payload schema cannot be used: {problem}",
        hint="Change the schema.",
        pointer="/payload_schema",
    )


class _Count:
    """Weighs a schema and all its parts."""

    def __init__(self, root: Mapping[str, Any], definition: str) -> None:
        self._root = root
        self._definition = definition
        self._weights: dict[int, SchemaWeight] = {}

    def of(self, schema: Mapping[str, Any]) -> SchemaWeight:
        if id(schema) in self._weights:
            return self._weights[id(schema)]
        self._weights[id(schema)] = SchemaWeight(1, 1)  # seen again below means a cycle
        if schema is not self._root and isinstance(schema.get("$id"), str):
            raise _invalid(self._definition, "only its top may have an $id")
        parts = [*_subschemas(schema), *self._referred(schema)]
        weights = [self.of(part) for part in parts]
        self._weights[id(schema)] = SchemaWeight(
            1 + sum(weight.subschemas for weight in weights),
            sum(weight.loops for weight in weights),
        )
        return self._weights[id(schema)]

    def _referred(self, schema: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
        for key in _REFERENCES:
            target = schema.get(key)
            if not isinstance(target, str):
                continue
            found = resolve(target, self._root)
            if found is None:
                raise _invalid(
                    self._definition,
                    f"{key} {target!r:.80} leads nowhere; references start with # and stay inside",
                )
            if isinstance(found, Mapping):
                yield found


def resolve(target: str, root: Mapping[str, Any]) -> object:
    """Target of a reference such as `#/$defs/name` within `root`; None if there is none."""
    place: Any = root
    if target != "#" and not target.startswith("#/"):
        return None
    for step in target[2:].split("/") if target != "#" else ():
        name = step.replace("~1", "/").replace("~0", "~")
        if isinstance(place, Mapping):
            place = place.get(name)
        elif isinstance(place, list) and name.isdecimal() and int(name) < len(place):
            place = place[int(name)]
        else:
            return None
    return place


def _subschemas(schema: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for key in _NAMED:
        if isinstance(parts := schema.get(key), Mapping):
            yield from (part for part in parts.values() if isinstance(part, Mapping))
    for key in _LISTED:
        if isinstance(parts := schema.get(key), list):
            yield from (part for part in parts if isinstance(part, Mapping))
    for key in _SINGLE:
        if isinstance(part := schema.get(key), Mapping):
            yield part
