"""Payloads: what a job is given, checked before it is stored and typed before it is used.

Two kinds with one interface. `PayloadModel` follows a handler's signature; `JsonSchemaPayload` a
JSON Schema, for definitions of which only the row is known.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

from windlass.core.definitions.signature import Signature, check_parameters, read_signature
from windlass.core.payloads.json_text import PAYLOAD_LIMIT

if TYPE_CHECKING:
    from windlass.core.payloads.typed_payload import TypedPayload


class Payload(Protocol):
    """Payload of a definition's jobs: checks and encodes it."""

    @property
    def schema(self) -> Mapping[str, Any]:
        """The JSON Schema of the payload, which is always an object."""

    def encode(
        self,
        args: Sequence[object],
        kwargs: Mapping[str, object],
        defaults: Mapping[str, object] | None = None,
    ) -> str:
        """JSON text to store, of arguments as the handler takes them; `defaults` fill in what is
        not given, by the payload's names.

        Raises PayloadInvalid with the fields at fault, PayloadUnstorable or PayloadTooLarge.
        """

    def write(
        self, values: Mapping[str, object], defaults: Mapping[str, object] | None = None
    ) -> str:
        """JSON text to store, of a payload by its own names; raises as `encode` does."""

    def decode(self, text: str) -> dict[str, Any]:
        """A stored payload as keyword arguments for the handler."""


class HandlerPayload(Payload, Protocol):
    """The payload of a definition whose handler is known."""

    @property
    def signature(self) -> Signature:
        """The handler's parameters, sorted by who fills them."""


class PayloadModel:
    """The payload that a handler's signature describes.

    Parameters become fields; the one annotated with `context_type`, and those annotated with a type
    in `provided`, do not. `**kwargs` lets any further field in. The names and kinds of parameters
    are checked at once (DefinitionInvalid), their types when they are first needed: a type may be
    defined further down in the module.
    """

    def __init__(
        self,
        handler: Callable[..., Any],
        *,
        definition: str,
        context_type: type | None = None,
        provided: Collection[Any] = (),
        namespace: Mapping[str, Any] | None = None,
        limit: int = PAYLOAD_LIMIT,
    ) -> None:
        check_parameters(handler, definition)
        self._handler = handler
        self._definition = definition
        self._context_type = context_type
        self._provided = provided
        self._namespace = namespace
        self._limit = limit

    @cached_property
    def signature(self) -> Signature:
        """The handler's parameters, sorted by who fills them."""
        return read_signature(
            self._handler,
            self._definition,
            context_type=self._context_type,
            provided=self._provided,
            namespace=self._namespace,
        )

    @property
    def schema(self) -> Mapping[str, Any]:
        """The JSON Schema of the payload."""
        return self._typed.schema

    # The verbs are those of the typed payload, found once: they are called for every job.

    @cached_property
    def encode(self) -> Callable[..., str]:
        """See `TypedPayload.encode`."""
        return self._typed.encode

    @cached_property
    def write(self) -> Callable[..., str]:
        """See `TypedPayload.write`."""
        return self._typed.write

    @cached_property
    def decode(self) -> Callable[[str], dict[str, Any]]:
        """See `TypedPayload.decode`."""
        return self._typed.decode

    @cached_property
    def _typed(self) -> "TypedPayload":
        from windlass.core.payloads.typed_payload import TypedPayload

        return TypedPayload(self.signature, self._definition, self._limit)
