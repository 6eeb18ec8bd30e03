"""A payload that follows type hints, by pydantic. Imported when first needed: it is not light."""

import types
import typing
from collections import abc
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, NewType, Union

from pydantic import (
    BaseModel,
    ConfigDict,
    PlainSerializer,
    PydanticUserError,
    SecretBytes,
    SecretStr,
    Strict,
    TypeAdapter,
    ValidationError,
    create_model,
)
from pydantic import Field as ModelField
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from windlass.core.definitions.signature import REQUIRED, Signature
from windlass.core.payloads.encrypted_fields import SEALED, refuse_reserved
from windlass.core.payloads.field_errors import Path, by_types, path_in
from windlass.core.payloads.json_text import (
    check_size,
    check_storable,
    dump_json,
    find_unstorable,
    load_object,
)
from windlass.errors import DefinitionInvalid, FieldError, PayloadInvalid, PayloadUnstorable
from windlass.errors.wording import counted, json_pointer, shorten

# A parameter may be called `json` or `_x`, a model's field may not.
_PREFIX = "arg_"
#: What pydantic writes for a SecretStr.
_ASTERISKS = '"**********"'


class TypedPayload:
    """Validates, writes and reads the payload of one handler."""

    __slots__ = ("_aliases", "_by_position", "_definition", "_limit", "_names", "_nested",
                 "_secrets", "_serializer", "_validator", "schema")  # fmt: skip

    def __init__(self, signature: Signature, definition: str, limit: int) -> None:
        model = _model(signature, definition)
        self.schema = _schema(model, signature, definition)
        self._definition = definition
        self._limit = limit
        fields = signature.fields
        self._names = {_PREFIX + field.name: field.name for field in fields}
        #: The payload's names of the parameters that are called otherwise.
        self._aliases = {field.name: field.alias for field in fields if field.alias != field.name}
        self._by_position = [field.alias for field in fields if not field.by_name_only]
        self._validator = model.__pydantic_validator__
        self._serializer = model.__pydantic_serializer__
        # Models and dataclasses within the payload bring their own ways of being written.
        self._nested = "$defs" in self.schema
        self._secrets = self._nested and "writeOnly" in str(self.schema["$defs"])

    def encode(
        self,
        args: Sequence[object],
        kwargs: Mapping[str, object],
        defaults: Mapping[str, object] | None = None,
    ) -> str:
        """JSON text of the arguments: the signature's own defaults are not added, because code that
        runs later has its own.

        Numbers and truth values must be such; a date or a UUID may also be given as its text.
        """
        given = self._bound(args, kwargs) if args or self._aliases else kwargs
        return self.write(given, defaults)

    def write(
        self, given: Mapping[str, object], defaults: Mapping[str, object] | None = None
    ) -> str:
        """JSON text of a payload by its own names, which are the aliases where there are some."""
        values = {**(defaults or {}), **given}
        try:
            model = self._validator.validate_python(values)
        except ValidationError as error:
            raise self._invalid(error, values) from None
        try:
            text = self._written_with_care(model) if self._nested else self._written(model)
        except ValueError as error:
            pointer, problem = find_unstorable(values) or ("", f"cannot be written: {error}")
            raise PayloadUnstorable(problem, pointer=pointer) from None
        check_size(text, self._definition, self._limit)
        if SEALED in text:
            refuse_reserved(text, self._definition)
        return text

    def decode(self, text: str) -> dict[str, Any]:
        """Typed keyword arguments; PayloadInvalid if the signature has changed too much since. What is
        not stored is left to the handler's defaults."""
        try:
            model = self._validator.validate_json(text)
        except ValidationError as error:
            model = self._decoded_with_whole_numbers(text, error)
        return self._arguments(model)

    def _bound(self, args: Sequence[object], kwargs: Mapping[str, object]) -> dict[str, object]:
        """Arguments by the payload's names."""
        kwargs = {self._aliases.get(name, name): value for name, value in kwargs.items()}
        names = self._by_position
        problem = None
        if len(args) > len(names):
            problem = FieldError("", f"it takes {counted(len(names), 'value')} by position at most")
        elif twice := kwargs.keys() & set(names[: len(args)]):
            problem = FieldError(json_pointer([min(twice)]), "given twice")
        if problem:
            raise PayloadInvalid(self._definition, [problem])
        return {**dict(zip(names, args, strict=False)), **kwargs}

    def _arguments(self, model: Any) -> dict[str, Any]:
        given, values = model.__pydantic_fields_set__, model.__dict__
        made = {name: values[field] for field, name in self._names.items() if field in given}
        return {**made, **(model.__pydantic_extra__ or {})}

    def _written(self, model: Any) -> str:
        # Nothing can warn here: plain values were validated a moment ago.
        text: str = self._serializer.to_json(
            model, by_alias=True, include=model.__pydantic_fields_set__, warnings=False
        ).decode()
        check_storable(text)
        if "\ufffd" in text and self._arguments(self._validator.validate_json(text)) != (
            self._arguments(model)
        ):
            # pydantic replaces halves of surrogate pairs in the keys of a dict, and never tells.
            pointer, problem = find_unstorable(self._arguments(model)) or ("", "was changed")
            raise PayloadUnstorable(problem, pointer=pointer)
        return text

    def _written_with_care(self, model: Any) -> str:
        # Not straight to text: a model within might write NaN as null and never tell.
        text = dump_json(
            self._serializer.to_python(
                model,
                mode="json",
                by_alias=True,
                include=model.__pydantic_fields_set__,
                warnings="error",
            )
        )
        if self._secrets and _ASTERISKS in text:
            raise PayloadUnstorable(
                "has a SecretStr inside a model, of which pydantic writes only asterisks; "
                "use `str` with `writeOnly` in the field's schema there"
            )
        try:
            self._validator.validate_json(text)
        except ValidationError as error:
            problem = shorten(str(error.errors()[0]["msg"]))
            raise PayloadUnstorable(f"could not be read back: {problem}") from None
        return text

    def _decoded_with_whole_numbers(self, text: str, error: ValidationError) -> Any:
        # JSON Schema takes 3.0 for a whole number, and so may a payload that came by that way.
        value = load_object(text, self._definition)
        for found in error.errors(include_url=False):
            if found["type"] == "int_type" and isinstance(found["input"], float):
                _make_whole(value, path_in(value, found["loc"]))
        try:
            return self._validator.validate_json(dump_json(value))
        except ValidationError as remaining:
            raise self._invalid(remaining, value) from None

    def _invalid(self, error: ValidationError, value: Mapping[str, Any]) -> PayloadInvalid:
        errors = by_types(error.errors(include_url=False, include_input=False), value, self.schema)
        return PayloadInvalid(self._definition, errors)


