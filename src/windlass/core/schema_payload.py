"""A payload that follows a JSON Schema, by jsonschema-rs."""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime, time
from typing import Any

from windlass.core.field_errors import by_schema
from windlass.core.jsontext import PAYLOAD_LIMIT, check_size, dump_json, load_json, load_object
from windlass.core.redact import MASK
from windlass.core.schema_limits import check_schema
from windlass.errors import DefinitionInvalid, FieldError, PayloadInvalid
from windlass.errors.wording import first_line


class JsonSchemaPayload:
    """Validates and writes payloads of a definition of which only the schema is known.

    DefinitionInvalid if the schema cannot be used: it must be valid, refer only to itself, and
    have patterns that run in linear time (no look-around, no back-references). Formats are checked.
    """

    __slots__ = ("_definition", "_limit", "_validator", "schema")

    def __init__(
        self, schema: Mapping[str, Any], *, definition: str, limit: int = PAYLOAD_LIMIT
    ) -> None:
        self.schema = schema
        self._definition = definition
        self._limit = limit
        check_schema(schema, definition)
        self._validator = _validator(schema, definition)

    def encode(self, args: Sequence[object], kwargs: Mapping[str, object]) -> str:
        """JSON text of the payload, once it fits the schema. Values can only be given by name."""
        if args:
            problem = "values must be given by name"
            raise PayloadInvalid(self._definition, [FieldError("", problem)])
        text = dump_json(dict(kwargs))
        check_size(text, self._definition, self._limit)
        # Read back, because what was written may be dates and the like.
        value = load_json(text)
        if not self._validator.is_valid(value):
            errors = by_schema(self._validator.iter_errors(value), value, self.schema)
            raise PayloadInvalid(self._definition, errors)
        return text

    def decode(self, text: str) -> dict[str, Any]:
        """The stored payload as plain JSON values; PayloadInvalid if it is no object."""
        return load_object(text, self._definition)


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
            f"the payload schema cannot be used: {first_line(str(error))}",
            hint="Change the schema. Patterns may not use look-around or back-references.",
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
