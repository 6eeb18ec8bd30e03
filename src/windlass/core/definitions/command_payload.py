"""The payload of a command: it follows the schema of its declaration, before and after it is stored."""

from collections.abc import Mapping
from typing import Any

from windlass.core.definitions.signature import REQUIRED, Signature
from windlass.core.payloads.json_text import PAYLOAD_LIMIT
from windlass.core.payloads.schema_payload import JsonSchemaPayload

#: Parts of a schema that may name fields too: whoever uses them says whether there may be others.
_OPEN = ("additionalProperties", "unevaluatedProperties", "patternProperties",
         "allOf", "anyOf", "oneOf", "if", "$ref")  # fmt: skip
_NOTHING_TYPED = Signature(fields=(), context=None, provided={}, others=REQUIRED)


def closed(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema, of an object whose fields are all named unless it says otherwise itself."""
    whole = {"type": "object", "properties": {}, **schema}
    return (
        whole if any(part in whole for part in _OPEN) else {**whole, "additionalProperties": False}
    )


class CommandPayload(JsonSchemaPayload):
    """Like its parent, and checked again when it is read: an argument list is made of it."""

    __slots__ = ()

    @property
    def signature(self) -> Signature:
        """No function takes it."""
        return _NOTHING_TYPED

    def decode(self, text: str) -> dict[str, Any]:
        """The stored payload as plain JSON values; PayloadInvalid if it does not fit (any more)."""
        values = super().decode(text)
        self.encode((), values)
        return values


class NarrowedPayload(CommandPayload):
    """The payload of a definition that names a command: it fits the definition's schema, and the one
    that the command itself has on this worker."""

    __slots__ = ("_command",)

    def __init__(
        self,
        schema: Mapping[str, Any],
        command: Mapping[str, Any],
        *,
        definition: str,
        limit: int = PAYLOAD_LIMIT,
    ) -> None:
        super().__init__(schema, definition=definition, limit=limit)
        self._command = JsonSchemaPayload(command, definition=definition, limit=limit)

    def decode(self, text: str) -> dict[str, Any]:
        """The stored payload as plain JSON values; PayloadInvalid if it does not fit both."""
        values = super().decode(text)
        self._command.write(values)
        return values
