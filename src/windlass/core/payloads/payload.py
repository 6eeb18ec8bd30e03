"""Payloads: what a job is given, checked before it is stored and typed before it is used.

Two kinds with one interface. `PayloadModel` follows a handler's signature; `JsonSchemaPayload` a
JSON Schema, for definitions of which only the row is known.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

from windlass.core.definitions.signature import Signature, check_parameters, read_signature
from windlass.core.payloads.json_text import DEEPEST, PAYLOAD_LIMIT, dump_json, load_json
from windlass.core.payloads.result import RESULT_LIMIT, encode_anything, encode_result
from windlass.core.payloads.schema_payload import JsonSchemaPayload
from windlass.errors import FieldError, PayloadInvalid
from windlass.errors.wording import counted, json_pointer

if TYPE_CHECKING:
    from windlass.core.payloads.typed_payload import TypedPayload

#: A definition whose payload has no defaults.
NO_DEFAULTS: Mapping[str, object] = {}

__all__ = [
    "DEEPEST",
    "PAYLOAD_LIMIT",
    "RESULT_LIMIT",
    "HandlerPayload",
    "JsonSchemaPayload",
    "Payload",
    "PayloadModel",
    "dump_json",
    "encode_anything",
    "encode_result",
    "load_json",
]


class Payload(Protocol):
    """Payload of a definition's jobs: checks and encodes it."""

    @property
    def schema(self) -> Mapping[str, Any]:
        """The JSON Schema of the payload, which is always an object."""

    def encode(
        self,
        args: Sequence[object],
        kwargs: Mapping[str, object],
        defaults: Mapping[str, object] = NO_DEFAULTS,
    ) -> str:
        """JSON text to store, of arguments as the handler takes them; `defaults` fill in what is
        not given, by the payload's names.

        Raises PayloadInvalid with the fields at fault, PayloadUnstorable or PayloadTooLarge.
        """

    def write(self, values: Mapping[str, object]) -> str:
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

    def encode(
        self,
        args: Sequence[object],
        kwargs: Mapping[str, object],
        defaults: Mapping[str, object] = NO_DEFAULTS,
    ) -> str:
        """JSON text of the arguments: the signature's own defaults are not added.

        Numbers and truth values must be such; a date or a UUID may also be given as its text.
        """
        given = self._bound(args, kwargs) if args or self._aliases else kwargs
        return self._typed.encode({**defaults, **given} if defaults else given)

    def write(self, values: Mapping[str, object]) -> str:
        """JSON text of a payload by its own names, which are the aliases where there are some."""
        return self._typed.encode(values)

    def decode(self, text: str) -> dict[str, Any]:
        """Typed keyword arguments; PayloadInvalid if the signature has changed too much since."""
        return self._typed.decode(text)

    @cached_property
    def _typed(self) -> "TypedPayload":
        from windlass.core.payloads.typed_payload import TypedPayload

        return TypedPayload(self.signature, self._definition, self._limit)

    @cached_property
    def _aliases(self) -> Mapping[str, str]:
        """The payload's names of the parameters that are called otherwise."""
        fields = self.signature.fields
        return {field.name: field.alias for field in fields if field.alias != field.name}

    def _bound(self, args: Sequence[object], kwargs: Mapping[str, object]) -> dict[str, object]:
        kwargs = {self._aliases.get(name, name): value for name, value in kwargs.items()}
        names = [field.alias for field in self.signature.fields if not field.by_name_only]
        problem = None
        if len(args) > len(names):
            problem = FieldError("", f"it takes {counted(len(names), 'value')} by position at most")
        elif twice := kwargs.keys() & set(names[: len(args)]):
            problem = FieldError(json_pointer([min(twice)]), "given twice")
        if problem:
            raise PayloadInvalid(self._definition, [problem])
        return {**dict(zip(names, args, strict=False)), **kwargs}
