"""A payload that follows a JSON Schema, by jsonschema-rs."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, time
from functools import lru_cache
from typing import Any

from windlass.core.definitions.definition import Definition
from windlass.core.payloads.encrypted_fields import refuse_reserved
from windlass.core.payloads.field_errors import by_schema
from windlass.core.payloads.json_text import (
    PAYLOAD_LIMIT,
    check_size,
    dump_json,
    load_json,
    load_object,
)
from windlass.core.payloads.schema_limits import check_schema
from windlass.core.payloads.secret_patterns import MASK
from windlass.errors import DefinitionInvalid, FieldError, PayloadInvalid
from windlass.errors.wording import shorten

#: Making so many takes a tenth of a second or two.
_MOST_PROBLEMS = 20_000


class JsonSchemaPayload:
    """Validates and writes payloads of a definition of which only the schema is known.

    DefinitionInvalid if the schema cannot be used: it must be valid, refer only to itself, and
    have patterns that run in linear time (no look-around, no back-references). Formats are checked.
    """

    __slots__ = ("_definition", "_limit", "_validator", "_weight", "schema")

    def __init__(
        self, schema: Mapping[str, Any], *, definition: str, limit: int = PAYLOAD_LIMIT
    ) -> None:
        self.schema = schema
        self._definition = definition
        self._limit = limit
        self._weight = check_schema(schema, definition)
        self._validator = _validator(schema, definition)

    def encode(
        self,
        args: Sequence[object],
        kwargs: Mapping[str, object],
        defaults: Mapping[str, object] | None = None,
    ) -> str:
        """JSON text of the payload, once it fits the schema. Values can only be given by name."""
        if args:
            problem = "values must be given by name"
            raise PayloadInvalid(self._definition, [FieldError("", problem)])
        return self.write(kwargs, defaults)

    def write(
        self, values: Mapping[str, object], defaults: Mapping[str, object] | None = None
    ) -> str:
        """JSON text of the payload, once it fits the schema."""
        text = dump_json({**(defaults or {}), **values})
        check_size(text, self._definition, self._limit)
        # Read back, because what was written may be dates and the like.
        value = load_json(text)
        refuse_reserved(text, self._definition)
        if not self._validator.is_valid(value):
            raise PayloadInvalid(self._definition, self._problems(value))
        return text

    def decode(self, text: str) -> dict[str, Any]:
        """The stored payload as plain JSON values; PayloadInvalid if it is no object."""
        return load_object(text, self._definition)

    def _problems(self, value: Any) -> list[FieldError]:
        """Problems with a payload, as far as a short time allows: validation itself is fast, but
        problems are made for each branch that the payload might have taken."""
        size, depth = _size_and_depth(value)
        most = self._weight.at(depth)
        if most > _MOST_PROBLEMS:
            problem = "it does not fit the schema, and is nested too deeply to say where"
            return [FieldError("", problem)]
        errors = self._validator.iter_errors(value) if most * size <= _MOST_PROBLEMS else None
        return by_schema(self._first(value) if errors is None else errors, value, self.schema)

    def _first(self, value: Any) -> Iterator[Any]:
        import jsonschema_rs

        try:
            self._validator.validate(value)
        except jsonschema_rs.ValidationError as error:
            yield error


def _size_and_depth(value: Any) -> tuple[int, int]:
    """Number of values in a JSON value, and their depth."""
    size = depth = 0
    level = [value]
    while level:
        size, depth = size + len(level), depth + 1
        level = [part for each in level for part in _parts(each)]
    return size, depth


def _parts(value: Any) -> Iterable[Any]:
    return value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()


def _validator(schema: Mapping[str, Any], definition: str) -> Any:
    import jsonschema_rs

    try:
        return jsonschema_rs.validator_for(
            dict(schema),
            validate_formats=True,
            formats=_FORMATS,
            retriever=_refuse,
            pattern_options=jsonschema_rs.RegexOptions(),
            mask=MASK,
        )
    except (ValueError, jsonschema_rs.ReferencingError) as error:
        raise DefinitionInvalid(
            definition,
            f"the payload schema cannot be used: {shorten(str(error))}",
            hint="Change the schema. Patterns may not use look-around or back-references.",
            pointer="/payload_schema",
        ) from None


def _refuse(uri: str) -> Any:
    raise ValueError(f"{uri} is outside of the schema")


_DURATION = re.compile(
    r"[-+]?P(?!$)(\d+Y)?(\d+M)?(\d+W)?(\d+D)?(T(?=\d)(\d+H)?(\d+M)?(\d+(\.\d+)?S)?)?"
)


def _is_date_time(text: str) -> bool:
    return len(text) > 10 and text[10] in "Tt " and _reads(datetime.fromisoformat, text)


def _is_time(text: str) -> bool:
    return ":" in text and _reads(time.fromisoformat, text)


def _is_duration(text: str) -> bool:
    return len(text) <= 100 and _DURATION.fullmatch(text) is not None


def _reads(read: Any, text: str) -> bool:
    try:
        read(text)
    except ValueError:
        return False
    return True


# The standard's formats want an offset on every time and no fraction in a duration. Python has
# times without and durations with; what a handler's signature takes, its schema has to take too.
_FORMATS = {"date-time": _is_date_time, "time": _is_time, "duration": _is_duration}


def definition_payload(definition: Definition, limit: int) -> JsonSchemaPayload:
    """Checks and writes payloads by the schema of a definition's row."""
    return _schema_payload(definition.key, definition.payload_schema, limit)


@lru_cache(maxsize=256)
def _schema_payload(key: str, text: str, limit: int) -> JsonSchemaPayload:
    return JsonSchemaPayload(load_json(text), definition=key, limit=limit)