def _model(signature: Signature, definition: str) -> type[BaseModel]:
    config = ConfigDict(
        extra="forbid" if signature.others is REQUIRED else "allow",
        protected_namespaces=(),
        revalidate_instances="always",
        ser_json_bytes="base64",
        val_json_bytes="base64",
        ser_json_inf_nan="constants",
    )
    fields: dict[str, Any] = {
        _PREFIX + field.name: (strict(field.annotation), _field(field.alias, field.default))
        for field in signature.fields
    }
    body: dict[str, Any] = {"model_config": config, "__module__": __name__}
    if signature.others is not REQUIRED:
        others = types.GenericAlias(dict, (str, strict(signature.others)))
        body["__annotations__"] = {"__pydantic_extra__": others}
    try:
        base = type("Payload", (BaseModel,), body)
        return create_model("Payload", __base__=base, __module__=__name__, **fields)
    except (PydanticUserError, TypeError, RecursionError) as error:
        raise _unusable(signature, definition, error) from None


def _field(alias: str, default: Any) -> Any:
    return (
        ModelField(alias=alias) if default is REQUIRED else ModelField(alias=alias, default=default)
    )


def strict(annotation: Any) -> Any:
    """`annotation` with numbers and truth values taken as they are: "3" and True are no integers.

    Only these, and not inside of models: elsewhere text has to do, because JSON has no dates.
    Secrets are written as what they are, not as asterisks.
    """
    if annotation in (int, float, bool):
        return Annotated[annotation, Strict()]
    if annotation in (SecretStr, SecretBytes):
        return Annotated[annotation, PlainSerializer(_revealed, when_used="json")]
    if isinstance(annotation, NewType):
        return strict(annotation.__supertype__)
    origin, args = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is Annotated:
        return Annotated[strict(args[0]), *annotation.__metadata__]
    if origin in (Union, types.UnionType):
        return Union[tuple(map(strict, args))]  # noqa: UP007  there is no other way to make one
    if origin in _CONTAINERS:
        return origin[tuple(map(strict, args))]
    return annotation


_CONTAINERS = (
    list, set, frozenset, tuple, dict, abc.Sequence, abc.MutableSequence, abc.Set, abc.MutableSet,
    abc.Mapping, abc.MutableMapping, abc.Iterable, abc.Collection,
)  # fmt: skip


def _revealed(secret: SecretStr | SecretBytes) -> str | bytes:
    return secret.get_secret_value()


class _Generator(GenerateJsonSchema):
    # A default that is no JSON is left out of the schema, which is no reason to warn.
    ignored_warning_kinds: set[Any] = {"skipped-choice", "non-serializable-default"}  # noqa: RUF012  as declared there

    def decimal_schema(self, schema: core_schema.DecimalSchema) -> JsonSchemaValue:
        # Some versions of pydantic add a pattern with look-ahead, which takes more than linear time.
        made = super().decimal_schema(schema)
        for part in made.get("anyOf", []):
            part.pop("pattern", None)
        return made


def _schema(model: type[BaseModel], signature: Signature, definition: str) -> dict[str, Any]:
    try:
        schema = model.model_json_schema(schema_generator=_Generator)
    except (PydanticUserError, TypeError, RecursionError) as error:
        raise _unusable(signature, definition, error) from None
    # The definition has a title of its own.
    schema.pop("title", None)
    return schema


def _unusable(signature: Signature, definition: str, error: Exception) -> DefinitionInvalid:
    problem = _first_sentence(error)
    for field in signature.fields:
        try:
            TypeAdapter(field.annotation).json_schema(schema_generator=_Generator)
        except Exception as found:  # noqa: BLE001  whatever is wrong with a type, name its parameter
            problem = f"`{field.name}`: {_first_sentence(found)}"
            break
    return DefinitionInvalid(
        definition,
        f"its payload cannot be described; {problem}",
        hint="Use types that JSON can hold: numbers, text, dates, lists, dataclasses, models.",
    )


def _first_sentence(error: Exception) -> str:
    return shorten(str(error)).partition(". ")[0]


def _make_whole(value: Any, path: Path) -> None:
    for step in path[:-1]:
        value = value[step]
    number = value[path[-1]]
    if isinstance(number, float) and number.is_integer():
        value[path[-1]] = int(number)
