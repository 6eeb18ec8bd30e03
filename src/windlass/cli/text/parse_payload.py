"""Parses payloads: `name=Ada count=3`, JSON, a file, or standard input."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from windlass.core.payloads.json_text import load_json, read_json
from windlass.core.payloads.schema_marks import applicable_schemas, subschemas_at
from windlass.errors import CommandInvalid, PayloadUnstorable
from windlass.errors.wording import quoted, shorten

_HOW = "Give key=value pairs, --payload JSON, --file FILE or - for standard input."
_STDIN = "-"


def full_payload(pairs: Sequence[str], text: str | None, file: str | None) -> dict[str, Any] | None:
    """The payload if it was given whole; None if it was given in pairs.

    Needs no database: invalid JSON is refused before any request.
    """
    ways = [bool(pairs), text is not None, file is not None]
    if sum(ways) > 1:
        raise CommandInvalid("the payload is given in more than one way.", hint=_HOW)
    if list(pairs) == [_STDIN] or file == _STDIN:
        return json_object(sys.stdin.read(), "standard input")
    if file is not None:
        try:
            return json_object(Path(file).read_text("utf-8"), file)
        except (OSError, UnicodeError) as error:
            raise CommandInvalid(f"{quoted(file)} cannot be read: {error}.", hint=_HOW) from None
    return None if text is None else json_object(text, "--payload")


def json_object(text: str, where: str, *, hint: str = _HOW) -> dict[str, Any]:
    """Parse a JSON object; `where` names the source in errors.

    Raises PayloadUnstorable, as over HTTP, for JSON that is not accepted: a duplicate key, or a
    number beyond the range of a double.
    """
    try:
        load_json(text)
    except PayloadUnstorable as error:
        reason = shorten(error.reason)
        raise CommandInvalid(f"{where} is not JSON. {reason}", hint=hint) from None
    value = read_json(text, what=where)
    if not isinstance(value, dict):
        raise CommandInvalid(f"{where} is not a JSON object.", hint=hint)
    return value


def split_pairs(pairs: Sequence[str]) -> dict[str, str]:
    """Split `key=value` pairs into names and values, the values as text."""
    found: dict[str, str] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name:
            raise CommandInvalid(f"{quoted(pair)} is not key=value.", hint=_HOW)
        if name in found:
            raise CommandInvalid(f"{quoted(name)} is given twice.", hint=_HOW)
        found[name] = value
    return found


def event_data(pairs: Sequence[str], text: str | None, file: str | None) -> dict[str, Any]:
    """The data of an event, which has no schema: a value that is valid JSON is read as JSON, any
    other as text."""
    whole = full_payload(pairs, text, file)
    return typed(split_pairs(pairs), {}) if whole is None else whole


def typed(pairs: Mapping[str, str], schema: Mapping[str, Any]) -> dict[str, Any]:
    """Convert texts to values, by the definition's schema.

    Valid JSON is read as JSON, any other as text; a text field keeps it as it is, so `name=3` is
    "3" there.
    """
    top = applicable_schemas([schema], schema)
    return {
        name: _parse_value(text, _types(subschemas_at(top, name, schema)))
        for name, text in pairs.items()
    }


def _parse_value(text: str, types: frozenset[str]) -> Any:
    try:
        value = load_json(text)
    except PayloadUnstorable:
        return text
    if "string" in types and (isinstance(value, str) or not types & _names(value)):
        return text
    return read_json(text)


def _types(schemas: Sequence[Mapping[str, Any]]) -> frozenset[str]:
    found: set[str] = set()
    for schema in schemas:
        kind = schema.get("type")
        found.update([kind] if isinstance(kind, str) else kind or [])
    return frozenset(found)


def _names(value: object) -> frozenset[str]:
    """The types a JSON Schema allows for a value."""
    if value is None:
        return frozenset({"null"})
    if isinstance(value, bool):
        return frozenset({"boolean"})
    if isinstance(value, int):
        return frozenset({"integer", "number"})
    if isinstance(value, float):
        return frozenset({"number"})
    if isinstance(value, str):
        return frozenset({"string"})
    return frozenset({"array" if isinstance(value, list) else "object"})
