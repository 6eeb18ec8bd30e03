"""Which parts of a value a JSON Schema marks as secret.

A place in a value may be described by several subschemas (`$ref`, `allOf`, `anyOf` …). All that
could apply are followed, and one mark suffices: whether a branch of `anyOf` really matches is not
asked. The work per place is bounded, and a schema that exceeds the bound marks the place.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from windlass.core.payloads.json_text import load_json
from windlass.core.payloads.schema_limits import resolve

Schemas = Sequence[Mapping[str, Any]]

#: More subschemas than this for one place are the work of a joker.
_MOST = 64
_MARKED: Mapping[str, Any] = {"writeOnly": True}
_SIDE_BY_SIDE = ("allOf", "anyOf", "oneOf")
_IN_PLACE = ("if", "then", "else", "not")


@lru_cache(maxsize=1024)
def marking_schema(text: str) -> Mapping[str, Any] | None:
    """The schema of this text, to be read only; None if it marks nothing, which most do not.

    A job's values need not be followed through a schema without marks. Each text is read once.
    """
    root = load_json(text)
    if not isinstance(root, Mapping):
        return None
    parts = list(_parts(root))
    is_bounded = len(parts) <= _MOST and all(
        not isinstance(target := part.get("$ref"), str) or resolve(target, root) for part in parts
    )
    return None if is_bounded and not is_marked_secret(parts) else root


def applicable_schemas(schemas: Iterable[object], root: Mapping[str, Any]) -> Schemas:
    """The given subschemas and all that they bring in for the same place."""
    found: dict[int, Mapping[str, Any]] = {}
    left = list(schemas)
    while left:
        schema = left.pop()
        if not isinstance(schema, Mapping) or id(schema) in found:
            continue
        if len(found) >= _MOST:
            return [_MARKED]
        found[id(schema)] = schema
        left += _referenced_schemas(schema, root)
    return list(found.values())


def subschemas_at(schemas: Schemas, step: str | int, root: Mapping[str, Any]) -> Schemas:
    """The subschemas for one property or one item of the place that `schemas` describe."""
    parts: list[object] = []
    for schema in schemas:
        parts += _for_property(schema, step) if isinstance(step, str) else _for_item(schema, step)
    return applicable_schemas(parts, root)


def is_marked_secret(schemas: Schemas) -> bool:
    """True if any of the subschemas says that its value is not to be shown."""
    return any(
        schema.get("writeOnly") is True or schema.get("format") == "password" for schema in schemas
    )


def _parts(root: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """All objects in a schema, itself included."""
    left: list[object] = [root]
    while left:
        part = left.pop()
        if isinstance(part, Mapping):
            yield part
            left += part.values()
        elif isinstance(part, list):
            left += part


def _referenced_schemas(schema: Mapping[str, Any], root: Mapping[str, Any]) -> list[object]:
    parts = [part for key in _SIDE_BY_SIDE for part in _listed(schema.get(key))]
    parts += [schema[key] for key in _IN_PLACE if key in schema]
    parts += _named(schema.get("dependentSchemas")).values()
    if isinstance(target := schema.get("$ref"), str):
        # What cannot be found here cannot be judged either.
        parts.append(resolve(target, root) or _MARKED)
    return parts


def _for_property(schema: Mapping[str, Any], name: str) -> list[object]:
    properties = _named(schema.get("properties"))
    if name in properties:
        return [properties[name]]
    # Patterns are not tried: an unknown name may match any of them.
    return [
        *_named(schema.get("patternProperties")).values(),
        schema.get("additionalProperties"),
        schema.get("unevaluatedProperties"),
    ]


def _for_item(schema: Mapping[str, Any], place: int) -> list[object]:
    items = schema.get("items")
    first = _listed(schema.get("prefixItems")) or _listed(items)
    rest = [schema.get(key) for key in ("additionalItems", "contains", "unevaluatedItems")]
    if place < len(first):
        return [first[place], *rest[1:]]
    return [items, *rest]


def _listed(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _named(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}
