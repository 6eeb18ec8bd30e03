"""Which values of a payload are kept encrypted, and where their ciphertext stands.

The values that the payload schema marks as secret leave their places, where `•••` stands instead,
and travel together in one field of the payload that no schema can declare. What is done to them on
the way is for the engine; here is only what is pure.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from windlass.core.payloads.json_text import load_json
from windlass.core.payloads.schema_marks import (
    Schemas,
    applicable_schemas,
    is_marked_secret,
    subschemas_at,
)
from windlass.errors import FieldError, PayloadInvalid

#: The field of a stored payload that has the ciphertext.
SEALED = "windlass:sealed"

Path = Sequence[str | int]
_SIGNS = ('"writeOnly"', '"password"', '"$ref"')


def is_sealed(payload: str) -> bool:
    """True if payload text has a ciphertext; cheap for text without one. `SEALED in payload` is a
    first look that costs even less."""
    return f'"{SEALED}"' in payload and SEALED in load_json(payload)


def refuse_reserved(payload: str, definition: str) -> None:
    """PayloadInvalid for payload text with a field that is reserved for the ciphertext."""
    if is_sealed(payload):
        problem = FieldError(f"/{SEALED}", "this name is reserved")
        raise PayloadInvalid(definition, [problem])


@lru_cache(maxsize=256)
def marking_schema(text: str) -> Mapping[str, Any] | None:
    """The payload schema of this text, if it could mark anything as secret."""
    if not any(sign in text for sign in _SIGNS):
        return None
    schema: Mapping[str, Any] = load_json(text)
    return schema


def replace_secrets(
    value: Any, schema: Mapping[str, Any], change: Callable[[list[str | int], Any], Any]
) -> Any:
    """A copy of a payload in which `change(path, value)` stands for each marked value but null."""
    return _replace_secrets(value, applicable_schemas([schema], schema), schema, change, [])


def _replace_secrets(
    value: Any,
    schemas: Schemas,
    root: Mapping[str, Any],
    change: Callable[[list[str | int], Any], Any],
    path: list[str | int],
) -> Any:
    if is_marked_secret(schemas):
        return None if value is None else change(path, value)
    if isinstance(value, dict):
        return {
            key: _replace_secrets(
                part, subschemas_at(schemas, key, root), root, change, [*path, key]
            )
            for key, part in value.items()
        }
    if isinstance(value, list):
        return [
            _replace_secrets(
                part, subschemas_at(schemas, place, root), root, change, [*path, place]
            )
            for place, part in enumerate(value)
        ]
    return value


def restore_values(payload: dict[str, Any], values: Sequence[tuple[Path, Any]]) -> dict[str, Any]:
    """The payload with these values back in their places; it is changed."""
    for path, value in values:
        if not path:
            whole: dict[str, Any] = value
            return whole
        place: Any = payload
        for step in path[:-1]:
            place = place[step]
        place[path[-1]] = value
    return payload
