"""The payload of a command: it follows the schema of its declaration, before and after it is stored."""

from typing import Any

from windlass.core.schema_payload import JsonSchemaPayload
from windlass.core.signature import REQUIRED, Signature

_NOTHING_TYPED = Signature(fields=(), context=None, provided={}, others=REQUIRED)


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
